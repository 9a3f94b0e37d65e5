"""What PyTorch has and `ts` does not: modules and names that import, and raise when they are used.

    import ts.onnx                          works; what is in it may be inherited from, and be an annotation
    ts.onnx.export(model, x, "m.onnx")      NotImplementedError: what is missing, and what to do instead

`api.txt` records the names of PyTorch's modules; `placeholders` makes objects of those that `ts` does not
have.
Every module of `ts` with the name of a module of PyTorch asks here for a name that it does not have
(`ts.import_hook`), and modules that are recorded and have no file are made here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


def spec_of(module: str) -> ModuleSpec | None:
    """Return how to import a module that has no file (`ts.onnx`); None if PyTorch has none such."""
    from ts.absent import placeholders

    return placeholders.spec_of(module)


def find(name: str) -> Any:
    """Return what stands for a name of `torch` that `ts` does not have; None if PyTorch has none such."""
    from ts.absent import placeholders

    try:
        return placeholders.attribute("ts", name)
    except AttributeError:
        return None


def names_for(module: str, own: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module: its own function, its files, what stands for PyTorch's names."""

    def __getattr__(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError as error:
                if getattr(error, "name", None) != name and f"'{name}'" not in str(error):
                    raise  # of something else
                missing = error
        else:
            missing = AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        if name.startswith("__") and name != "__all__":
            raise missing
        file = _file_inside(module, name)  # `from package import module` asks for an attribute first
        if file is not None:
            return file
        from ts.absent import api, placeholders

        if own is not None and name not in api.entries(module.removeprefix("ts").removeprefix(".")):
            raise missing
        return placeholders.attribute(module, name)

    return __getattr__


def _file_inside(module: str, name: str) -> ModuleType | None:
    """Return the module that is a file in a package, imported; None if there is no such file."""
    places = vars(sys.modules[module]).get("__path__")
    if not places or PathFinder.find_spec(f"{module}.{name}", places) is None:
        return None
    return import_module(f"{module}.{name}")


def absent_operator(name: str) -> Any:
    """Return what stands for an operator that only PyTorch has, by its name without `aten::`; or None."""
    from ts.absent import operators, placeholders

    return placeholders.placeholder(f"ops.aten.{name}") if name in operators.OPERATORS else None
