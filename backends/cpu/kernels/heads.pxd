"""Attention of stacked heads, a block of query rows at a time, without materializing the scores."""

ctypedef enum Masking:
    NO_MASK
    BOOL_KEEP_MASK                     # bools: True takes part
    BOOL_HIDE_MASK                     # bools: True is masked out
    ADDITIVE_MASK                      # floats that are added to the scores

# Return softmax(q @ k.mT * scale + mask) @ v as a new C-contiguous array, or None if the shapes do not match.
# Operands are floating, have two dimensions or more, and broadcast. A fully masked row gives 0, except with
# BOOL_HIDE_MASK.
cdef object compute_attention(object q, object k, object v, object mask, Masking masking, bint causal, double scale)
