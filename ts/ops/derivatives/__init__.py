"""Derivatives of operators, written in the script language, in one module per operator family.

    derive("aten::tanh", self="grad * (1 - result * result).conj()", result=ELEMENTWISE)

`formula_registry` declares and looks up derivatives. `formulas` compiles them.
"""
