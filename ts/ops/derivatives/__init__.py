"""Derivatives of operators as scriptable text, one module per operator family.

    derive("aten::tanh", self="grad * (1 - result * result).conj()", result=ELEMENTWISE)

`formula_registry` declares and looks up derivatives; `formulas` compiles them.
"""
