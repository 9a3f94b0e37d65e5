"""Scripted modules, the result of `ts.jit.script` for an instance of `ts.nn.Module`.

A scripted module is a `RecursiveScriptModule`. Its attributes are stored in a script object. Python and
compiled code therefore see each other's assignments:

    scripted = ts.jit.script(net)
    scripted(x)                                    runs the compiled `forward`
    scripted.graph, scripted.code                  graph and code of `forward`
    scripted.method.graph                          graph of another method
    scripted.weight, scripted.layers[0]            attributes of the script object
    scripted.train(), scripted.state_dict()        methods of `nn.Module`

An instance of a class that inherits from `ScriptModule` is also a scripted module.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from functools import partial
from types import FunctionType
from typing import Any, Final
from weakref import WeakValueDictionary

from ts._core.value.build_lock import build_lock
from ts._core.value.ivalue import new_object, object_get, object_set
from ts._core.value.objects import Object
from ts.bytecode.typespec import object_class
from ts.errors import FrontendError, missing_attribute
from ts.frontend import classes, modules, parse
from ts.frontend.compile_directives import Attribute, modifier_of
from ts.frontend.error_aggregation import hide_internal_frames
from ts.frontend.hook_signatures import check_hook_signatures
from ts.frontend.modules import ConcreteModule
from ts.frontend.resolve import Resolver
from ts.ir.graph import Graph
from ts.ir.types import ModuleType
from ts.module_names import own_name
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter
from ts.runtime.deepcopy import deep_copy
from ts.runtime.function import compile_function
from ts.runtime.jit_enabled import enabled
from ts.runtime.module_handle import ModuleHandle
from ts.runtime.objects import assign
from ts.runtime.script_method import ConstMap, OverloadedScriptMethod, ScriptMethod, ScriptMethodMarker

modules.install(compile_function)

# Id of a script object -> the `ScriptModule` that wraps the object
_wrappers: WeakValueDictionary[int, ScriptModule] = WeakValueDictionary()


class _Slots(MutableMapping[str, Any]):
    """Mapping from names to values of some slots of a script object, used as `_parameters` and `_buffers`."""

    def __init__(self, owner: Object, names: list[str]) -> None:
        self.owner = owner
        self.slots = {name: owner.cls.slot(name) for name in names}

    def __getitem__(self, name: str) -> Any:
        return object_get(self.owner, self.slots[name])

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self.slots:
            raise _new_parameter_error(name)
        object_set(self.owner, self.slots[name], value)

    def __delitem__(self, name: str) -> None:
        raise _deletion_error(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.slots)

    def __len__(self) -> int:
        return len(self.slots)

    def __contains__(self, name: object) -> bool:
        return name in self.slots


def _new_parameter_error(name: str) -> RuntimeError:
    return RuntimeError(
        f"Can't add a new parameter after ScriptModule construction. Tried to add '{name}'; "
        "script the module again"
    )


def _deletion_error(name: str) -> RuntimeError:
    return RuntimeError(f"cannot delete methods or parameters of a script module: '{name}'")


def _compile_all(functions: Iterable[Any]) -> None:
    """Compile several scripted functions now. Raise one error that contains the errors of all of them."""
    from ts.frontend.compile import compile_all  # imported here: methods of archives compile at first calls

    compile_all(functions)


class _CompiledMethod:
    """Descriptor of a method.

    An access returns the compiled method for a compiled module, else the Python method.
    """

    def __init__(self, name: str, python: Callable[..., Any]) -> None:
        self.name = name
        self.python = python

    def __get__(self, module: Any, cls: type) -> Any:
        if module is None:
            return self
        done = module.__dict__.get("_object") is not None
        if done and (self.name == "forward" or self.name in module._concrete.type.methods):
            return module.__getattr__(self.name)
        return self.python.__get__(module, cls)


class ScriptModule(Module):
    """Module with compiled methods.

    In subclasses, methods that are marked by `script_method` are compiled when `__init__` returns.

        class Net(ts.jit.ScriptModule):
            def __init__(self):
                super().__init__()
                self.weight = ts.nn.Parameter(ts.rand(2))

            @ts.jit.script_method
            def forward(self, x):
                return x * self.weight
    """

    _object: Object | None
    _concrete: ConcreteModule
    _script_methods: dict[str, Any] = {}
    __jit_unused_properties__ = ("original_name", "graph", "inlined_graph", "code", "code_with_constants")

    forward = _CompiledMethod("forward", Module.forward)
    _save_to_state_dict = _CompiledMethod("_save_to_state_dict", Module._save_to_state_dict)
    _load_from_state_dict = _CompiledMethod("_load_from_state_dict", Module._load_from_state_dict)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if own_name(cls.__module__).startswith(("ts.runtime.", "ts.tracing.")):
            return
        inherited = dict(cls._script_methods)
        marked = {name: m for name, m in vars(cls).items() if isinstance(m, ScriptMethodMarker)}
        for name in marked:
            # The marker is removed from the class, so that an attribute access reaches `__getattr__`, which
            # finds the compiled method.
            delattr(cls, name)
        cls._script_methods = {**inherited, **{name: m.function for name, m in marked.items()}}
        own_init = vars(cls).get("__init__", cls.__init__)

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            own_init(self, *args, **kwargs)
            if type(self) is cls and enabled():
                _finish(self)

        __init__.__wrapped__ = own_init  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[method-assign]

    def __init__(self) -> None:
        object.__setattr__(self, "_object", None)
        super().__init__()

    # ---- attributes of scripted modules --------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        handle = self.__dict__.get("_object")
        if handle is None:
            return super().__getattr__(name)
        concrete = self._concrete
        if name in self.__dict__["_modules"]:
            return self.__dict__["_modules"][name]
        if name in concrete.type.attributes:
            return object_get(handle, handle.cls.slot(name))
        if name in concrete.constants:
            return concrete.constants[name]
        if name in concrete.type.properties:
            return ScriptMethod(self, concrete.type.properties[name].getter)()
        method = concrete.type.methods.get(name)
        if method is not None:
            return ScriptMethod(self, method)
        return self._of_class(name)

    def _of_class(self, name: str) -> Any:
        """Return the attribute `name` from outside of the script object, such as an ignored method or `plan`.

        Raise AttributeError for unknown names.
        """
        member = getattr(self._concrete.python_class, name, None)
        if isinstance(member, FunctionType):
            if modifier_of(member) in ("ignore", "unused"):
                return member.__get__(self)
            if self._concrete.overloads(name):
                return OverloadedScriptMethod(self, self._concrete.overloads(name))
        if name in self._concrete.functions:
            return self._concrete.functions[name]
        if name in self._concrete.python_functions:
            return self._concrete.python_functions[name]
        if name == "_c":  # PyTorch's private handle of the module
            return ModuleHandle(self)
        if name == "plan":  # no property, because modules may have an attribute `plan`
            return self._forward().plan
        raise missing_attribute(f"'{type(self).__name__}' object", name, lambda: dir(self))

    def __setattr__(self, name: str, value: Any) -> None:
        handle = self.__dict__.get("_object")
        if handle is None:
            if isinstance(value, Attribute):
                declared = {**getattr(self, "__annotations__", {}), name: value.type}
                object.__setattr__(self, "__annotations__", declared)
                value = value.value
            super().__setattr__(name, value)
            return
        concrete = self._concrete
        table = self.__dict__["_modules"]
        if isinstance(value, Module) or name in table:
            if not isinstance(value, ScriptModule):
                raise RuntimeError(
                    "Cannot re-assign modules in a ScriptModule with non-scripted module, tried to replace "
                    f"existing module '{name}': {value}"
                )
            if name not in table:
                raise RuntimeError(
                    f"{concrete.type.annotation_str} does not have an attribute with name '{name}'"
                )
            expected, actual = concrete.type.attributes[name], value._concrete.type
            if isinstance(expected, ModuleType) and actual is not expected:
                raise RuntimeError(
                    f"Expected a value of type '{expected.annotation_str}' for field '{name}', "
                    f"but found '{actual.annotation_str}'"
                )
            assign(handle, name, value._object)
            table[name] = value
        elif name in concrete.type.attributes:
            try:
                assign(handle, name, value)
            except RuntimeError as error:
                type = concrete.type.attributes[name].annotation_str
                raise RuntimeError(f"Could not cast attribute '{name}' to type {type}: {error}") from None
        elif name in concrete.constants:
            raise RuntimeError(f"Can't set constant '{name}' which has value:{concrete.constants[name]}")
        else:
            prop = concrete.type.properties.get(name)
            if prop is not None and prop.setter is not None:
                ScriptMethod(self, prop.setter)(value)
            elif isinstance(value, Parameter):
                raise _new_parameter_error(name)
            else:
                object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__.get("_modules", ()) and self.__dict__.get("_object") is not None:
            raise _deletion_error(name)
        super().__delattr__(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule. In a compiled module, only replace a submodule by one of the same type."""
        if self.__dict__.get("_object") is None:
            super().add_module(name, module)
        else:
            setattr(self, name, module)

    def _adopt(self, concrete: ConcreteModule, handle: Object, children: dict[str, ScriptModule]) -> None:
        """Use the compiled object `handle` for the attributes of this module."""
        own = self.__dict__
        for name in (*concrete.type.attributes, *concrete.constants):
            own.pop(name, None)
        if "training" not in concrete.type.attributes:  # frozen modules lack `training`, as in PyTorch
            own.pop("training", None)
        own["_concrete"] = concrete
        own["_object"] = handle
        own["_parameters"] = _Slots(handle, concrete.parameters)
        own["_buffers"] = _Slots(handle, concrete.buffers)
        own["_modules"] = children
        _wrappers[id(handle)] = self

    def _reconstruct(self, module: ScriptModule) -> None:
        """Make this module a wrapper of the script object of `module`.

        Methods marked as ignored stay callable.
        """
        cls = self._concrete.python_class
        for name in dir(cls):
            member = getattr(cls, name, None)
            if isinstance(member, FunctionType) and modifier_of(member) in ("ignore", "unused"):
                object.__setattr__(self, name, member.__get__(self))
        assert module._object is not None
        self._adopt(module._concrete, module._object, dict(module._modules))

    # ---- compiled methods ----------------------------------------------------------------------------

    @property
    def original_name(self) -> str:
        """Name of the original Python class."""
        return self._concrete.python_class.__name__

    @property
    def graph(self) -> Graph:
        """Graph of `forward`. Raises RuntimeError for modules without `forward`, such as containers."""
        if self.__dict__.get("_object") is not None and "forward" not in self._concrete.type.methods:
            raise RuntimeError("Method 'forward' is not defined.")
        return self._forward().graph

    @property
    def inlined_graph(self) -> Graph:
        """Graph of `forward` in which all calls are inlined."""
        return self._forward().inlined_graph

    @property
    def code(self) -> str:
        """Source text of `forward`."""
        return self._forward().code

    @property
    def code_with_constants(self) -> tuple[str, ConstMap]:
        """Source text of `forward`, and the constants that have no literal in the text."""
        return self._forward().code_with_constants

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the graph of `forward` that runs for the given arguments."""
        return self._forward().graph_for(*args, **kwargs)

    def _forward(self) -> ScriptMethod:
        return self.forward  # type: ignore[no-any-return]

    def define(self, src: str) -> None:
        """Compile methods from source text and add them. Methods may use each other and all attributes."""
        definitions = parse.module_defs(src, Resolver.of_frame(1))
        if self.__dict__.get("_object") is None:  # `__init__` is running: compile the definitions later
            self.__dict__.setdefault("_definitions", []).extend(definitions)
            return
        for definition in definitions:
            if definition.name in self._concrete.type.methods:
                name = self._concrete.type.annotation_str
                raise RuntimeError(f"Can't redefine method: {definition.name} on class: {name}")
        added = [
            classes.declare_method_from_source(self._concrete.type, definition) for definition in definitions
        ]
        try:
            _compile_all(added)
        except FrontendError as error:
            raise hide_internal_frames(error) from error.__cause__

    def get_debug_state(self) -> Any:
        """Return the executed graph and the execution plans of `forward`."""
        return self._forward().get_debug_state()

    def save(self, f: Any, _extra_files: Any = None) -> None:
        """Save the module to a path or a file, as `ts.jit.save` does."""
        from ts.archive.module_writer import write

        write(self.archived(), f, _extra_files)

    def save_to_buffer(self, _extra_files: Any = None) -> bytes:
        """Return the module's archive as bytes."""
        from ts.archive.module_writer import to_bytes

        return to_bytes(self.archived(), _extra_files)

    def archived(self) -> Object:
        """Return the script object of the module, for archives."""
        if self._object is None and type(self) is ScriptModule:
            _finish(self)
        if self._object is None:
            raise RuntimeError("cannot save the module before its `__init__` has returned")
        return self._object

    def copy(self) -> ScriptModule:
        """Return a copy with the same attribute values and copied submodules. The copy shares all tensors."""
        return _copy_module(self, ScriptModule.copy, lambda value: value)

    def __copy__(self) -> ScriptModule:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptModule:
        copied = _copy_module(self, partial(copy.deepcopy, memo=memo), partial(deep_copy, memo=memo))
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle the archive of the module, and Python attributes that are not in the archive."""
        extra_attributes = {
            name: self.__dict__[name] for name in self.__dict__.keys() - _OWN - _MODULE_ATTRIBUTES
        }
        return unpickled_module, (self.save_to_buffer(), extra_attributes)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `forward`, and the compiled hooks before and after it."""
        handle = self.__dict__.get("_object")
        if handle is None or not (self._concrete.pre_hooks or self._concrete.hooks):
            return super().__call__(*args, **kwargs)
        methods = self._concrete.type.methods
        for hook in self._concrete.pre_hooks:
            changed = methods[hook.__name__](handle, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = super().__call__(*args, **kwargs)
        for hook in self._concrete.hooks:
            changed = methods[hook.__name__](handle, args, result)
            if changed is not None:
                result = changed
        return result

    def __dir__(self) -> list[str]:
        names = set(super().__dir__())
        if self.__dict__.get("_object") is not None:
            concrete = self._concrete
            names |= {*dir(concrete.python_class), *concrete.attributes, *concrete.type.methods}
        return sorted(names)

    def extra_repr(self) -> str:
        """Return the text that `repr` shows: the name of the original class."""
        return f"original_name={self.original_name}" if "_concrete" in self.__dict__ else ""

    # ---- special methods and container methods -------------------------------------------------------

    def __len__(self) -> int:
        if self._concrete.container is not None:
            return len(self._entries())
        return self._magic("__len__")()  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Any]:
        container = self._concrete.container
        if container is None:
            return self._magic("__iter__")()  # type: ignore[no-any-return]
        return iter(self._entries() if container.endswith("dict") else list(self._entries().values()))

    def __getitem__(self, key: Any) -> Any:
        container = self._concrete.container
        if container is None:
            return self._magic("__getitem__")(key)
        return self._entries()[key] if container.endswith("dict") else list(self._entries().values())[key]

    def __contains__(self, key: object) -> bool:
        if self._concrete.container is None:
            return self._magic("__contains__")(key)  # type: ignore[no-any-return]
        return key in self._entries()

    def __bool__(self) -> bool:
        return True

    def _entries(self) -> dict[str, Any]:
        own = self.__dict__["_modules"]
        return dict(own or self.__dict__["_parameters"])

    def keys(self) -> Any:
        """Return the keys of a scripted ModuleDict or ParameterDict."""
        return self._entries().keys()

    def values(self) -> Any:
        """Return the values of a scripted ModuleDict or ParameterDict."""
        return self._entries().values()

    def items(self) -> Any:
        """Return the (key, value) pairs of a scripted ModuleDict or ParameterDict."""
        return self._entries().items()

    def _magic(self, name: str) -> Any:
        method = self._concrete.type.methods.get(name)
        if method is None:
            raise NotImplementedError(f"{self.original_name} has no compiled method {name}")
        return ScriptMethod(self, method)


class RecursiveScriptModule(ScriptModule):
    """Scripted module created from a module that is not a `ScriptModule`."""

    def __init__(self, concrete: ConcreteModule, handle: Object, children: dict[str, ScriptModule]) -> None:
        super().__init__()
        self._adopt(concrete, handle, children)


# ---- construction of scripted modules --------------------------------------------------------------


def script_module(instance: Module) -> ScriptModule:
    """Return the scripted module for a module."""
    if "_parameters" not in instance.__dict__:
        cls = type(instance)
        raise RuntimeError(
            f"'{cls.__module__}.{cls.__qualname__}' has not been initialized, "
            "did you forget to call 'super()'?"
        )
    if isinstance(instance, ScriptModule) and instance._object is not None:
        return instance
    with build_lock():
        instance = prepared(instance, {})
        concrete = modules.concrete_module(instance)
        created = _make(instance, concrete)
        compile_entry_points(concrete)
    return created


def scripted_with(instance: Module, methods: Iterable[str], share_types: bool) -> ScriptModule:
    """Return the scripted module for `instance`, of which only the methods in `methods` are compiled.

    Submodules are scripted as `script` does it, with their usual methods.
    """
    with build_lock():
        instance = prepared(instance, {})
        concrete = modules.concrete_module(instance, share_types)
        created = _make(instance, concrete)
        for submodule in concrete.submodules.values():
            compile_entry_points(submodule)
        _compile_all(concrete.method(name) for name in methods)
    return created


def entry_points(instance: Module) -> list[str]:
    """Return the names of the methods that `script` compiles for a module."""
    concrete = modules.concrete_module(instance, share_types=False)
    return [method.name for method in concrete.entry_points()]


def prepared(instance: Any, seen: dict[int, Any]) -> Any:
    """Return `instance`, or its replacement if it has a method `__prepare_scriptable__`.

    Submodules are replaced recursively. `seen` maps ids of visited modules to their replacements.
    """
    if id(instance) in seen:
        return seen[id(instance)]
    replace = getattr(instance, "__prepare_scriptable__", None)
    replacement = seen[id(instance)] = instance if replace is None else replace()
    if not isinstance(replacement, ScriptModule):
        for name, module in replacement._modules.items():
            if module is not None:
                replacement._modules[name] = prepared(module, seen)
    return replacement


def module_type(module: ScriptModule) -> ModuleType:
    """Return the script type of a module."""
    return module._concrete.type


def _make(instance: Any, concrete: ConcreteModule, cls: Any = RecursiveScriptModule) -> ScriptModule:
    """Create the script objects for a module and its submodules, and return the scripted module."""
    if isinstance(instance, ScriptModule) and instance._object is not None:
        return instance
    handle, children = object_tree(instance, concrete, cls)
    return cls(concrete, handle, children)  # type: ignore[no-any-return]


def object_tree(
    instance: Any, concrete: ConcreteModule, cls: Any = RecursiveScriptModule
) -> tuple[Object, dict[str, ScriptModule]]:
    """Create the script object of a module. Return the object, and the scripted submodules of class `cls`."""
    handle = new_object(object_class(concrete.type))
    children: dict[str, ScriptModule] = {}
    for slot, (name, type) in enumerate(concrete.type.attributes.items()):
        value = getattr(instance, name)
        if isinstance(value, Module):
            submodule = concrete.submodules.get(name) or modules.concrete_module(value)
            children[name] = _make(value, submodule, cls)
            value = children[name]._object
        if isinstance(value, Attribute):
            value = value.value
        try:
            object_set(handle, slot, value)
        except TypeError as error:
            raise RuntimeError(
                f"Could not cast attribute '{name}' to type {type.annotation_str}: {error}"
            ) from None
    return handle, children


def compile_entry_points(concrete: ConcreteModule) -> None:
    """Compile the entry points (`forward`, exported methods, hooks) of a module and of its submodules."""
    with build_lock():
        pending = _mark_compiled(concrete)
        try:
            # Modules with hooks come first. The signatures of their hooks are thus checked before calls of
            # these modules are compiled, because errors in the calls would be less clear.
            for each in pending:
                if each.pre_hooks or each.hooks:
                    _compile_all(each.entry_points())
                    check_hook_signatures(each)
            _compile_all(method for each in pending for method in each.entry_points())
        except BaseException:
            for each in pending:
                each.compiled = False
                modules.forget(each)
            raise


def _mark_compiled(concrete: ConcreteModule) -> list[ConcreteModule]:
    """Mark a module and its submodules as compiled. Return the newly marked ones, submodules first."""
    if concrete.compiled:
        return []
    concrete.compiled = True
    submodules = [each for submodule in concrete.submodules.values() for each in _mark_compiled(submodule)]
    return [*submodules, concrete]


def _finish(module: ScriptModule) -> None:
    """Compile `module`, an instance of a ScriptModule subclass, when its `__init__` returns."""
    with build_lock():
        _finish_script_module(module)


def _finish_script_module(module: ScriptModule) -> None:
    definitions = module.__dict__.pop("_definitions", [])
    concrete = modules.concrete_module(module, share_types=not definitions)
    handle, children = object_tree(module, concrete)
    for definition in definitions:
        classes.declare_method_from_source(concrete.type, definition)
    for name, function in type(module)._script_methods.items():
        if name not in concrete.type.methods:
            concrete.declare(name, function)
    module._adopt(concrete, handle, children)
    try:
        for submodule in concrete.submodules.values():
            compile_entry_points(submodule)
        _compile_all(list(concrete.type.methods.values()))
    except FrontendError as error:
        modules.forget(concrete)
        raise hide_internal_frames(error) from error.__cause__


def unpickled_module(data: bytes, extra_attributes: dict[str, Any]) -> ScriptModule:
    """Unpickle a scripted module."""
    from ts.archive.module_reader import read
    from ts.frontend.load_policy import UNRESTRICTED

    created = module_of(read(io.BytesIO(data), policy=UNRESTRICTED))
    created.__dict__.update(extra_attributes)
    return created


def _copy_module(
    module: ScriptModule,
    copy_submodule: Callable[[ScriptModule], ScriptModule],
    convert: Callable[[Any], Any],
) -> ScriptModule:
    """Return a copy of `module`: `copy_submodule` copies its submodules, and `convert` its other values."""
    concrete = module._concrete
    assert module._object is not None
    handle = new_object(module._object.cls)
    children = {name: copy_submodule(child) for name, child in module.__dict__["_modules"].items()}
    for slot, name in enumerate(module._object.cls.names):
        if name in children:
            object_set(handle, slot, children[name]._object)
        else:
            object_set(handle, slot, convert(object_get(module._object, slot, False)))
    created = RecursiveScriptModule(concrete, handle, children)
    for name, value in module.__dict__.items():
        if name not in created.__dict__ and name not in _OWN:
            created.__dict__[name] = convert(value)
    return created


_OWN: Final = frozenset({"_concrete", "_object", "_parameters", "_buffers", "_modules"})
_MODULE_ATTRIBUTES: Final = frozenset(vars(Module()))


def module_of(handle: Object) -> ScriptModule:
    """Return the scripted module of a script object. If it does not exist yet, create it."""
    with build_lock():
        existing = _wrappers.get(id(handle))
        if existing is not None:
            return existing
        concrete = handle.cls.type.concrete
        children = {name: object_get(handle, handle.cls.slot(name)) for name in concrete.submodules}
        return RecursiveScriptModule(concrete, handle, children)


def method_names(module: ScriptModule) -> list[str]:
    """Return the names of the compiled methods of a module."""
    return list(module._concrete.type.methods)
