"""Nominal types: classes, modules, interfaces, enumerations, functions.

Two nominal types are equal if they have the same name and the same declaration, such as a Python class.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ts.ir.types.base import Type
from ts.ir.types.scalar import AnyClassType, AnyEnumType

_pending_checks = threading.local()  # per thread: the (class, interface) pairs that are being compared


class NamedType(Type):
    """Base class of types compared by qualified name and declaration."""

    __slots__ = ("qualified_name_",)

    def __init__(self, qualified_name: str) -> None:
        self.qualified_name_ = qualified_name

    def _key(self) -> tuple[object, ...]:
        return (self.qualified_name_,)

    def _spell(self) -> str:
        return self.qualified_name_

    @property
    def annotation_str(self) -> str:
        """Qualified name of the type."""
        return self.qualified_name_

    def mentions_class(self) -> bool:
        """Return True. A named type belongs to a program, and a cache of types would keep its class alive."""
        return True

    def qualified_name(self) -> str:
        """Return the dotted name with module, such as ``__torch__.model.Config``."""
        return self.qualified_name_

    def name(self) -> str:
        """Return the last part of the qualified name."""
        return self.qualified_name_.rpartition(".")[2]


class Property(NamedTuple):
    """Property of a class: its getter and setter methods."""

    getter: Any
    setter: Any | None


class ClassType(NamedType):
    """Script class: `attributes` in slot order, `methods` by name, `constants` of the class.

    python_class   Python class that was compiled, or None for a class read from text
    unit           compilation unit with the definition of a class read from text
    declared       True once the attributes are known
    object_class   class of the objects at run time, created with the first object
    """

    __slots__ = (
        "__weakref__",
        "attributes",
        "constants",
        "declared",
        "methods",
        "object_class",
        "properties",
        "python_class",
        "unit",
    )

    def __init__(
        self,
        qualified_name: str,
        attributes: Mapping[str, Type] | None = None,
        methods: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(qualified_name)
        self.attributes: dict[str, Type] = dict(attributes or {})
        self.methods: dict[str, Any] = dict(methods or {})
        self.constants: dict[str, object] = {}
        self.properties: dict[str, Property] = {}
        self.python_class: Any = None
        self.unit: Any = None
        self.declared = True
        self.object_class: Any = None

    def _key(self) -> tuple[object, ...]:
        # The name alone does not identify a class: a second run of a notebook cell creates another class with
        # the same name.
        return self.qualified_name_, id(self.python_class or self.unit)

    def containedTypes(self) -> list[Type]:
        """Return the types of the attributes.

        `contained_types` does not include them, because a class may contain itself.
        """
        return list(self.attributes.values())

    def slot(self, attribute: str) -> int:
        """Return the slot index of an attribute in objects of this class."""
        return list(self.attributes).index(attribute)

    def find_method(self, name: str) -> Any | None:
        """Return the method called `name`, or None."""
        return self.methods.get(name)

    def is_subtype_of(self, other: Type) -> bool:
        """Return True if `other` is an interface that the class implements, or another supertype.

        For example, `AnyClassType` is a supertype of all classes.
        """
        if isinstance(other, AnyClassType):
            return True
        if isinstance(other, InterfaceType):
            return other.is_implemented_by(self)
        return super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of

    def method_names(self) -> list[str]:
        """Return the names of the declared methods, in order of declaration."""
        return list(self.methods)


class ModuleType(ClassType):
    """Type of module instances. `attributes` are submodules, parameters and other attributes.

    `concrete` is the frontend's description of the instances, or None for a type parsed from text.
    """

    __slots__ = ("concrete",)

    def __init__(
        self,
        qualified_name: str,
        attributes: Mapping[str, Type] | None = None,
        methods: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(qualified_name, attributes, methods)
        self.concrete: Any = None

    def _key(self) -> tuple[object, ...]:
        return self.qualified_name_, id(self.concrete)

    def find_method(self, name: str) -> Any | None:
        """Return method `name`, or None for an unknown name.

        The first call for a method of the module's Python class declares the method.
        """
        method = self.methods.get(name)
        if method is None and self.concrete is not None:
            method = self.concrete.method(name)
        return method

    def elements(self, type: Type) -> list[str]:
        """Return the names of the contained modules and tensors that are of type `type`, in order."""
        return [
            name
            for name, attribute_type in self.attributes.items()
            if (attribute_type.is_module() or attribute_type.kind() == "TensorType")
            and attribute_type.is_subtype_of(type)
        ]

    def kind(self) -> str:
        """Return "ClassType", since PyTorch has no kind for modules."""
        return "ClassType"

    def is_module(self) -> bool:
        """Return True: values of the type are modules."""
        return True


class InterfaceType(NamedType):
    """Interface type: method signatures (`ts.ir.schema.FunctionSchema`) that a class must have."""

    __slots__ = ("__weakref__", "is_module_interface", "methods", "unit")

    def __init__(
        self,
        qualified_name: str,
        methods: Mapping[str, Any] | None = None,
        is_module_interface: bool = False,
        unit: Any = None,
    ) -> None:
        super().__init__(qualified_name)
        self.unit = unit  # declares the type: a Python class, or the compilation unit of an archive
        self.methods: dict[str, Any] = dict(methods or {})
        self.is_module_interface = is_module_interface

    def _spell(self) -> str:
        return f"InterfaceType<{self.name()}>"

    def _key(self) -> tuple[object, ...]:
        return self.qualified_name_, id(self.unit)

    def is_interface_type(self) -> bool:
        """Return True: values have any class that implements the methods."""
        return True

    def is_module(self) -> bool:
        """Return True for an interface of modules, declared by a subclass of `Module`."""
        return self.is_module_interface

    def find_method(self, name: str) -> Any | None:
        """Return the signature of the method called `name`, or None."""
        return self.methods.get(name)

    def getMethod(self, name: str) -> Any:
        """Return the schema of a method, or None for an unknown name. The method has PyTorch's name."""
        return self.methods.get(name)

    def getMethodNames(self) -> list[str]:
        """Return the names of the required methods. The method has PyTorch's name."""
        return list(self.methods)

    def is_implemented_by(self, other: ClassType | InterfaceType) -> bool:
        """Return True if `other` has a compatible method for each method of this interface.

        The signatures may contain the interface and `other` themselves. If a check needs its own result for
        this reason, it assumes that `other` implements the interface.
        """
        pending: set[tuple[int, int]] = vars(_pending_checks).setdefault("pairs", set())
        pair = id(self), id(other)
        if pair in pending:
            return True
        pending.add(pair)
        try:
            return not why_not_implemented(other, self)
        finally:
            pending.remove(pair)

    def is_subtype_of(self, other: Type) -> bool:
        """Return True if `other` is a supertype, for example an interface with fewer methods."""
        if isinstance(other, InterfaceType) and other.is_implemented_by(self):
            return True
        return super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of


class CustomClassType(NamedType):
    """Class of packed parameters. PyTorch implements it in C++, and `ts` in `ts.ops.packed_params`.

    All archives share one type for each name.  `methods` maps names of methods to names of operators.
    """

    __slots__ = ("__weakref__", "methods")

    def __init__(self, qualified_name: str, methods: Mapping[str, str]) -> None:
        super().__init__(qualified_name)
        self.methods = methods

    def kind(self) -> str:
        """Return "ClassType", the kind of these classes in PyTorch."""
        return "ClassType"

    def find_method(self, name: str) -> None:
        """Return None: the methods are operators."""


CUSTOM_CLASS_PREFIX: Final = "__torch__.torch.classes."
_PACKED: Final = {
    "quantized.LinearPackedParamsBase": {"unpack": "quantized::linear_unpack"},
    "quantized.Conv2dPackedParamsBase": {"unpack": "quantized::conv2d_unpack"},
    "quantized.Conv3dPackedParamsBase": {"unpack": "quantized::conv3d_unpack"},
    "quantized.EmbeddingPackedParamsBase": {"unpack": "quantized::embedding_bag_unpack"},
    "rnn.CellParamsBase": {},
    "dist_rpc.WorkerInfo": {},
    "profiler._RecordFunction": {},
}
CUSTOM_CLASSES: Final = {
    name: CustomClassType(name, methods)
    for name, methods in ((CUSTOM_CLASS_PREFIX + last, methods) for last, methods in _PACKED.items())
}

OBJECT_TYPES: Final = (ClassType, InterfaceType)


def why_not_implemented(type: Type, interface: Type) -> str:
    """Return the reason why a class or interface does not implement `interface`, or ""."""
    if not isinstance(type, OBJECT_TYPES) or not isinstance(interface, InterfaceType):
        return ""
    kind, name = ("Interface" if isinstance(type, InterfaceType) else "Class"), type.annotation_str
    if interface.is_module_interface and not type.is_module():
        return (
            f"{kind} '{name}' is not a subtype of the module interface '{interface.annotation_str}', "
            "only ScriptModule class can be subtype of module interface.\n"
        )
    for method, expected in interface.methods.items():
        implementation = type.find_method(method)
        if implementation is None:
            return f"{kind} '{name}' does not have method '{method}' but '{interface.annotation_str}' does.\n"
        schema = getattr(implementation, "schema", implementation)
        if not schema.is_subtype_of(expected, as_method=True):
            return (
                f"Method on {kind.lower()} '{name}' (1) is not compatible with interface "
                f"'{interface.annotation_str}' (2)\n  (1) {schema}\n  (2) {expected}\n"
            )
    return ""


class EnumType(NamedType):
    """Enumeration type.

    `value_type` is the common type of the values, `members` are (name, value) pairs, and `python_class` is
    the enum class in Python.
    """

    __slots__ = ("__weakref__", "members", "python_class", "value_type")
    mutable = False

    def __init__(
        self,
        qualified_name: str,
        value_type: Type,
        enum_names_values: Iterable[tuple[str, object]] = (),
        python_class: type | None = None,
    ) -> None:
        super().__init__(qualified_name)
        self.value_type = value_type
        self.python_class = python_class
        self.members = tuple(enum_names_values)

    def _spell(self) -> str:
        return f"Enum<{self.qualified_name_}>"

    def _key(self) -> tuple[object, ...]:
        return (self.qualified_name_, self.python_class)

    @property
    def repr_str(self) -> str:
        """Spelling of the type in messages: ``Enum<...>`` with the qualified name."""
        return self._spell()

    def getValueType(self) -> Type:
        """Return the common type of the members' values. The method has PyTorch's name."""
        return self.value_type

    def is_subtype_of(self, other: Type) -> bool:
        """Return True if `other` is a supertype, such as `AnyEnumType`, the type of all enum members."""
        return isinstance(other, AnyEnumType) or super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of


class FunctionType(Type):
    """Type of one scripted function, `function`."""

    __slots__ = ("function",)
    mutable = False
    _spelling = "Function"

    def __init__(self, function: Any) -> None:
        self.function = function

    def _key(self) -> tuple[object, ...]:
        return (id(self.function),)

    def mentions_class(self) -> bool:
        """Return True. The function belongs to a program, and a cache of types would keep it alive."""
        return True

    @property
    def annotation_str(self) -> str:
        """Qualified name of the function, or "Function" if the function has no such name."""
        return str(getattr(self.function, "qualified_name", "Function"))
