"""Attention of stacked heads, computed for one block of query rows at a time.

The whole matrix of scores is never stored.
"""

ctypedef enum Masking:
    NO_MASK
    BOOL_KEEP_MASK                     # bool mask: True keeps the score
    BOOL_HIDE_MASK                     # bool mask: True hides the score
    ADDITIVE_MASK                      # float mask, which is added to the scores

# Return softmax(q @ k.mT * scale + mask) @ v as a new C-contiguous array, or None if the shapes do not match.
# The operands are float32, float64, or bfloat16 if `has_bfloat16_tiles` returns True, and have at least two dimensions.
# A mask for bfloat16 operands is bool or float32. The leading dimensions of the operands broadcast. For a
# query whose keys are all masked, the result is 0, or NaN with BOOL_HIDE_MASK.
cdef object compute_attention(object q, object k, object v, object mask, Masking masking, bint causal, double scale)
