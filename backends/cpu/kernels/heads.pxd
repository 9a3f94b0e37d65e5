"""Attention of stacks of heads, some rows at a time."""

ctypedef enum Masking:
    NOTHING
    KEEPS                              # bools: True is looked at
    HIDES                              # bools: True is not
    ADDS                               # floats

# softmax(q @ k.mT * scale + mask) @ v as a new array in order, or None where the shapes do not fit: floats or doubles, of two
# dimensions or more, stacks that broadcast.  A row that looks at nothing gives 0, but for what HIDES.
cdef object attended(object q, object k, object v, object mask, Masking masking, bint causal, double scale)
