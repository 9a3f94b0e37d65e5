"""Introsort (quicksort, heapsort, insertion sort) of items by key, with their original indices."""

from libc.stdint cimport int64_t

cdef enum:
    HEAP_SELECT_RATIO = 64  # Heap selection is used if at most one of this many elements is to be selected.

cdef struct Item:
    int64_t key
    int64_t index

# Allocate memory for `n` items. The caller releases it with `free`.
cdef Item *allocate_items(Py_ssize_t n) except NULL
cdef void sort(Item *first, Item *last) noexcept nogil
# Move the `k` >= 1 smallest items to the front. If `ordered`, also sort these `k` items.
cdef void select_smallest(Item *items, Py_ssize_t n, Py_ssize_t k, bint ordered) noexcept nogil
# Return the original index of the k-th smallest item, counted from 0. The items are reordered.
cdef Py_ssize_t quickselect(Item *a, Py_ssize_t n, Py_ssize_t k) noexcept nogil
