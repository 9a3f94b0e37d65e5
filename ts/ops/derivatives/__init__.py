"""Derivatives of operators, written in the script language, in one module per operator family.

For example, this line declares the derivative of `tanh`:

    derive("aten::tanh", self="grad * (1 - result * result).conj()", result=ELEMENTWISE)

The module `formula_registry` documents these declarations.
"""
