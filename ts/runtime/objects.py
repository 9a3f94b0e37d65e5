"""Conversion (marshalling) of script objects between Python and scripts.

If Python passes an instance of a Python class to a script, the script receives a script object. If a script
returns a script object, Python receives an instance. The attributes are copied, as in PyTorch. Changes by the
script therefore do not change the Python instance.

In contrast, `script(Counter(3))` returns a handle of an object that Python and scripts share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts._core.late_binding import resolve
from ts._core.value.ivalue import new_object, object_get, object_set
from ts._core.value.objects import Object, ObjectClass
from ts._core.value.spec import TypeSpec
from ts.bytecode.typespec import object_class, type_spec
from ts.errors import ScriptRuntimeError
from ts.frontend.annotations import dict_type, object_type
from ts.frontend.classes import ATTRIBUTE, class_type, live_type
from ts.frontend.infer import TypeInferenceError, infer_type
from ts.ir.attributes import constant_type_hooks
from ts.ir.types import (
    BOOL,
    ClassType,
    CustomClassType,
    DictType,
    InterfaceType,
    ModuleType,
    why_not_implemented,
)

_OPERATORS = (
    "len contains getitem setitem delitem call enter exit add sub mul truediv floordiv mod pow matmul and or "
    "xor lshift rshift iadd lt le gt ge eq ne neg invert int float str hash"
)


# ---- conversion of objects -------------------------------------------------------------------------------


def class_spec(cls: type) -> TypeSpec | None:
    """Return the type descriptor of instances of an enum or scripted class, or None for other classes."""
    script_type = cls.__dict__.get("__ts_type__")
    if not isinstance(script_type, CustomClassType):
        script_type = object_type(cls)
    return None if script_type is None else type_spec(script_type)


def container_spec(value: list[Any] | dict[Any, Any]) -> TypeSpec:
    """Return the type descriptor of a list or dict of Python. Raise `ts.jit.Error` if it has no type."""
    kind = "list" if isinstance(value, list) else "dictionary"
    try:
        inferred = infer_type(value)
    except TypeInferenceError as error:
        raise ScriptRuntimeError(f"Unable to infer type of {kind}: {error}") from None
    if isinstance(inferred, DictType):
        dict_type(inferred.key, inferred.value, None)  # raises an error for other types of keys
    return type_spec(inferred)


def object_of(instance: Any, expected: ObjectClass | InterfaceType) -> Object:
    """Return the script object for `instance`. Raise TypeError if `instance` does not fit `expected`."""
    handle = instance._c if isinstance(instance, RecursiveScriptClass) else instance
    handle = getattr(handle, "_object", handle)  # the script object of a scripted module
    if isinstance(expected, InterfaceType):
        return _object_with_interface(handle, expected)
    if isinstance(handle, Object):
        if handle.cls is not expected:
            actual = handle.cls.name
            raise TypeError(f"Expected an object of type {expected.name} but found one of type {actual}")
        return handle
    created = new_object(expected)
    for slot, name in enumerate(expected.names):
        try:
            value = getattr(instance, name)
        except AttributeError:
            raise TypeError(
                f"Tried to cast object to type {expected.name} but object was missing attribute {name}"
            ) from None
        try:
            object_set(created, slot, value)
        except TypeError as error:
            type_string = expected.specs[slot].annotation_str
            raise TypeError(f"Could not cast attribute '{name}' to type {type_string}: {error}") from None
    return created


def assign(handle: Object, name: str, value: Any) -> None:
    """Set an attribute from Python. For a value of another type, raise RuntimeError as in PyTorch."""
    try:
        object_set(handle, handle.cls.slot(name), value)
    except TypeError as error:
        raise RuntimeError(str(error)) from None


def _object_with_interface(instance: Any, interface: InterfaceType) -> Object:
    if isinstance(instance, Object):
        handle = instance
    else:
        type = instance.__class__.__dict__.get(ATTRIBUTE)
        if not isinstance(type, ClassType):
            raise TypeError(
                f"Assigning the object {instance} to an interface fails because the value is "
                "not a TorchScript compatible type, did you forget to turn it into a user defined "
                "TorchScript class?"
            )
        handle = object_of(instance, object_class(type))
    type = handle.cls.type
    why_not = ""
    if type.is_module() and type.concrete is not None and type.concrete.compiled:
        # If the interface requires a method that a compiled module lacks, the method is not compiled for it.
        lacking = [method for method in interface.methods if method not in type.methods]
        why_not = "".join(
            f"Class '{handle.cls.name}' does not have method '{method}'.\n" for method in lacking
        )
    why_not = why_not or why_not_implemented(type, interface)
    if why_not:
        name = interface.annotation_str
        raise TypeError(
            f"Object of type {handle.cls.name} is not compatible with interface {name}\n{why_not}"
        )
    return handle


def has_interface(handle: Object, interface: Any) -> bool:
    """Return True if an object implements an interface, or False if `interface` is no interface."""
    try:
        return isinstance(interface, InterfaceType) and _object_with_interface(handle, interface) is handle
    except TypeError:
        return False


def instance_of(handle: Object) -> Any:
    """Return a Python instance with the attributes of `handle`, or a handle if there is no Python class."""
    if handle.cls.type.is_module():
        return resolve("module_of_object")(handle)
    python_class = handle.cls.type.python_class or _live_class(handle)
    if python_class is None:
        return RecursiveScriptClass(handle)
    instance = python_class.__new__(python_class)
    for slot, name in enumerate(handle.cls.names):
        # `setattr` would raise an error for a frozen dataclass.
        object.__setattr__(instance, name, object_get(handle, slot))
    return instance


def _live_class(handle: Object) -> Any:
    """Return the program's class that corresponds to an archived object's class, or None.

    The program's class must have the same name and attributes.
    """
    type = handle.cls.type
    live = None if type.unit is None else live_type(type.qualified_name())
    if isinstance(live, ClassType) and live.attributes.keys() == type.attributes.keys():
        return live.python_class
    return None


def order_of(cls: ObjectClass) -> Callable[[Object, Object], bool]:
    """Return the method `__lt__` by which objects are sorted. Raise RuntimeError if there is none."""
    type: ClassType = cls.type
    method = type.find_method("__lt__")
    if method is not None:
        schema = method.schema
        operands = [argument.type for argument in schema.arguments]
        if operands == [type, type] and schema.returns[0].type is BOOL:
            return method  # type: ignore[no-any-return]
    raise RuntimeError(
        f"To sort a list of {cls.name} it must define a __lt__ method with two inputs of type {cls.name} "
        "that returns a bool"
    )


# ---- handles of script objects ---------------------------------------------------------------------------


class BoundMethod:
    """Method bound to a script object. It has the attributes of its function (`graph`, `code`, `schema`)."""

    def __init__(self, owner: Object, function: Any) -> None:
        self.owner = owner
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method with the bound object as `self`."""
        return self.function(self.owner, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __repr__(self) -> str:
        return f"<method {self.function.qualified_name}>"


class RecursiveScriptClass:
    """Python handle of a script object. The handle has the object's attributes, methods and operators."""

    _c: Object

    def __init__(self, handle: Object) -> None:
        object.__setattr__(self, "_c", handle)

    def __getattr__(self, name: str) -> Any:
        if name == "_c":
            raise AttributeError(name)
        handle = self._c
        type = handle.cls.type
        slot = handle.cls.slot(name)
        if slot >= 0:
            return object_get(handle, slot)
        if name in type.properties:
            return type.properties[name].getter(handle)
        method = type.find_method(name)
        if method is None:
            raise AttributeError(f"{handle.cls.name} does not have a field with name '{name}'")
        return BoundMethod(handle, method)

    def __setattr__(self, name: str, value: Any) -> None:
        handle = self._c
        prop = handle.cls.type.properties.get(name)
        if name in handle.cls.type.attributes:
            assign(handle, name, value)
        elif prop is not None and prop.setter is not None:
            prop.setter(handle, value)
        else:
            raise RuntimeError(f"{handle.cls.name} does not have an attribute with name '{name}'")


def _define_magic(name: str) -> None:
    default = getattr(object, name, None)

    def magic(self: RecursiveScriptClass, *args: Any) -> Any:
        method = self._c.cls.type.find_method(name)
        if method is not None:
            return method(self._c, *args)
        if default is None:
            raise TypeError(f"{self._c.cls.name} does not define {name}")
        return default(self, *args)

    setattr(RecursiveScriptClass, name, magic)


for _operator in _OPERATORS.split():
    _define_magic(f"__{_operator}__")


_IMMUTABLE_TYPE_FLAG = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE of CPython, which classes written in C have


def is_instance(obj: Any) -> bool:
    """Return True if `obj` is an instance of a class that a user has defined."""
    cls = type(obj)
    package = cls.__module__.partition(".")[0]
    if package in ("builtins", "torch", "ts", "typing") or cls.__flags__ & _IMMUTABLE_TYPE_FLAG:
        return False
    return hasattr(obj, "__dict__")


def script_instance(obj: Any) -> RecursiveScriptClass:
    """Return the handle of a new script object with the attributes of `obj`."""
    return RecursiveScriptClass(object_of(obj, object_class(class_type(type(obj)))))


def _type_of_object(value: object) -> ClassType | None:
    """Return the type of a graph constant if it is a script object, as in frozen modules, else None."""
    type = value.cls.type if isinstance(value, Object) else None
    return type if isinstance(type, ClassType) and not isinstance(type, ModuleType) else None


constant_type_hooks.append(_type_of_object)
