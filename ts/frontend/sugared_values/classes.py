"""Constructors, method lookup, attributes and operator overloading of script classes in expressions.

For a script class `Counter` and its instance `c`, expressions (left) become nodes (right):

    Counter(1)       %c = prim::CreateObject(), prim::CallMethod[name="__init__"](%c, %1)
    c.n              prim::GetAttr[name="n"](%c)
    c.n = 2          prim::SetAttr[name="n"](%c, %2). In `__init__`, it can declare n
    c.next()         prim::CallMethod[name="next"](%c)
    c + d            prim::CallMethod[name="__add__"](%c, %d)
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ts._core.late_binding import resolve
from ts.errors import CompilationError, FrontendError
from ts.frontend import hints
from ts.frontend.classes import ATTRIBUTE, class_type, compile_class, is_ignored, static_method
from ts.frontend.resolve import attribute as attribute_of
from ts.frontend.schema_matching import Actual, convert_to_type, emit_builtin_call, match_schema
from ts.frontend.sugared_values.python_functions import PythonFunction, no_value_error
from ts.frontend.sugared_values.sugared import FunctionValue, Kwargs, SimpleValue, SugaredValue
from ts.ir.object_attributes import module_of
from ts.ir.schema import FunctionSchema
from ts.ir.source import SourceRange
from ts.ir.types import (
    NONE,
    OBJECT_TYPES,
    ClassType,
    EnumType,
    InterfaceType,
    ModuleType,
    OptionalType,
    Type,
    UnionType,
)
from ts.ir.value import Value
from ts.module_names import is_own

if TYPE_CHECKING:
    from ts.frontend.ir_emitter.emitter import Emitter


class ClassValue(SugaredValue):
    """Script class as a sugared value. A call creates an object."""

    kind = "class"

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Raise CompilationError: scripts cannot store classes in variables or pass them."""
        raise CompilationError(
            f"Python type cannot be used as a value: call {self.type.name()}(...) to make an object", range
        )

    def __init__(self, type: ClassType) -> None:
        self.type = type

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Create an object and emit the call of `__init__`. Raise CompilationError without `__init__`."""
        if "__init__" not in self.type.methods:
            # compile all methods first: if one of them has an error, this error is reported instead
            for method in self.type.methods.values():
                _schema_of(em, range, self.type, method)
            raise CompilationError(
                f"Class {self.type.name()} does not have an __init__ function defined",
                range,
                _inherited(self.type.python_class, "__init__"),
            )
        value = em.insert("prim::CreateObject", (), 1, range).output().set_type(self.type)
        MethodValue(value, "__init__").call(em, range, args, kwargs, 0)
        return SimpleValue(value)

    def ensure_compiled(self, em: Emitter, range: SourceRange) -> None:
        """Compile `__init__`, so that its errors are reported."""
        if "__init__" in self.type.methods:
            value = em.insert("prim::CreateObject").output().set_type(self.type)
            MethodValue(value, "__init__").ensure_compiled(em, range)

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return a static method, unbound method or nested class. Raise CompilationError for other names."""
        cls = self.type.python_class
        function = None if cls is None else static_method(cls, name)
        if function is None:
            class_attribute = None if cls is None else inspect.getattr_static(cls, name, None)
            if name in self.type.methods and not isinstance(class_attribute, classmethod):
                return UnboundMethod(self.type, name)
            if inspect.isclass(class_attribute):
                return _class_inside(em, range, cls, name)
            if (
                class_attribute is not None
                and not callable(class_attribute)
                and not isinstance(class_attribute, classmethod)
            ):
                error = no_value_error(f"python value of type '{type(class_attribute).__name__}'", range)
                error.hint = "make it a global constant, or an attribute that `__init__` assigns"
                raise error
            raise CompilationError(
                f"Tried to lookup unknown attribute on class {self.type.repr_str}. "
                f"'{name}' is not a static method or class; other attributes require an object",
                range,
                hints.similar(name, () if class_attribute is not None else _names(self.type)),
            )
        try:
            return FunctionValue(em.compile_callee(function))
        except FrontendError as error:
            raise error.add_call(name, em.parsed.name, range) from None


def _class_inside(em: Emitter, range: SourceRange, cls: Any, name: str) -> SugaredValue:
    """Return the class `name`, which is defined in the body of class `cls`, as a sugared value."""
    to_sugared = resolve("python_objects").to_sugared
    inner: SugaredValue = to_sugared(em, attribute_of(cls, name), range, f"{cls.__name__}.{name}")
    return inner


class UnboundMethod(SugaredValue):
    """Method accessed on its class. The first argument of a call is the object."""

    kind = "method"

    def __init__(self, type: ClassType, name: str) -> None:
        self.type = type
        self.name = name

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit a method call, whose first argument must be an object of the class."""
        if not args or not isinstance(args[0], Value) or not args[0].type().is_subtype_of(self.type):
            raise CompilationError(
                f"{self.type.name()}.{self.name} takes an object of its class as its first argument", range
            )
        return MethodValue(args[0], self.name).call(em, range, args[1:], kwargs, n_binders)


class MethodValue(SugaredValue):
    """Sugared value of a method bound to an object."""

    kind = "method"

    def __init__(self, value: Value, name: str) -> None:
        self.value = value
        self.name = name

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit `prim::CallMethod`.

        If the object has a Union type, the schema of the method must be the same in all classes of the union.
        Otherwise, raise CompilationError.
        """
        receiver_type: Any = self.value.type()
        type: Any = receiver_type.types[0] if isinstance(receiver_type, UnionType) else receiver_type
        schema = self._schema(em, range, type)
        if receiver_type is not type:
            for other in receiver_type.types[1:]:
                if not self._schema(em, range, other).is_subtype_of(schema, as_method=True):
                    names = f"{other.annotation_str} and {type.annotation_str}"
                    raise CompilationError(f"the method {self.name} of {names} is not the same", range)
            self_argument, *others = schema.arguments
            schema = FunctionSchema(
                schema.name, "", [self_argument.with_type(receiver_type), *others], schema.returns
            )
        matched = match_schema(schema, em.graph, range, [self.value, *args], kwargs)
        node = em.insert("prim::CallMethod", matched.inputs, 1, range).set("name", self.name)
        return SimpleValue(node.output().set_type(matched.returns[0]))

    def ensure_compiled(self, em: Emitter, range: SourceRange) -> None:
        """Compile the method, so that its errors are reported. A method of a union is compiled by `call`."""
        if not isinstance(self.value.type(), UnionType):
            self._schema(em, range, self.value.type())

    def _schema(self, em: Emitter, range: SourceRange, type: Any) -> FunctionSchema:
        """Compile the method and return its schema."""
        return _schema_of(em, range, type, type.methods[self.name])


def _schema_of(em: Emitter, range: SourceRange, type: Any, method: Any) -> FunctionSchema:
    """Compile a method of `type` and return its schema."""
    try:
        return method if isinstance(method, FunctionSchema) else method.schema  # type: ignore[no-any-return]
    except FrontendError as error:
        if isinstance(error, CompilationError) and error.range is None:
            # The method calls itself, but its return type is unknown. This error has no location yet.
            error.range = range
            raise
        raise error.add_call(f"{type.name()}.{method.name}", em.parsed.name, range) from None


def class_of(em: Emitter, cls: type, range: SourceRange) -> ClassValue:
    """Compile a Python class to a script class."""
    try:
        is_interface = isinstance(vars(cls).get(ATTRIBUTE), InterfaceType)
        # An interface is no script class: `compile_class` raises the error of its methods, which have no
        # bodies.
        return ClassValue(compile_class(cls) if is_interface else class_type(cls))
    except FrontendError as error:
        raise error.add_call(f"__torch__.{cls.__name__}", em.parsed.name, range) from None


# ---- attributes of objects -------------------------------------------------------------------------------


def attribute(em: Emitter, range: SourceRange, value: Value, name: str) -> SugaredValue:
    """Emit `value.name`, where `value` is an object of a script class."""
    type: Any = value.type()
    if isinstance(type, ModuleType):
        member: SugaredValue = resolve("script_modules").ModuleValue(value).attr(em, range, name)
        return member
    if name == "__str__" and name not in type.methods and "__repr__" in type.methods:
        name = "__repr__"
    if name in type.methods:
        return MethodValue(value, name)
    if isinstance(type, InterfaceType):
        raise CompilationError(
            f"'{type.annotation_str}' object has no attribute or method '{name}'. "
            "An interface has only the methods that it declares",
            range,
            hints.similar(name, type.methods),
        )
    if name in type.attributes:
        output = em.insert("prim::GetAttr", (value,)).set("name", name).output()
        output.set_debug_name(name)
        return SimpleValue(output.set_type(type.attributes[name]))
    if name in type.properties:
        return MethodValue(value, type.properties[name].getter.name).call(em, range, (), {}, 0)
    if type.python_class is not None:
        function = static_method(type.python_class, name)
        if function is not None:
            return FunctionValue(em.compile_callee(function))
        function = inspect.getattr_static(type.python_class, name, None)
        if isinstance(function, FunctionType) and is_ignored(function):
            return PythonFunction(function, value)
        if inspect.isclass(function):
            return _class_inside(em, range, type.python_class, name)
    of_class = _inherited(type.python_class, name)
    hint = "Did you forget to initialize an attribute in __init__()?"
    if type.python_class is not None and name in type.python_class.__dict__:
        hint = (
            f"'{name}' is defined as a class attribute which currently is not supported. "
            "Consider converting this to an instance attribute."
        )
    elif not of_class:
        of_class = hints.similar(name, _names(type))
    raise CompilationError(
        f"'{type.repr_str}' object has no attribute or method '{name}'. {hint}",
        range,
        of_class,
    )


def _names(type: ClassType) -> list[str]:
    """Return public attribute, property and method names, as suggestions for misspelled names."""
    names = [*type.attributes, *type.properties, *type.methods, *vars(type.python_class or object)]
    return [name for name in names if not name.startswith("__")]


def _inherited(cls: type | None, name: str) -> str:
    """Return a hint if a base class of `cls` defines `name`, because script classes do not inherit."""
    if cls is None:
        return ""
    for base in cls.__mro__[1:-1]:
        if name in base.__dict__:
            return f"script classes do not inherit methods; copy {base.__name__}'s `{name}` to {cls.__name__}"
    return ""


def _is_frozen(cls: type | None) -> bool:
    """Return whether the class is a frozen dataclass."""
    return getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)


def set_attribute(
    em: Emitter,
    range: SourceRange,
    base: SugaredValue,
    name: str,
    assigned: Value,
    annotated: Type | None = None,
) -> None:
    """Emit `base.name = assigned`. `annotated` is the type T in `base.name: T = assigned`."""
    value = base.simple or base.receiver
    type = value.type() if value is not None else None
    if isinstance(type, ClassType) and not _is_constructing(em, type) and _is_frozen(type.python_class):
        raise CompilationError(
            f"cannot assign to field '{name}': {type.repr_str} is a frozen dataclass", range
        )
    if value is None or not isinstance(type, ClassType):
        described_type = base.kind if type is None else type.annotation_str
        described_type = type.str() if isinstance(type, EnumType) else described_type
        raise CompilationError(f"Tried to set an attribute: {name} on a non-class: {described_type}", range)
    expected = type.attributes.get(name)
    if expected is None and _is_constructing(em, type):
        if em.scope.parent is not None:
            raise CompilationError(
                "First assignment cannot be in a control-flow block. "
                "Initialize the field at the top level first",
                range,
            )
        if annotated is None and _contains(assigned.type(), type):
            raise CompilationError(
                f"Assignment to attribute '{name}' cannot be of a type that contains class "
                f"'{type.annotation_str}'.\nClasses that recursively contain instances of themselves are not "
                f"yet supported without an annotation: write `self.{name}: ... = ...` with the type",
                range,
            )
        expected = type.attributes[name] = annotated or assigned.type()
    if expected is None:
        prop = type.properties.get(name)
        if prop is None:
            raise CompilationError(
                f"Tried to set nonexistent attribute: {name}. Did you forget to initialize it in __init__()?",
                range,
                hints.similar(name, [*type.attributes, *type.properties]),
            )
        if prop.setter is None:
            raise CompilationError(f"Tried to set read-only attribute: {name}", range)
        MethodValue(value, prop.setter.name).call(em, range, [assigned], {}, 0)
        return
    assigned = convert_to_type(range, em.graph, expected, assigned, False)
    if not assigned.type().is_subtype_of(expected):
        raise CompilationError(
            f"Wrong type for attribute assignment. Expected {expected.repr_str} "
            f"but got {assigned.type().repr_str}",
            range,
            _attribute_hint(name, expected, assigned.type()),
        )
    em.insert("prim::SetAttr", (value, assigned), 0).set("name", name)


def _attribute_hint(name: str, expected: Type, actual: Type) -> str:
    """Return the hint for an assignment of a value of type `actual` to an attribute of type `expected`."""
    if expected is NONE:
        return f"annotate it in the class: `{name}: Optional[{actual.annotation_str}]`"
    return hints.conversion(actual, expected) if isinstance(actual, OptionalType) else ""


def _contains(type: Type, searched: Type) -> bool:
    return type == searched or any(_contains(contained, searched) for contained in type.contained_types())


def _is_constructing(em: Emitter, type: Type) -> bool:
    """Return whether `em` emits the constructor of `type`, in which assignments declare attributes."""
    return em.parsed.name == "__init__" and em.parsed.self_type is type


# ---- operators on objects --------------------------------------------------------------------------------


def call_operator_method(
    em: Emitter, range: SourceRange, method: str | None, args: Sequence[Value], kwargs: Kwargs | None = None
) -> Value | None:
    """Emit an operator as a call of method `method` on the first operand.

    A class without `__ne__` uses the negation of `__eq__`, as in Python. Return None if the first operand is
    no object, or if `method` is None.
    """
    if method is None or not args or not isinstance(args[0].type(), OBJECT_TYPES):
        return None
    methods = args[0].type().methods  # type: ignore[attr-defined]
    if method == "__ne__" and method not in methods and "__eq__" in methods:
        equal = call_operator_method(em, range, "__eq__", args, kwargs)
        assert equal is not None
        return emit_builtin_call(range, em.graph, "aten::__not__", [equal])
    if _has_only_own_method(args[0].type(), method):
        raise CompilationError(
            f"'{args[0].type().repr_str}' object has no attribute or method '{method}'. Did you forget to "
            "initialize an attribute in __init__()?",
            range,
        )
    bound_method = attribute(em, range, args[0], method)
    return bound_method.call(em, range, list(args[1:]), kwargs or {}, 1).as_value(em, range)


def _has_only_own_method(type: Type, method: str) -> bool:
    """Return whether `type` is a module type that inherits `method` from a class of `ts`, uncompiled."""
    if not isinstance(type, ModuleType) or method in type.methods or type.concrete is None:
        return False
    function = type.concrete.python_function(method)
    return function is not None and is_own(module_of(function))


def to_printable(em: Emitter, range: SourceRange, value: Value) -> Value:
    """Return `value` as `print` and format strings need it.

    For an object whose class defines `__str__` or `__repr__`, emit a call that returns a string.
    """
    type = value.type()
    if isinstance(type, ClassType) and ("__str__" in type.methods or "__repr__" in type.methods):
        return attribute(em, range, value, "__str__").call(em, range, [], {}, 1).as_value(em, range)
    return value


def delete_item(em: Emitter, range: SourceRange, statement: SourceRange, value: Value, index: Value) -> None:
    """Emit `del value[index]` for an object."""
    type: Any = value.type()
    if _has_only_own_method(type, "__delitem__") or type.find_method("__delitem__") is None:
        raise CompilationError("Class does not define __delitem__", range)
    MethodValue(value, "__delitem__").call(em, statement, [index], {}, 0)


def call_augmented_method(
    em: Emitter, range: SourceRange, method: str, value: Value, operand: Value
) -> Value | None:
    """Emit `value += operand` on an object by `__iadd__` or `__add__`. Return None for other values."""
    type = value.type()
    if not isinstance(type, ClassType):
        return None
    in_place = f"__i{method[2:]}"
    return call_operator_method(em, range, in_place if in_place in type.methods else method, (value, operand))
