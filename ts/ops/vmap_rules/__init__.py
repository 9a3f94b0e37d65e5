"""Batching rules of operators, one file per operator family.

batch("softmax.int cumsum", along_dims("dim"))   runs the operator with `dim` + 1 (dimension 0: batch)
batch("mm", rule)                             rule(call) returns the result, with the batch as dimension 0

Pointwise operators, and operators that are decomposed, need no rule. If any other operator has no rule, it
runs once per batch element, with a warning.
"""
