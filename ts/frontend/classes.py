"""Compilation of Python classes to script classes, with lazy compilation of methods at the first call.

Input: a Python class (left). Output: a `ClassType`, with attributes and methods (right):

    class Counter:
        def __init__(self, start: int):          class_type(Counter).attributes == {"n": INT}
            self.n = start                       class_type(Counter).methods    == {"__init__", "next"}
        def next(self) -> int: ...

`__init__` is compiled when a scripted function first refers to the class, because its assignments declare the
attributes. An error in another method concerns only callers of this method.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Final

from ts._core.late_binding import resolve
from ts._core.value.build_lock import build_lock
from ts.errors import FrontendError
from ts.frontend import parse
from ts.frontend.compile_directives import modifier_of
from ts.frontend.naming import find_live, make_function, qualified_name, register_live, unique_name
from ts.frontend.parse import ParsedFunction
from ts.ir.object_attributes import has_attribute
from ts.ir.types import ClassType, InterfaceType, Property
from ts.ir.types.nominal import NamedType

# Attribute of a Python class that holds its script type, so that both are deleted together.
ATTRIBUTE: Final = "__ts_type__"


def class_type(cls: type) -> ClassType:
    """Return the script class of a Python class, declaring it on first use."""
    declared_type = cls.__dict__.get(ATTRIBUTE)
    if isinstance(declared_type, ClassType) and declared_type.declared:
        return declared_type
    with build_lock():
        declared_type = cls.__dict__.get(ATTRIBUTE)
        return declared_type if isinstance(declared_type, ClassType) else _declare_class(cls)


def _declare_class(cls: type) -> ClassType:
    type = ClassType(unique_name(qualified_name(cls)))
    register_live(type)
    type.python_class = cls
    type.declared = False
    interface = cls.__dict__.get(ATTRIBUTE)
    setattr(cls, ATTRIBUTE, type)
    try:
        declare_methods(type, cls)
        if "__init__" in type.methods:
            type.methods["__init__"].ensure_compiled()
    except BaseException:
        delattr(cls, ATTRIBUTE)
        if interface is not None:
            setattr(cls, ATTRIBUTE, interface)
        raise
    type.declared = True
    return type


def named_type(cls: type) -> NamedType:
    """Return the type of the Python class `cls` in annotations: an interface type, or a script class."""
    declared_type = cls.__dict__.get(ATTRIBUTE)
    if isinstance(declared_type, NamedType) and not isinstance(declared_type, ClassType):
        return declared_type
    return class_type(cls)


def declare_class_from_source(name: str, definitions: list[ParsedFunction]) -> ClassType:
    """Declare a script class from parsed source text, without a Python class."""
    type = ClassType(unique_name(f"__torch__.{name}"))
    register_live(type)
    for definition in definitions:
        declare_method_from_source(type, definition)
    return type


def compile_class(cls: type) -> ClassType:
    """Declare the script class of `cls` and compile its user-written methods, as `script(cls)` does."""
    previous_type = vars(cls).get(ATTRIBUTE)
    type = class_type(cls)
    try:
        compile_all = resolve("compile").compile_all
        compile_all(method for name, method in type.methods.items() if not _is_generated(cls, name))
    except FrontendError:
        # An interface keeps its interface type, because it is no script class.
        if isinstance(previous_type, InterfaceType):
            setattr(cls, ATTRIBUTE, previous_type)
        raise
    return type


def _is_generated(cls: type, name: str) -> bool:
    member = cls.__dict__.get(name)
    return isinstance(member, FunctionType) and _is_dataclass_method(cls, member)


def _is_dataclass_method(cls: type, function: Any) -> bool:
    """Return whether `@dataclass` generated `function`, a method of `cls`."""
    if not is_dataclass(cls):
        return False
    from ts.frontend.dataclasses import is_generated

    return is_generated(function)


def is_dataclass(cls: type) -> bool:
    """Return whether `cls` is a dataclass, without importing `dataclasses`."""
    return has_attribute(cls, "__dataclass_fields__")


def declare_methods(type: ClassType, cls: type) -> None:
    """Declare the methods and properties in the body of `cls`.

    Each of them is compiled when it is first used.
    """
    unused = getattr(cls, "__jit_unused_properties__", ())
    for name, member in sorted(vars(cls).items(), key=_constructor_first):
        if isinstance(member, FunctionType):
            if _is_dataclass_method(cls, member):
                from ts.frontend import dataclasses

                if name in dataclasses.SUPPORTED:
                    _declare(type, cls, name, partial(dataclasses.generated_method, cls, name))
            elif not is_ignored(member):
                declare_method(type, cls, name, member)
        elif isinstance(member, classmethod):
            declare_method(type, cls, name, member.__func__, is_classmethod=True)
        elif isinstance(member, property) and name not in unused and not is_ignored(member.fget):
            getter = declare_method(type, cls, f"__{name}_getter", member.fget)
            setter = None
            if member.fset is not None:
                setter = declare_method(type, cls, f"__{name}_setter", member.fset)
            type.properties[name] = Property(getter, setter)


def _constructor_first(item: tuple[str, object]) -> tuple[bool, str]:
    return item[0] != "__init__", item[0]


def is_ignored(function: Any) -> bool:
    """Return whether a function is not compiled because it is marked `ignore` or `unused`."""
    return modifier_of(function) in ("ignore", "unused")


def declare_method(type: ClassType, cls: type, name: str, function: Any, is_classmethod: bool = False) -> Any:
    """Declare method `name`, implemented by `function`, and return its script function.

    If `is_classmethod` is True, the first parameter of the method is bound to the class.
    """
    return _declare(type, cls, name, lambda: parse.function_def(function, name), is_classmethod)


def declare_overload(type: ClassType, cls: type, name: str, function: Any, declaration: Any) -> Any:
    """Declare method `name` with the body of `function`, but the parameter types of `declaration`."""

    def parsed() -> ParsedFunction:
        definition: ParsedFunction = resolve("overloads").parse_overload(function, declaration, type)
        definition.name = name
        return definition

    return _declare(type, cls, name, parsed)


def declare_method_from_source(type: ClassType, definition: ParsedFunction) -> Any:
    """Declare the method with definition `definition`, which was parsed from source text."""
    return _declare(type, type.python_class, definition.name, lambda: definition)


def declare_later(type: ClassType, name: str, parse_it: Callable[[], ParsedFunction]) -> Any:
    """Declare method `name`. When the method is first used, `parse_it` parses its definition."""
    return _declare(type, None, name, parse_it)


def live_type(name: str) -> NamedType | None:
    """Return the registered type with qualified name `name`, or None if no such type is alive."""
    registered = find_live(name)
    return registered if isinstance(registered, NamedType) else None


def _declare(
    type: ClassType,
    cls: type | None,
    name: str,
    parse_it: Callable[[], ParsedFunction],
    is_classmethod: bool = False,
) -> Any:
    def parsed() -> ParsedFunction:
        definition = parse_it()
        definition.self_type = type
        definition.is_classmethod = is_classmethod
        if cls is not None:
            definition.resolver.fallback[cls.__name__] = cls
        return definition

    method = make_function(name, f"{type.qualified_name()}.{name}", parsed)
    type.methods[name] = method
    return method


def static_method(cls: type, name: str) -> Any | None:
    """Return the Python function of the static method `name`, or None if `cls` has no such method."""
    member = inspect.getattr_static(cls, name, None)
    return member.__func__ if isinstance(member, staticmethod) else None
