"""Batching rules of operators, one file per operator family.

batch("aten::softmax.int aten::cumsum", along("dim"))       the operator, with `dim` shifted past the batch
batch("aten::mm", ROW)                                      ROW(call) returns the result, with the batch first

Pointwise and decomposed operators need no rule.  Other operators without a rule run once per batch element,
with a warning.
"""
