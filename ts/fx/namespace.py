"""Unique names for the values of a graph, different from builtin names and keywords of Python.

Each line shows calls and their results:

    names = Namespace()
    names.create_name("add", None), names.create_name("add", None)      ("add", "add_1")
    names.create_name("layers.0", None)                                 "layers_0"
    names.create_name("abs", None)                                      "abs_1"
"""

from __future__ import annotations

import builtins
import functools
import keyword
import math
import re
from typing import Any, Final, NamedTuple

import ts
from ts.fx import _pytree as fx_pytree
from ts.utils import _pytree as pytree


class CustomBuiltin(NamedTuple):
    """Import statement and object of a global name that all generated code may use."""

    import_str: str
    obj: Any


CUSTOM_BUILTINS: Final[dict[str, CustomBuiltin]] = {}
_reserved_names: Final[dict[str, Any]] = {
    **{keyword_name: object() for keyword_name in keyword.kwlist},
    **vars(builtins),
}


def register_custom_builtin(name: str, import_str: str, obj: Any) -> None:
    """Define `name` as a global of all code that is generated later, such as `torch`."""
    CUSTOM_BUILTINS[name] = CustomBuiltin(import_str, obj)
    _reserved_names[name] = obj


register_custom_builtin("inf", "from math import inf", math.inf)
register_custom_builtin("nan", "from math import nan", math.nan)
register_custom_builtin("NoneType", "NoneType = type(None)", type(None))
register_custom_builtin("torch", "import ts as torch", ts)
register_custom_builtin("device", "from ts import device", ts.device)
register_custom_builtin("fx_pytree", "import ts.fx._pytree as fx_pytree", fx_pytree)
register_custom_builtin("pytree", "import ts.utils._pytree as pytree", pytree)

_IDENTIFIER: Final = re.compile(r"([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?")
_ILLEGAL: Final = re.compile("[^0-9a-zA-Z_]+")
_HUMP: Final = functools.partial(re.compile(r"(?<=[a-z])([A-Z])").sub, r"_\1")


def snake_case(name: str) -> str:
    """Convert camel case to snake case: `maxPool2d` to `max_pool2d`."""
    return _HUMP(name).lower()


def is_magic(name: str) -> bool:
    """Return True for a dunder name such as `__add__`."""
    return name.startswith("__") and name.endswith("__")


class Namespace:
    """Set of used names, with the object of each name."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}  # name without number -> last number that was appended to it

    def create_name(self, candidate: str, obj: Any) -> str:
        """Return the name that the object `obj` already has in this namespace.

        If `obj` is None or has no name, create an unused name from `candidate`. It becomes the name of `obj`.
        """
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        match = _IDENTIFIER.fullmatch(candidate)
        if match is None:
            candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
            if candidate[0].isdigit():
                candidate = f"_{candidate}"
            match = _IDENTIFIER.fullmatch(candidate)
            if match is None:
                raise AssertionError(f"Name regex failed to match candidate: {candidate}")
        base, digits = match.groups()
        if digits is not None and candidate not in self._used_names:
            suffix = int(digits)
        else:
            suffix = self._base_count.get(base, 0)
            if _reserved_names.get(candidate, obj) is not obj:
                suffix += 1
                candidate = f"{base}_{suffix}"
        while candidate in self._used_names:
            suffix += 1
            candidate = f"{base}_{suffix}"
        self._used_names.add(candidate)
        self._base_count[base] = suffix
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Record that the existing name `name` belongs to `obj`."""
        if self._obj_to_name.setdefault(obj, name) is not name:
            raise AssertionError("obj is already associated")

    def _rename_object(self, obj: Any, name: str) -> None:
        if obj not in self._obj_to_name:
            raise AssertionError(f"Object {obj} is not in _obj_to_name")
        self._obj_to_name[obj] = name
        self._used_names.add(name)
