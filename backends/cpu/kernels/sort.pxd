"""Items that are sorted by their keys, with the places that they come from."""

from libc.stdint cimport int64_t

cdef struct Item:
    int64_t key
    int64_t place

# Memory for items; whoever asks gives it back with `free`.
cdef Item *room(Py_ssize_t n) except NULL
cdef void sort(Item *first, Item *last) noexcept nogil
# The k smallest to the front, in order unless `ordered` is False; k is 1 at least.
cdef void select_smallest(Item *items, Py_ssize_t n, Py_ssize_t k, bint ordered) noexcept nogil
# The place of the k-th item, from 0; the items end in another order.
cdef Py_ssize_t quickselect(Item *a, Py_ssize_t n, Py_ssize_t k) noexcept nogil
