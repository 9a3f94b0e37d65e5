"""Kinds of the items of a subscript, and their effect on dimensions (`subscripts.pyx`)."""

cdef extern from "Python.h":
    bint PyLong_CheckExact(object)


# Kind of an item. The kind of an index tensor that selects from n dimensions is TENSOR + n.
cpdef enum:
    OTHER = -1      # no basic item: the caller determines the kind
    INTEGER = 0     # consumes one dimension
    SLICE = 1       # consumes one dimension, and adds one to the view
    NEW_DIM = 2     # None: adds one dimension
    ELLIPSIS = 3    # consumes and adds all dimensions that no other item consumes
    BOOL_ITEM = 4   # adds one dimension, from which an index tensor of one or no element selects
    TENSOR = 5


cdef inline int kind_of_basic(object item) noexcept:
    """Return the kind of an int, slice, bool, None or `...`, else OTHER."""
    if PyLong_CheckExact(item):
        return INTEGER
    if type(item) is slice:
        return SLICE
    if item is None:
        return NEW_DIM
    if item is Ellipsis:
        return ELLIPSIS
    return BOOL_ITEM if item is True or item is False else OTHER


cdef inline int consumed_dims(int kind) noexcept:
    """Return the number of dimensions that an item of a subscript consumes. An ellipsis counts as 0 dimensions."""
    return kind - TENSOR if kind >= TENSOR else kind <= SLICE


cdef inline int added_dims(int kind) noexcept:
    """Return the number of dimensions that the item adds to the view.

    Index tensors are applied to this view later.
    """
    return kind - TENSOR if kind >= TENSOR else kind != INTEGER and kind != ELLIPSIS
