"""Batching rules of operators, one file per operator family.

`batch("mm", rule)` declares that `rule(call)` computes `mm` for a batch. In the result of a rule, dimension 0
is the batch.

Pointwise operators, and operators that are decomposed, need no rule. Any other operator without a rule runs
once per batch element, with a warning.
"""
