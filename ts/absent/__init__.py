"""What PyTorch has and `ts` has not: modules and names that import, and refuse when they are used.

    import ts.onnx                          fine; what is in it may be inherited from, and be an annotation
    ts.onnx.export(model, x, "m.onnx")      NotImplementedError: what is missing, and what to do instead

Programs mention far more of PyTorch than they use.  `names` and `areas` are the table that says what is
there; `placeholders` makes modules and names of it.  A module that is partly there asks for the rest of its
names by `__getattr__ = names_for(__name__)`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any


def spec_of(module: str) -> ModuleSpec | None:
    """How to import a module that is absent, by its name (`ts.onnx`); None where PyTorch has none such."""
    from ts.absent import placeholders

    return placeholders.spec_of(module)


def find(name: str) -> Any:
    """A module or object that PyTorch has at its top and `ts` has not; None where it has none such."""
    from ts.absent import placeholders

    try:
        return placeholders.attribute("ts", name)
    except AttributeError:
        return None


def names_for(module: str) -> Callable[[str], Any]:
    """A module's `__getattr__`: placeholders for what PyTorch's has, AttributeError for other names."""

    def __getattr__(name: str) -> Any:
        from ts.absent import placeholders

        return placeholders.attribute(module, name)

    return __getattr__


def absent_operator(name: str) -> Any:
    """What stands for an operator that only PyTorch has, by its name without `aten::`; or None."""
    from ts.absent import operators, placeholders

    return placeholders.placeholder(f"ops.aten.{name}") if name in operators.OPERATORS else None
