"""Batching rules of operators, one file per operator family.

`batch("mm", rule)` declares that `rule(call)` computes `mm` for a batch. The rule returns the result, with
the batch as dimension 0.

Pointwise operators, and operators that are decomposed, need no rule. Any other operator without a rule runs
once per batch element, with a warning.
"""
