"""Derivatives of the operators, a module for each family of records: rows of scriptable text.

    derive("aten::tanh", self="grad * (1 - result * result).conj()", result=ELEMENTWISE)

`rows` has what a row says and finds the one of an operator; `formulas` compiles it.
"""
