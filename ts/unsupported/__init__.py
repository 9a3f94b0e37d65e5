"""Placeholders for PyTorch modules and names that `ts` lacks. They raise an error only when used.

The first line works, and classes of the module can be base classes and annotations. The second line raises
NotImplementedError with a message that names an alternative:

    import ts.onnx
    ts.onnx.export(model, x, "m.onnx")

`api.txt` contains the names of PyTorch's modules. `placeholders` creates an object for each name that `ts`
lacks. `ts.import_hook` calls `names_for` for a name that a file of `ts` lacks. It calls `spec_of` for a
module without a file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


def spec_of(module: str) -> ModuleSpec | None:
    """Return the import spec of a PyTorch module without a file in `ts`, or None for other modules."""
    from ts.unsupported import placeholders

    return placeholders.spec_of(module)


def find(name: str) -> Any:
    """Return the placeholder for a top-level name of `torch`, or None if PyTorch has no such name."""
    from ts.unsupported import placeholders

    try:
        return placeholders.attribute("ts", name)
    except AttributeError:
        return None


def names_for(module: str, module_getattr: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """Return a `__getattr__` for `module`.

    It looks a name up by `module_getattr`, then in submodules, then in placeholders.
    """

    def __getattr__(name: str) -> Any:
        if name == "__path__":  # each `import` statement in a function asks for `__path__`
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        if module_getattr is not None:
            try:
                return module_getattr(name)
            except AttributeError as error:
                if getattr(error, "name", None) != name and f"'{name}'" not in str(error):
                    raise  # `module_getattr` failed to read another attribute
                missing = error
        else:
            missing = AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        if name.startswith("__") and name != "__all__":
            raise missing
        # The statement `from package import submodule` first accesses the attribute, and imports the
        # submodule if this fails
        file = _import_submodule(module, name)
        if file is not None:
            return file
        from ts.unsupported import api, placeholders

        if module_getattr is not None and name not in api.entries(
            module.removeprefix("ts").removeprefix(".")
        ):
            raise missing
        return placeholders.attribute(module, name)

    return __getattr__


def _import_submodule(module: str, name: str) -> ModuleType | None:
    """Import a submodule from its file. Return None if the package has no such file."""
    search_paths = vars(sys.modules[module]).get("__path__")
    if not search_paths or PathFinder.find_spec(f"{module}.{name}", search_paths) is None:
        return None
    return import_module(f"{module}.{name}")


def absent_operator(name: str) -> Any:
    """Return the placeholder for an operator, by name without `aten::`, or None for other names."""
    from ts.unsupported import placeholders, unsupported_ops

    return placeholders.placeholder(f"ops.aten.{name}") if name in unsupported_ops.OPERATORS else None
