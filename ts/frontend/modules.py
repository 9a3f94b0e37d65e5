"""Types of modules, with type sharing between equal instances.

Input: an instance of `ts.nn.Module` (left). Output: its description, a `ConcreteModule` (right):

    class Net(Module):                              concrete = concrete_module(Net())
        __constants__ = ["steps"]                   concrete.type.attributes   {"weight": TENSOR, ...}
        def __init__(self):                         concrete.constants         {"steps": 3}
            self.weight = Parameter(...)            concrete.type.methods      {}, filled on demand
            self.steps = 3

Attributes are parameters, buffers, submodules, and other instance attributes with a known type. Another
attribute causes an error only if compiled code uses it.

Two instances of a class have the same type if their descriptions are equal. A description contains the names
and types of attributes, and the names and values of constants.
"""

from __future__ import annotations

import inspect
import typing
import warnings
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, Final

from ts import dtypes
from ts._core.dispatch.overrides import Overridable
from ts._core.tensor.tensor import Tensor
from ts._core.value.build_lock import build_lock
from ts.devices import device as Device
from ts.errors import FrontendError
from ts.frontend import classes, naming
from ts.frontend.annotations import to_type
from ts.frontend.compile_directives import Attribute, modifier_of
from ts.frontend.infer import TypeInferenceError, builtin_number_class, infer_type
from ts.frontend.overloads import overloads_of_method
from ts.frontend.resolve import Resolver
from ts.frontend.weak_side_table import EnumerableWeakSideTable
from ts.ir.object_attributes import has_attribute, module_of
from ts.ir.types import BOOL, NONE, TENSOR, InterfaceType, ModuleType, Property, Type
from ts.module_names import own_name, torch_name
from ts.ops import registry

# Attributes of `Module` that exist in every instance and that scripts cannot use.
_INTERNAL: Final = frozenset({
    "_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "_forward_hooks",
    "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_is_full_backward_hook",
    "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
    "_version", "dump_patches", "_object", "_definitions", "__annotations__",
})  # fmt: skip
_CONSTANTS: Final = (bool, float, int, str, complex, type(None), Device, dtypes.layout, dtypes.dtype)
_CONSTANT_NAMES: Final = (
    "{bool, float, int, str, NoneType, torch.device, torch.layout, torch.dtype, torch.qscheme}"
)

_compile_function: Callable[..., Any] | None = None
_concrete_modules: EnumerableWeakSideTable[list[ConcreteModule]] = EnumerableWeakSideTable("modules")


def install(compile_function: Callable[..., Any]) -> None:
    """Set the function that compiles Python functions stored as attributes of modules."""
    global _compile_function
    _compile_function = compile_function


class ConcreteModule:
    """Static description of module instances, which is common to all instances of one type."""

    pre_hooks: tuple[Any, ...] = ()  # functions called before `forward`, in order
    hooks: tuple[Any, ...] = ()  # functions called after `forward`
    # "list", "dict", "parameter list" or "parameter dict", or None if the module is no container
    container: str | None = None

    def __init__(self, python_class: type, *, compiled: bool = False, traced: bool = False) -> None:
        self.python_class = python_class
        self.compiled = compiled
        self.traced = traced  # True if `forward` is a trace, which has no source to compile
        self.attributes: dict[str, Type] = {}  # attribute name -> type, in the order of an object's slots
        self.parameters: list[str] = []
        self.buffers: list[str] = []
        self.submodules: dict[str, ConcreteModule] = {}
        self.constants: dict[str, object] = {}
        self.functions: dict[str, Any] = {}  # attribute name -> scripted function
        # attribute name -> function that Python executes and scripts call
        self.python_functions: dict[str, Any] = {}
        self.failed: dict[str, str] = {}  # attribute name -> reason why the attribute has no type
        self.ignored: set[str] = set()
        # method name -> function that was assigned to the instance and replaces the method of the class
        self.overrides: dict[str, Any] = {}
        self.type: ModuleType = None  # type: ignore[assignment]  # set by `concrete_module`

    def same_as(self, other: ConcreteModule) -> bool:
        """Return whether this description equals `other`, so that modules with the two can have one type."""
        return (
            list(self.attributes.items()) == list(other.attributes.items())
            and self.parameters == other.parameters
            and self.buffers == other.buffers
            and self.failed.keys() == other.failed.keys()
            and self.pre_hooks == other.pre_hooks
            and self.hooks == other.hooks
            and _identical(self.overrides, other.overrides)
            and _identical(self.submodules, other.submodules)
            and _identical(self.functions, other.functions)
            and _identical(self.python_functions, other.python_functions)
            and _same_constants(self.constants, other.constants)
        )

    # ---- declaration of methods ----------------------------------------------------------------------

    def method(self, name: str) -> Any | None:
        """Return method `name`. The first call for a name declares the method.

        Return None if the class has no such function or the function is excluded from compilation.
        """
        method = self.type.methods.get(name)
        if method is not None:
            return method
        function = self.python_function(name)
        if function is None or name in self.ignored:
            return None
        with build_lock():
            return self.type.methods.get(name) or self.declare(name, function)

    def declare(self, name: str, function: Any, declaration: Any = None) -> Any:
        """Declare method `name`, with `function` as implementation.

        If the method is an overload, `declaration` is the function that declares its types.
        """
        if declaration is None:
            return classes.declare_method(self.type, self.python_class, name, function)
        return classes.declare_overload(self.type, self.python_class, name, function, declaration)

    def python_function(self, name: str) -> Any | None:
        """Return the Python function that defines a method, or None."""
        if self.traced and name == "forward":
            return None
        if name in self.overrides:
            return self.overrides[name]
        member = inspect.getattr_static(self.python_class, name, None)
        # A class method is compiled as a method: its first parameter is the module
        if isinstance(member, classmethod):
            member = member.__func__
        return member if isinstance(member, FunctionType) else None

    def is_static(self, name: str) -> bool:
        """Return whether the Python class defines `name` as a static method."""
        return isinstance(inspect.getattr_static(self.python_class, name, None), staticmethod)

    def overloads(self, name: str) -> list[Any]:
        """Return the methods for all declarations of an overloaded method, in order."""
        declarations = overloads_of_method(self.python_class, name)
        methods = []
        for i, declaration in enumerate(declarations):
            variant = f"{name}__{i}"
            method = self.type.methods.get(variant)
            methods.append(method or self.declare(variant, self.python_function(name), declaration))
        return methods

    def entry_points(self) -> Iterator[Any]:
        """Yield the methods that scripting a module compiles: `forward`, exports, properties, hooks."""
        names = []
        forward = self.python_function("forward")
        if forward is not None and not _is_abstract(forward) and modifier_of(forward) is None:
            names.append("forward")
        for name in dir(self.python_class):
            function = self.python_function(name)
            if function is not None and modifier_of(function) == "export":
                names.append(name)
        for name in names:
            variants = self.overloads(name)
            yield from variants or [self.method(name)]
        for prop in self.type.properties.values():
            yield prop.getter
            if prop.setter is not None:
                yield prop.setter
        for hook in (*self.pre_hooks, *self.hooks):
            yield self.type.methods[hook.__name__]

    def declare_hooks(self) -> None:
        """Declare the forward hooks as methods. Raise RuntimeError for duplicate names."""
        for kind, hooks in (("Pre-hook", self.pre_hooks), ("Hook", self.hooks)):
            functions: dict[str, Any] = {}
            for hook in hooks:
                if functions.setdefault(hook.__name__, hook) is not hook:
                    raise RuntimeError(
                        f"{kind} '{hook.__name__}' on {self.python_class.__name__} has at least two "
                        "different python definitions. Please use unique names for all hooks."
                    )
            for name, hook in functions.items():
                # The function is also a forward pre-hook, and was declared as a pre-hook.
                if hook in self.pre_hooks and name in self.type.methods:
                    continue
                if name in self.type.methods or self.python_function(name) not in (None, hook):
                    raise RuntimeError(
                        f"Can't define hook: {name} on class: {self.type.annotation_str} because a method or "
                        "hook with that name already exists."
                    )
                self.declare(name, hook)

    def declare_properties(self) -> None:
        """Declare the properties of the class, except unused and ignored ones."""
        unused = {
            name
            for base in self.python_class.__mro__
            for name in vars(base).get("__jit_unused_properties__", ())
        }
        for name, member in inspect.getmembers(self.python_class, lambda m: isinstance(m, property)):
            if name in unused or name in self.ignored or modifier_of(member.fget) is not None:
                continue
            getter = self.declare(f"__{name}_getter", member.fget)
            setter = None
            if member.fset is not None and modifier_of(member.fset) is None:
                setter = self.declare(f"__{name}_setter", member.fset)
            self.type.properties[name] = Property(getter, setter)


def _identical(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return list(a) == list(b) and all(a[name] is b[name] for name in a)


def _same_constants(a: dict[str, object], b: dict[str, object]) -> bool:
    return a.keys() == b.keys() and all(_same_constant(a[name], b[name]) for name in a)


def _same_constant(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same_constant, a, b))
    return a is b or bool(a == b)


def _is_abstract(forward: FunctionType) -> bool:
    """Return whether `forward` is the unimplemented default of `Module`."""
    return forward.__qualname__ == "Module.forward" and own_name(module_of(forward)) == "ts.nn.modules.module"


# ---- description of an instance --------------------------------------------------------------------


def concrete_module(
    instance: Any, share_types: bool = True, traced: bool = False, enclosing: tuple[Any, ...] = ()
) -> ConcreteModule:
    """Return the description of a module instance.

    share_types    return the description of an earlier instance if it is equal, so that both have one type
    traced         omit hooks from the description
    enclosing      modules that contain `instance`

    Raise RuntimeError if a module contains itself, or has uninitialized parameters.
    """
    existing_description = getattr(instance, "_concrete", None)
    if isinstance(existing_description, ConcreteModule):
        return existing_description
    cls = type(instance)
    if any(instance is outer for outer in enclosing):
        raise RuntimeError(f"a module of class '{cls.__name__}' contains itself, which is not supported")
    if "_parameters" not in instance.__dict__:
        raise RuntimeError(
            f"'{cls.__name__}' object has no attribute '_parameters': super().__init__() was not called"
        )
    unknown = getattr(instance, "has_uninitialized_params", None)
    if unknown is not None and unknown():
        name = f"{torch_name(module_of(cls))}.{cls.__qualname__}"
        raise RuntimeError(f"'{name}' has uninitialized parameters. Did you forget to run a forward pass?")
    concrete = _Description(instance, share_types, traced, enclosing).concrete
    existing = _concrete_modules.get(cls) or []
    _concrete_modules[cls] = existing
    if share_types:
        for other in existing:
            if other.same_as(concrete):
                return other
    name = naming.unique_name(naming.qualified_name(cls))
    concrete.type = ModuleType(name, concrete.attributes)
    concrete.type.concrete = concrete
    concrete.type.python_class = cls
    concrete.type.constants = dict(concrete.constants)
    if not traced or has_exports(instance):
        concrete.declare_properties()
    concrete.declare_hooks()
    if share_types:
        existing.append(concrete)
    return concrete


def has_exports(instance: Any) -> bool:
    """Return whether the class has a method marked `export`."""
    members = (inspect.getattr_static(instance, name, None) for name in dir(type(instance)))
    return any(modifier_of(member) == "export" for member in members if isinstance(member, FunctionType))


def forget(concrete: ConcreteModule) -> None:
    """Remove description `concrete` from the cache, because its methods do not compile."""
    descriptions = _concrete_modules.get(concrete.python_class) or []
    if concrete in descriptions:
        descriptions.remove(concrete)


def clear_shared_types() -> None:
    """Clear the cache of descriptions, so that later instances do not share types with earlier ones."""
    for cls in _concrete_modules.keys():  # noqa: SIM118
        _concrete_modules.forget(cls)


class _Description:
    """Builder of the description of a module instance."""

    def __init__(self, instance: Any, share_types: bool, traced: bool, enclosing: tuple[Any, ...]) -> None:
        cls = type(instance)
        self.instance = instance
        self.enclosing = (*enclosing, instance)
        self.share_types = share_types
        self.concrete = ConcreteModule(cls, traced=traced)
        self.concrete.container = getattr(cls, "_ts_container", None)
        self.concrete.ignored = set(getattr(instance, "__jit_ignored_attributes__", ()))
        self.concrete.ignored |= {
            name for name, m in vars(cls).items() if isinstance(m, property) and m.fget is None
        }
        self.annotations: dict[str, Any] = getattr(instance, "__annotations__", {})
        self.resolver = _resolver(cls)
        final = {name for name, annotation in self.annotations.items() if self._is_final(annotation)}
        self.constants = {*getattr(cls, "__constants__", ()), *final}
        self._parameters()
        self._submodules()
        if traced and not has_exports(instance):
            self.concrete.attributes["training"] = BOOL
            return
        self._constants()
        self._add_remaining_attributes()
        if traced:  # the trace of `forward` already contains the nodes of the hooks
            return
        self.concrete.pre_hooks = tuple(h.function for h in instance._forward_pre_hooks.values())
        self.concrete.hooks = tuple(h.function for h in instance._forward_hooks.values())

    def _is_final(self, annotation: Any) -> bool:
        if isinstance(annotation, str):
            return annotation.split("[")[0].rpartition(".")[2] == "Final"
        return annotation is typing.Final or typing.get_origin(annotation) is typing.Final

    def _annotated(self, name: str) -> Type | None:
        """Return the type that the class annotates for attribute `name`, or None."""
        annotation = self.annotations.get(name)
        if annotation is None or self._is_final(annotation):
            return None
        return to_type(annotation, self.resolver)

    def _names_module(self, name: str) -> bool:
        """Return whether attribute `name` is annotated with a module class.

        The type of such an attribute is the type of the module instance that it holds. The annotation is
        ignored.
        """
        annotation = self.annotations[name]
        if isinstance(annotation, str) and annotation.isidentifier():
            try:
                annotation = self.resolver.lookup(annotation)
            except KeyError:
                return False
        if not isinstance(annotation, type) or classes.ATTRIBUTE in vars(annotation):
            return False  # the class is an interface, which is the type of the attribute
        return any(own_name(module_of(base)) == "ts.nn.modules.module" for base in annotation.__mro__)

    def _type_of(self, name: str, value: Any) -> Type:
        """Return the annotated or inferred type of an attribute. Raise TypeInferenceError without a type."""
        annotated = self._annotated(name)
        if annotated is not None:
            return annotated
        if isinstance(value, Attribute):
            return to_type(value.type, self.resolver)
        return infer_type(value)

    def _parameters(self) -> None:
        for table, names in (("_parameters", self.concrete.parameters), ("_buffers", self.concrete.buffers)):
            for name, value in getattr(self.instance, table).items():
                if name in self.concrete.ignored or (value is None and self.concrete.traced):
                    continue
                names.append(name)
                # In a traced module, parameters and buffers are tensors, even if annotated as Optional.
                type = TENSOR if self.concrete.traced else self._type_of(name, value)
                self.concrete.attributes[name] = type

    def _submodules(self) -> None:
        for name, module in self.instance._modules.items():
            if name in self.concrete.ignored:
                continue
            if module is None and self.concrete.traced:
                continue
            annotated = None
            if name in self.annotations and not (module is not None and self._names_module(name)):
                annotated = self._annotated(name)
            if module is None and annotated is None:
                self.concrete.attributes[name] = NONE
                continue
            if module is not None:
                submodule = concrete_module(module, self.share_types, self.concrete.traced, self.enclosing)
                if isinstance(annotated, InterfaceType):
                    _check_interface_methods(module, annotated)
                    self.concrete.attributes[name] = annotated
                else:
                    self.concrete.attributes[name] = submodule.type
                    self.concrete.submodules[name] = submodule
            elif annotated is not None:
                self.concrete.attributes[name] = annotated

    def _constants(self) -> None:
        for name in sorted(self.constants):
            if name in self.concrete.attributes:
                kind = (
                    "submodule" if name in self.concrete.submodules
                    else "parameter" if name in self.concrete.parameters
                    else "buffer"
                )  # fmt: skip
                warnings.warn(
                    f"'{name}' was found in ScriptModule constants,  but it is a non-constant {kind}. "
                    "Consider removing it.",
                    stacklevel=2,
                )
                continue
            if not has_attribute(self.instance, name):
                warnings.warn(
                    f"'{name}' was found in ScriptModule constants, but was not actually set in __init__. "
                    "Consider removing it.",
                    stacklevel=2,
                )
                continue
            value = getattr(self.instance, name)
            self.concrete.constants[name] = _constant(name, value, type(self.instance).__name__)

    def _add_remaining_attributes(self) -> None:
        concrete = self.concrete
        for name, value in self.instance.__dict__.items():
            if name in _INTERNAL or name in concrete.ignored or name in self.constants:
                continue
            if name in concrete.attributes:
                continue
            if inspect.ismethod(value) and value.__self__ is self.instance:
                concrete.overrides[name] = value.__func__
                continue
            if isinstance(value, Overridable):
                value = value.__wrapped__
            if inspect.isfunction(value):
                self._function(name, value)
                continue
            if has_attribute(type(value), "ensure_compiled"):
                concrete.functions[name] = value
                continue
            if type(value).__name__ in ("OverloadSet", "OpOverload") or _is_operator(value):
                concrete.python_functions[name] = value
                continue
            try:
                concrete.attributes[name] = self._type_of(name, value)
            except TypeInferenceError as reason:
                concrete.failed[name] = (
                    "(This attribute exists on the Python module, but we failed to convert Python type: "
                    f"'{_type_name(value)}' to a TorchScript type. {reason}. Its type was inferred; try "
                    "adding a type annotation for the attribute.)"
                )

    def _function(self, name: str, function: Any) -> None:
        assert _compile_function is not None
        if modifier_of(function) is not None or getattr(function, "__ts_boolean_dispatch__", None):
            self.concrete.python_functions[name] = function
            return
        try:
            self.concrete.functions[name] = _compile_function(function)
        except (FrontendError, OSError, TypeError) as error:
            self.concrete.failed[name] = (
                "(This function exists as an attribute on the Python module, but we failed to compile it to "
                f"a TorchScript function. \nThe error stack is reproduced here:\n{error}"
            )


def _check_interface_methods(module: Any, interface: InterfaceType) -> None:
    """Raise AttributeError if `module` lacks a method of `interface`.

    `module` is the value of an attribute, and `interface` is the annotated type of the attribute.
    """
    concrete = getattr(module, "_concrete", None)
    methods = concrete.type.methods if isinstance(concrete, ConcreteModule) else ()
    for name in interface.methods:
        if name not in methods and not has_attribute(module, name):
            raise AttributeError(f"'{type(module).__name__}' object has no attribute '{name}'")


def _is_operator(value: Any) -> bool:
    """Return whether a Python builtin such as `math.sqrt` is an operator."""
    return inspect.isbuiltin(value) and bool(registry.lookup(f"aten::{value.__name__}"))


def _type_name(value: object) -> str:
    cls = type(value)
    return cls.__name__ if module_of(cls) == "builtins" else f"{module_of(cls)}.{cls.__qualname__}"


def _constant(name: str, value: Any, owner: str) -> object:
    """Convert a value to a module constant. Raise TypeError for unsupported types."""
    if isinstance(value, (*_CONSTANTS, Tensor)):
        base = builtin_number_class(value)
        return value if base is None or isinstance(value, bool) else base(value)
    if isinstance(value, tuple):
        return tuple(_constant(name, element, owner) for element in tuple.__iter__(value))
    if isinstance(value, list):
        return tuple(_constant(name, element, owner) for element in value)
    raise TypeError(
        f"\n'{_type_name(value)}' object in attribute '{owner}.{name}' is not a valid constant.\n"
        "Valid constants are:\n1. a nn.ModuleList\n2. a value of type "
        f"{_CONSTANT_NAMES}\n3. a list or tuple of (2)\n"
    )


def _resolver(cls: type) -> Resolver:
    """Return a resolver for the names in annotations of class `cls`."""
    import sys

    for member in vars(cls).values():
        if isinstance(member, FunctionType):
            return Resolver.of_function(member)
    module = sys.modules.get(module_of(cls))
    return Resolver({} if module is None else vars(module))
