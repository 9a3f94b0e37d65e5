"""Parser of tensor subscripts with slices, newaxis, ellipsis and boolean masks: a list of steps.

Input: a subscript. Output: one step (kind, dim, axis, item) for each item.

A step applies to dimension `dim` of the view that the previous steps compute. This is dimension `axis` of the
tensor. The item of an ellipsis is the number of dimensions that it selects. If a subscript has no ellipsis, a
step with an ellipsis is appended. Example for a tensor with four dimensions:

    parse_subscript((0, None, ..., slice(1, 2)), 4, kind_of)
    [(INTEGER, 0, 0, 0), (NEW_DIM, 0, 1, None), (ELLIPSIS, 1, 1, 2), (SLICE, 3, 3, slice(1, 2))]

As in PyTorch, several ellipses of a subscript select the same number of dimensions each. Later steps may then
have dimensions that do not exist.
"""


def parse_subscript(items, ndim, kind_of):
    """Return the steps (kind, dim, axis, item) of a subscript.

    items       tuple or list of the items
    ndim        number of dimensions of the tensor. If it is None, the number is unknown, and dimensions after
                an ellipsis are negative
    kind_of     function that returns the kind of an item which is not an int, slice, bool, None or `...`

    Raise IndexError for too many items, and TypeError if `items` is no tuple or list.
    """
    cdef int consumed = 0, dim = 0, axis = 0, kind, rank
    cdef bint after_ellipsis = False
    cdef list kinds = [], steps = []
    if not isinstance(items, (tuple, list)):  # rows of a large tensor would exhaust the memory
        raise TypeError(f"expected a tuple or list of the items of a subscript, got {type(items).__name__}")
    for item in items:
        kind = kind_of_basic(item)
        if kind == OTHER:
            kind = kind_of(item)
        kinds.append(kind)
        consumed += consumed_dims(kind)
    rank = consumed if ndim is None else ndim
    if consumed > rank:
        raise IndexError(f"too many indices for tensor of dimension {rank}")
    for kind, item in zip(kinds, items):
        if kind == ELLIPSIS:
            item = rank - consumed
            after_ellipsis = True
        if after_ellipsis and ndim is None:
            dim = axis - rank - (consumed_dims(kind) == 0)
        steps.append((kind, dim, axis, item))
        if kind == ELLIPSIS:
            dim += item
            axis += item
        dim += added_dims(kind)
        axis += consumed_dims(kind)
    if not after_ellipsis:
        steps.append((ELLIPSIS, dim, axis, rank - consumed))
    return steps
