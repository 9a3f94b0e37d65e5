"""Derivatives of operators, written as text in the script language; one module per operator family.

    derive("aten::tanh", self="grad * (1 - result * result).conj()", result=ELEMENTWISE)

`formula_registry` declares and looks up derivatives; `formulas` compiles them.
"""
