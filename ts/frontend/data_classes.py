"""The methods that `@dataclass` makes: Python has no source of them, so that they are written here.

In: a dataclass.  Out: by name, the definition of each method that was generated and not written by the user:

    @dataclass(order=True)                  def __init__(self, x: __type_x, y: __type_y = __default_y):
    class Point:                                self.x = x
        x: int                      =>          self.y = y
        y: float = 0.5                      def __lt__(self, other: Point) -> bool: ...

Types and defaults are the objects that the class holds, looked up by names that no program has.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from typing import Any

from ts.frontend import parse
from ts.frontend.parse import ParsedFunction
from ts.frontend.resolve import Resolver

SUPPORTED = frozenset({"__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__"})
_COMPARISONS = {"__lt__": ("<", False), "__le__": ("<", True), "__gt__": (">", False), "__ge__": (">", True)}


def generated_method(cls: type, name: str) -> ParsedFunction:
    """The definition of a method that `@dataclass` generated."""
    names: dict[str, object] = {}
    all_fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(cls)  # type: ignore[arg-type]
    fields = [f for f in all_fields if f.compare]
    own = cls.__name__
    if name == "__init__":
        lines = _constructor(cls, names)
    elif name == "__repr__":
        shown = ", ".join(f"{f.name}={{self.{f.name}}}" for f in all_fields if f.repr)
        lines = ["def __repr__(self) -> str:", f"    return f'{own}({shown})'"]
    elif name == "__eq__":
        tests = " and ".join(f"self.{f.name} == other.{f.name}" for f in fields) or "True"
        lines = [f"def __eq__(self, other: {own}) -> bool:", f"    return {tests}"]
    else:
        lines = _comparison(name, own, [f.name for f in fields])
    module = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    (parsed,) = parse.module_defs("\n".join(lines) + "\n", Resolver(names, module, fallback={own: cls}))
    return parsed


def is_generated(cls: type, function: Any) -> bool:
    """Whether `@dataclass` made the function."""
    return dataclasses.is_dataclass(cls) and inspect.unwrap(function).__code__.co_filename == "<string>"


def _constructor(cls: type, names: dict[str, object]) -> list[str]:
    """Parameters and assignments in the order of the fields; `__post_init__` gets what is only for it."""
    parameters, body, passed = ["self"], [], []
    for name, field in cls.__dataclass_fields__.items():  # type: ignore[attr-defined]
        if field.default_factory is not dataclasses.MISSING:
            raise NotImplementedError(
                "Default factory initializers are not supported in TorchScript dataclasses"
            )
        is_parameter_only = isinstance(field.type, dataclasses.InitVar)
        annotation = field.type.type if is_parameter_only else field.type
        has_default = field.default is not dataclasses.MISSING
        names[f"__type_{name}"] = annotation
        names[f"__default_{name}"] = field.default
        kind = annotation if isinstance(annotation, str) else f"__type_{name}"
        if field.init:
            default = f" = __default_{name}" if has_default else ""
            parameters.append(f"{name}: {kind}{default}")
        if is_parameter_only:
            passed.append(name)
        elif field.init:
            body.append(f"    self.{name} = {name}")
        elif has_default:
            body.append(f"    self.{name}: {kind} = __default_{name}")
    if hasattr(cls, "__post_init__"):
        body.append(f"    self.__post_init__({', '.join(passed)})")
    return [f"def __init__({', '.join(parameters)}):", *(body or ["    pass"])]


def _comparison(name: str, own: str, fields: list[str]) -> list[str]:
    """Field by field: the first two that differ decide."""
    sign, if_equal = _COMPARISONS[name]
    lines = [f"def {name}(self, other: {own}) -> bool:"]
    for field in fields:
        lines += [
            f"    if self.{field} {sign} other.{field}:",
            "        return True",
            f"    if other.{field} {sign} self.{field}:",
            "        return False",
        ]
    return [*lines, f"    return {if_equal}"]
