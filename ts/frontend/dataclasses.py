"""Script definitions of the methods that `@dataclass` generates, which have no Python source.

A dataclass (left) gets definitions of its generated methods (right):

    @dataclass(order=True)                  def __init__(self, x: __type_x, y: __type_y = __default_y):
    class Point:                                self.x = x
        x: int                      =>          self.y = y
        y: float = 0.5                      def __lt__(self, other: Point) -> bool: ...

`__type_x` is the type of the field `x`, and `__default_y` the default of the field `y`. The definitions test
Optional fields for None before they compare, because no operator compares Optional values.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterable
from typing import Any

from ts._core.late_binding import resolve
from ts.errors import FrontendError
from ts.frontend import parse
from ts.frontend.parse import ParsedFunction
from ts.frontend.resolve import Resolver
from ts.ir.object_attributes import has_attribute

SUPPORTED = frozenset({"__init__", "__repr__", "__eq__", "__hash__", "__lt__", "__le__", "__gt__", "__ge__"})
_COMPARISONS = {"__lt__": ("<", False), "__le__": ("<", True), "__gt__": (">", False), "__ge__": (">", True)}
_Field = dataclasses.Field[Any]


def generated_method(cls: type, name: str) -> ParsedFunction:
    """Return the definition of a method that `@dataclass` generated."""
    names: dict[str, object] = {}
    all_fields: tuple[_Field, ...] = dataclasses.fields(cls)  # type: ignore[arg-type]
    compared = [f for f in all_fields if f.compare]
    class_name = cls.__name__
    module = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    resolver = Resolver(names, module, fallback={class_name: cls})
    if name == "__init__":
        lines = _constructor(cls, names)
    elif name == "__repr__":
        fields_format = ", ".join(f"{f.name}={{self.{f.name}}}" for f in all_fields if f.repr)
        lines = ["def __repr__(self) -> str:", f"    return f'{class_name}({fields_format})'"]
    elif name == "__hash__":
        hashed = [f.name for f in all_fields if (f.compare if f.hash is None else f.hash)]
        lines = ["def __hash__(self) -> int:", f"    return hash(({_format_fields('self.{}', hashed)}))"]
    elif name == "__eq__":
        lines = _equality(class_name, compared, _optional(compared, resolver))
    else:
        lines = _comparison(name, class_name, compared, _optional(compared, resolver))
    (parsed,) = parse.module_defs("\n".join(lines) + "\n", resolver)
    return parsed


def is_generated(function: Any) -> bool:
    """Return whether a method of a dataclass comes from `@dataclass`, such as `__init__` or `__replace__`."""
    return inspect.unwrap(function).__code__.co_filename in ("<string>", dataclasses.__file__)


def _format_fields(template: str, names: Iterable[str]) -> str:
    return "".join(template.format(name) + ", " for name in names)


def _constructor(cls: type, names: dict[str, object]) -> list[str]:
    """Return the source lines of the `__init__` that `@dataclass` generates.

    The parameters and assignments are in field order. The last statement calls `__post_init__` with the
    `InitVar` arguments.
    """
    parameters: list[str] = ["self"]
    with_default: list[str] = []
    by_name: list[str] = []
    body, init_arguments = [], []
    fields = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    for name, field in cls.__dataclass_fields__.items():  # type: ignore[attr-defined]
        is_parameter_only = isinstance(field.type, dataclasses.InitVar)
        if name not in fields and not is_parameter_only:
            continue  # `field` is a ClassVar, not a parameter
        if field.default_factory is not dataclasses.MISSING:
            raise NotImplementedError(
                "Default factory initializers are not supported in TorchScript dataclasses"
            )
        annotation = field.type.type if is_parameter_only else field.type
        has_default = field.default is not dataclasses.MISSING
        names[f"__type_{name}"] = annotation
        names[f"__default_{name}"] = field.default
        kind = annotation if isinstance(annotation, str) else f"__type_{name}"
        if field.init:
            default = f" = __default_{name}" if has_default else ""
            # The language has no keyword-only parameters with defaults: such a parameter becomes positional,
            # after all others.
            parameter_list = parameters if field.kw_only is not True else with_default if default else by_name
            parameter_list.append(f"{name}: {kind}{default}")
        if is_parameter_only:
            init_arguments.append(name)
        elif field.init:
            body.append(f"    self.{name}: {kind} = {name}")
        elif has_default:
            body.append(f"    self.{name}: {kind} = __default_{name}")
    if has_attribute(cls, "__post_init__"):
        body.append(f"    self.__post_init__({', '.join(init_arguments)})")
    parameters += with_default
    if by_name:
        parameters += ["*", *by_name]
    return [f"def __init__({', '.join(parameters)}):", *(body or ["    pass"])]


def _optional(fields: Iterable[_Field], resolver: Resolver) -> set[str]:
    """Return the names of fields of Optional type.

    Fields with invalid annotations are skipped, because the declaration of the field reports the error.
    """
    to_type = resolve("annotations").to_type
    from ts.ir.types import OptionalType

    optional_names = set()
    for field in fields:
        try:
            if isinstance(to_type(field.type, resolver), OptionalType):
                optional_names.add(field.name)
        except FrontendError:
            continue
    return optional_names


def _equality(class_name: str, fields: Iterable[_Field], optional: set[str]) -> list[str]:
    lines = [f"def __eq__(self, other: {class_name}) -> bool:"]
    for field in fields:
        a, b = f"self.{field.name}", f"other.{field.name}"
        if field.name in optional:
            lines += [
                f"    a_{field.name} = {a}",
                f"    b_{field.name} = {b}",
                f"    if a_{field.name} is None or b_{field.name} is None:",
                f"        if not (a_{field.name} is None and b_{field.name} is None):",
                "            return False",
                f"    elif not (a_{field.name} == b_{field.name}):",
                "        return False",
            ]
        else:
            lines += [f"    if not ({a} == {b}):", "        return False"]
    return [*lines, "    return True"]


def _comparison(name: str, class_name: str, fields: Iterable[_Field], optional: set[str]) -> list[str]:
    """Return the source lines of comparison method `name` of a dataclass.

    The method compares two objects field by field, and returns at the first field that differs.
    """
    sign, if_equal = _COMPARISONS[name]
    lines = [f"def {name}(self, other: {class_name}) -> bool:"]
    for field in fields:
        a, b = f"self.{field.name}", f"other.{field.name}"
        if field.name in optional:
            lines += [
                f"    a_{field.name} = {a}",
                f"    b_{field.name} = {b}",
                f"    if not (a_{field.name} is None and b_{field.name} is None):",
                f"        assert a_{field.name} is not None and b_{field.name} is not None, "
                f"\"'{sign}' not supported between instances of 'NoneType' and others\"",
                f"        if a_{field.name} {sign} b_{field.name}:",
                "            return True",
                f"        if b_{field.name} {sign} a_{field.name}:",
                "            return False",
            ]
        else:
            lines += [
                f"    if {a} {sign} {b}:",
                "        return True",
                f"    if {b} {sign} {a}:",
                "        return False",
            ]
    return [*lines, f"    return {if_equal}"]
