"""Batching rules of operators, one file per operator family.

batch("softmax.int cumsum", along_dims("dim"))   runs the operator with `dim` + 1 (dimension 0: batch)
batch("mm", rule)                             rule(call) returns the result, with the batch as dimension 0

Pointwise and decomposed operators need no rule.  Other operators without a rule run once per batch element,
with a warning.
"""
