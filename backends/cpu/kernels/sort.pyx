"""Sorting (introsort) and selection (quickselect, heap selection) with PyTorch's order of equal elements.

Input: rows of int64 keys with the order of the elements. Output: the indices of each row's elements in sorted
order.

The algorithms are those of the C++ standard library (libstdc++), which determine PyTorch's order of equal
elements. The functions are:

    argsort(keys)                all elements of a row, ascending
    smallest(keys, k, True)      the k smallest, sorted (with False, in any order)
    nth(keys, k)                 for each row the k-th smallest, counted from 0
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

import numpy as np

cdef Py_ssize_t INSERTION_SORT_LENGTH = 16  # maximal length of ranges that insertion sort sorts instead of quicksort


cdef inline void swap(Item *a, Item *b) noexcept nogil:
    cdef Item swapped = a[0]
    a[0] = b[0]
    b[0] = swapped


# ---------------------------------------------------------------- heaps

cdef void sift(Item *first, Py_ssize_t hole, Py_ssize_t length, Item value) noexcept nogil:
    """Insert `value` into a heap of `length` items at or below the free position `hole`.

    The larger child moves up until the free position is a leaf. Then `value` moves up from there to its
    place.
    """
    cdef Py_ssize_t top = hole, child = hole, parent
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if first[child].key < first[child - 1].key:
            child -= 1
        first[hole] = first[child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * (child + 1)
        first[hole] = first[child - 1]
        hole = child - 1
    while hole > top:
        parent = (hole - 1) // 2
        if not first[parent].key < value.key:
            break
        first[hole] = first[parent]
        hole = parent
    first[hole] = value


cdef void heap_select(Item *first, Item *middle, Item *last) noexcept nogil:
    """Move the smallest items of [first, last) to [first, middle), where they form a max-heap."""
    cdef Py_ssize_t length = middle - first, parent
    cdef Item value
    if length >= 2:
        parent = (length - 2) // 2
        while True:
            sift(first, parent, length, first[parent])
            if parent == 0:
                break
            parent -= 1
    cdef Item *at = middle
    while at < last:
        if at[0].key < first[0].key:
            value = at[0]
            at[0] = first[0]
            sift(first, 0, length, value)
        at += 1


cdef void sort_heap(Item *first, Item *last) noexcept nogil:
    cdef Item value
    while last - first > 1:
        last -= 1
        value = last[0]
        last[0] = first[0]
        sift(first, 0, last - first, value)


# ---------------------------------------------------------------- quicksort

cdef Item *partition(Item *first, Item *last) noexcept nogil:
    """Partition [first, last) around the median of three items. Return the start of the upper partition."""
    cdef Item *a = first + 1
    cdef Item *b = first + (last - first) // 2
    cdef Item *c = last - 1
    if a.key < b.key:
        swap(first, b if b.key < c.key else c if a.key < c.key else a)
    else:
        swap(first, a if a.key < c.key else c if b.key < c.key else b)
    cdef int64_t pivot = first.key
    cdef Item *low = first + 1
    cdef Item *high = last
    while True:
        while low.key < pivot:
            low += 1
        high -= 1
        while pivot < high.key:
            high -= 1
        if not low < high:
            return low
        swap(low, high)
        low += 1


cdef void insert_from(Item *first, Item *at, Item *last) noexcept nogil:
    """Insertion sort: insert the items [at, last) into the sorted items [first, at)."""
    cdef Item value
    cdef Item *hole
    while at < last:
        value = at[0]
        hole = at
        while hole > first and value.key < hole[-1].key:
            hole[0] = hole[-1]
            hole -= 1
        hole[0] = value
        at += 1


cdef int depth_limit(Py_ssize_t n) noexcept nogil:
    cdef int bits = 0
    while n > 1:
        n >>= 1
        bits += 1
    return 2 * bits


cdef void quicksort(Item *first, Item *last, int depth) noexcept nogil:
    """Sort [first, last), except for the order inside ranges of at most INSERTION_SORT_LENGTH items.

    The caller then sorts these ranges by insertion sort.
    """
    cdef Item *cut
    while last - first > INSERTION_SORT_LENGTH:
        if depth == 0:
            heap_select(first, last, last)
            sort_heap(first, last)
            return
        depth -= 1
        cut = partition(first, last)
        quicksort(cut, last, depth)
        last = cut


cdef void sort(Item *first, Item *last) noexcept nogil:
    if last - first > 1:
        quicksort(first, last, depth_limit(last - first))
        insert_from(first, first + 1, last)


cdef void select(Item *first, Item *nth, Item *last) noexcept nogil:
    """Partition [first, last) so that position `nth` has the item that sorting would place there (nth_element)."""
    cdef int depth = depth_limit(last - first)
    cdef Item *cut
    if first == last or nth == last:
        return
    while last - first > 3:
        if depth == 0:
            heap_select(first, nth + 1, last)
            swap(first, nth)
            return
        depth -= 1
        cut = partition(first, last)
        if cut <= nth:
            first = cut
        else:
            last = cut
    insert_from(first, first + 1, last)


cdef void select_smallest(Item *items, Py_ssize_t n, Py_ssize_t k, bint ordered) noexcept nogil:
    if k * HEAP_SELECT_RATIO <= n:
        heap_select(items, items + k, items + n)
        sort_heap(items, items + k)
        return
    select(items, items + k - 1, items + n)
    if ordered:
        sort(items, items + k - 1)


cdef Py_ssize_t quickselect(Item *a, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """Return the original index of the k-th smallest item, counted from 0, by quickselect.

    The pivot is the median of three items.
    """
    cdef Py_ssize_t low = 0, high = n - 1, i, j
    cdef Item pivot
    while low < high:
        if high == low + 1:
            if a[low].key > a[high].key:
                swap(&a[low], &a[high])
            break
        swap(&a[low + (high - low) // 2], &a[low + 1])
        if a[low + 1].key > a[high].key:
            swap(&a[low + 1], &a[high])
        if a[low].key > a[high].key:
            swap(&a[low], &a[high])
        if a[low + 1].key > a[low].key:
            swap(&a[low + 1], &a[low])
        i, j = low + 1, high
        pivot = a[low]
        while True:
            i += 1
            while pivot.key > a[i].key:
                i += 1
            j -= 1
            while a[j].key > pivot.key:
                j -= 1
            if j < i:
                break
            swap(&a[i], &a[j])
        swap(&a[low], &a[j])
        if j <= k:
            low = i
        if j >= k:
            high = j - 1
    return a[k].index


# ---------------------------------------------------------------- functions for Python

cdef Item *allocate_items(Py_ssize_t n) except NULL:
    cdef Item *items = <Item *>malloc(max(n, 1) * sizeof(Item))
    if items == NULL:
        raise MemoryError()
    return items


cdef inline void fill(Item *items, const int64_t *keys, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        items[i].key = keys[i]
        items[i].index = i


def argsort(const int64_t[:, ::1] keys not None):
    """Return the indices that sort each row of keys."""
    cdef Py_ssize_t rows = keys.shape[0], n = keys.shape[1], row, i
    result = np.empty((rows, n), np.int64)
    cdef int64_t[:, ::1] out = result
    if rows == 0 or n == 0:
        return result
    cdef Item *items = allocate_items(n)
    with nogil:
        for row in range(rows):
            fill(items, &keys[row, 0], n)
            sort(items, items + n)
            for i in range(n):
                out[row, i] = items[i].index
    free(items)
    return result


def smallest(const int64_t[:, ::1] keys not None, Py_ssize_t k, bint ordered=True):
    """Return the indices of the k smallest keys of each row, in ascending order of the keys if `ordered`."""
    cdef Py_ssize_t rows = keys.shape[0], n = keys.shape[1], row, i
    if not 0 <= k <= n:
        raise ValueError(f"smallest: k must be in [0, {n}], got {k}")
    result = np.empty((rows, k), np.int64)
    cdef int64_t[:, ::1] out = result
    if rows == 0 or k == 0:
        return result
    cdef Item *items = allocate_items(n)
    with nogil:
        for row in range(rows):
            fill(items, &keys[row, 0], n)
            select_smallest(items, n, k, ordered)
            for i in range(k):
                out[row, i] = items[i].index
    free(items)
    return result


def nth(const int64_t[:, ::1] keys not None, const int64_t[::1] k not None):
    """Return the index of the k[row]-th smallest key of each row, counted from 0."""
    cdef Py_ssize_t rows = keys.shape[0], n = keys.shape[1], row
    result = np.empty(rows, np.int64)
    cdef int64_t[::1] out = result
    if k.shape[0] != rows:
        raise ValueError(f"nth: expected one k per row, got {k.shape[0]} for {rows} rows")
    for row in range(rows):
        if not 0 <= k[row] < n:
            raise ValueError(f"nth: k must be in [0, {n}), got {k[row]}")
    if rows == 0:
        return result
    cdef Item *items = allocate_items(n)
    with nogil:
        for row in range(rows):
            fill(items, &keys[row, 0], n)
            out[row] = quickselect(items, n, k[row])
    free(items)
    return result
