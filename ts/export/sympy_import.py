"""Import of SymPy, which computes with symbolic sizes.

Other modules import SymPy's names from this module. If SymPy is not installed, the error names the extra:

    from ts.export.sympy_import import sympy
"""

from __future__ import annotations

from ts.errors import MissingSympyError

try:
    import sympy
    from sympy.logic.boolalg import Boolean
    from sympy.ntheory.modular import solve_congruence
    from sympy.printing.precedence import PRECEDENCE, precedence
except ImportError as error:
    raise MissingSympyError(
        "SymPy is not installed. It is needed to export programs, to decompose them, and to load "
        "programs with symbolic sizes: pip install 'torchscript-ts[export]'"
    ) from error

__all__ = ["PRECEDENCE", "Boolean", "precedence", "solve_congruence", "sympy"]
