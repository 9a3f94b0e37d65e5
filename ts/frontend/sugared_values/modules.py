"""Modules in expressions: `self`, submodules, and the containers that are known at compile time.

For a module `self`, expressions (left) become nodes (right):

    self.weight             %weight = prim::GetAttr[name="weight"](%self)
    self.steps              a constant, if `steps` is a constant of the module
    self.linear(x)          prim::CallMethod[name="forward"](%linear, %x)
    for m in self.layers    the body, emitted once per submodule
    self.layers[1]          prim::GetAttr[name="1"](%layers)
    self.heads["a"]         prim::GetAttr[name="a"](%heads)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ts.errors import CompilationError, FrontendError
from ts.frontend import hints
from ts.frontend.compile_directives import modifier_of
from ts.frontend.error_aggregation import compilation
from ts.frontend.modules import ConcreteModule
from ts.frontend.schema_matching import Actual, emit_builtin_call, match_schemas, unpack_tuple
from ts.frontend.sugared_values.classes import MethodValue
from ts.frontend.sugared_values.sugared import (
    FunctionValue,
    Kwargs,
    SimpleValue,
    SugaredTuple,
    SugaredValue,
    insert_actual,
)
from ts.ir.object_attributes import has_attribute
from ts.ir.source import SourceRange
from ts.ir.types import INT, NONE, STR, ModuleType, TupleType, Type, why_not_implemented
from ts.ir.value import Value

if TYPE_CHECKING:
    from ts.frontend.ir_emitter.emitter import Emitter

_NO_MODULE: Final = "Cannot infer concrete type of torch.nn.Module"  # error for a plain list of modules


_BY_INTERFACE: Final = (
    "declare the methods that all of them have as an interface, and write `layer: Interface = self.layers[i]`"
)


class ModuleValue(SugaredValue):
    """Module object as a sugared value, with the static description of its type."""

    kind = "module"

    receiver: Any

    def __init__(self, value: Value) -> None:
        self.receiver = value
        type: Any = value.type()
        self.type = type
        self.concrete: ConcreteModule = type.concrete

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Return the graph value of the module object."""
        value: Value = self.receiver
        return value

    # ---- attributes and methods of modules -----------------------------------------------------------

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return a submodule, parameter, attribute or method. Raise CompilationError for other names."""
        member = self.find(em, range, name)
        if member is not None:
            return member
        reason = "" if self.concrete is None else self.concrete.failed.get(name, "")
        python_class = self.type.python_class
        hint = "" if reason else hints.similar(name, [*self.type.attributes, *dir(python_class)])
        if not reason and has_attribute(python_class, name):
            hint = hints.class_attribute(name)
        if _NO_MODULE in reason:
            hint = "put modules into a ts.nn.ModuleList or a ts.nn.ModuleDict"
        # `name` is a magic method such as `__add__`: the program uses an operator that the class lacks.
        if name.startswith("__") and name.endswith("__"):
            raise CompilationError(
                f"'{self.type.repr_str}' object has no attribute or method '{name}'. Did you forget to "
                "initialize an attribute in __init__()?",
                range,
                hint,
            )
        raise CompilationError(f"Module '{self.type.name()}' has no attribute '{name}' {reason}", range, hint)

    def find(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue | None:
        """Resolve an attribute, method or property. Return None if the module does not have it."""
        type = self.type
        if name in type.attributes:
            return self.slot(em, name)
        if name in type.methods:
            return MethodValue(self.receiver, name)
        if name in type.properties:
            getter = MethodValue(self.receiver, type.properties[name].getter.name)
            return getter.call(em, range, (), {}, 0)
        if self.concrete is None:
            return None
        return self._of_concrete(em, range, name)

    def slot(self, em: Emitter, name: str) -> SugaredValue:
        """Emit `prim::GetAttr` for one attribute and return its value."""
        type = self.type.attributes[name]
        output = em.insert("prim::GetAttr", (self.receiver,)).set("name", name).output()
        output.set_debug_name(f"_{name}" if name[0].isdigit() else name)
        output.set_type(type)
        if isinstance(type, ModuleType):
            return ModuleValue(output)
        return SimpleValue(output)

    def _of_concrete(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue | None:
        from ts.frontend.sugared_values.python_objects import to_sugared

        concrete = self.concrete
        if name in concrete.constants:
            return to_sugared(em, concrete.constants[name], range, name)
        if name in concrete.functions:
            return FunctionValue(concrete.functions[name])
        if name in concrete.python_functions:
            return to_sugared(em, concrete.python_functions[name], range, name)
        list_function = _LISTINGS.get(name)
        if list_function is not None and (
            concrete.container in ("dict", "parameter dict") or name in _OF_ANY
        ):
            return StaticModuleList(self, name)
        if name in concrete.failed:
            return None
        if name == "_modules" and concrete.container is not None:
            return StaticModuleDict(self, "keys")
        if concrete.is_static(name):
            return to_sugared(em, getattr(concrete.python_class, name), range, name)
        return self._method(em, range, name)

    def _method(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue | None:
        """Return method `name` of the module's Python class, or None.

        The method is compiled on first use, unless it is marked to run in Python.
        """
        from ts.frontend.sugared_values.python_functions import PythonFunction

        function = self.concrete.python_function(name)
        if function is None:
            return None
        if modifier_of(function) in ("ignore", "unused"):
            return PythonFunction(function, self.receiver)
        variants = self.concrete.overloads(name)
        if variants:
            return OverloadedMethod(self.receiver, variants)
        method = self.concrete.method(name)
        if method is None:
            return None
        try:
            # `compilation` caches an error in the method: later calls do not compile the method again
            with compilation((id(self.type), name)):
                method.ensure_compiled()
        except FrontendError as error:
            del self.type.methods[name]
            raise error.add_call(f"{self.type.name()}.{name}", em.parsed.name, range) from None
        return MethodValue(self.receiver, name)

    # ---- calls of modules ----------------------------------------------------------------------------

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit the call of `forward`, with the module's forward hooks and pre-hooks if there are any."""
        forward = self.find(em, range, "forward")
        if forward is None:
            raise CompilationError(
                f"Module '{self.type.name()}' has no attribute 'forward': it cannot be called", range
            )
        if self.concrete is None or not (self.concrete.pre_hooks or self.concrete.hooks):
            return forward.call(em, range, args, kwargs, n_binders)
        return self._call_with_hooks(em, range, forward, args, kwargs)

    def ensure_compiled(self, em: Emitter, range: SourceRange) -> None:
        """Compile method `forward`, if defined, so that errors in it are reported."""
        forward = self.find(em, range, "forward")
        if forward is not None:
            forward.ensure_compiled(em, range)

    def _call_with_hooks(
        self,
        em: Emitter,
        range: SourceRange,
        forward: SugaredValue,
        args: Sequence[Actual],
        kwargs: Kwargs,
    ) -> SugaredValue:
        """Emit calls of the pre-hooks, of `forward`, and of the hooks.

        A result of a pre-hook other than None replaces the arguments of `forward`. A result of a hook other
        than None replaces the result of `forward`.
        """
        inputs = em.tuple([insert_actual(em, arg) for arg in args])
        for function in self.concrete.pre_hooks:
            hook = FunctionValue(self.type.methods[function.__name__])
            changed = hook.call(em, range, [self.receiver, inputs], {}, 1)
            value = changed.as_value(em, range)
            if value.type() is NONE:
                continue
            inputs = value if isinstance(value.type(), TupleType) else em.tuple([value])
        result = forward.call(em, range, unpack_tuple(em.graph, inputs), kwargs, 1)
        for function in self.concrete.hooks:
            hook_arguments: list[Actual] = [self.receiver, inputs, result.as_value(em, range)]
            changed = FunctionValue(self.type.methods[function.__name__]).call(
                em, range, hook_arguments, {}, 1
            )
            if changed.as_value(em, range).type() is not NONE:
                result = changed
        return result

    # ---- module containers ---------------------------------------------------------------------------

    @property
    def unrolled(self) -> bool:
        """True for module containers such as `ModuleList`, whose entries are known at compile time."""
        return self.concrete is not None and self.concrete.container is not None

    def entries(self) -> list[str]:
        """Return the names of a container's elements, in order."""
        concrete = self.concrete
        if concrete.container in ("parameter list", "parameter dict"):
            return list(concrete.parameters)
        return list(concrete.submodules)

    def dictionary(self, em: Emitter) -> list[tuple[SugaredValue, SugaredValue]]:
        """Emit all entries of a module container, and return key and value pairs."""
        return [(SimpleValue(em.constant(name)), self.slot(em, name)) for name in self.entries()]

    def iter(self, em: Emitter, range: SourceRange) -> SugaredValue:
        """Return the entries of a list container or the keys of a dict container."""
        container = None if self.concrete is None else self.concrete.container
        if container in ("dict", "parameter dict"):
            return StaticModuleList(self, "keys").items(em, range)
        if container is not None:
            return SugaredTuple([value for _, value in self.dictionary(em)])
        raise CompilationError(
            "Only constant Sequential, ModuleList, ModuleDict, or ParameterList can be used as an iterable",
            range,
        )

    def static_len(self) -> int | None:
        """Return the number of entries of a module container, or None for other modules."""
        return len(self.entries()) if self.unrolled else None

    def len(self, em: Emitter, range: SourceRange) -> Value:
        """Emit the call of `__len__`, which containers and user classes may define."""
        return self.attr(em, range, "__len__").call(em, range, (), {}, 1).as_value(em, range)

    def getitem(self, em: Emitter, range: SourceRange, index: Value) -> SugaredValue:
        """Return a container's entry at a literal index or key. For other modules, call `__getitem__`."""
        container = None if self.concrete is None else self.concrete.container
        position = index.to_ivalue()
        names = self.entries() if container is not None else []
        if container in ("list", "parameter list"):
            if not isinstance(position, int):
                raise CompilationError(
                    "Expected integer literal for index but got a variable or non-integer. "
                    "ModuleList/Sequential indexing is only supported with integer literals. For example, "
                    "'i = 4; self.layers[i](x)' will fail because i is not a literal. Enumeration is "
                    "supported, e.g. 'for index, v in enumerate(self): out = v(inp)'",
                    range,
                    _BY_INTERFACE if container == "list" else "",
                )
            if not -len(names) <= position < len(names):
                raise CompilationError(f"Index {position} out of range of length {len(names)}", range)
            return self.dictionary(em)[position][1]
        if container in ("dict", "parameter dict"):
            if not isinstance(position, str):
                raise CompilationError(
                    "Unable to extract string literal index. ModuleDict indexing is only supported with "
                    "string literals. For example, 'i = \"a\"; self.layers[i](x)' will fail because i is not "
                    "a literal. Enumeration of ModuleDict is supported, e.g. "
                    "'for k, v in self.items(): out = v(inp)'",
                    range,
                    _BY_INTERFACE,
                )
            if position not in names:
                raise CompilationError(f"Key Error, {position}", range)
            return self.dictionary(em)[names.index(position)][1]
        if self.find(em, range, "__getitem__") is not None:
            return self.attr(em, range, "__getitem__").call(em, range, [index], {}, 1)
        raise CompilationError(
            "Only ModuleList, Sequential, ModuleDict, ParameterList, and ParameterDict are subscriptable",
            range,
        )

    def getitem_as(self, em: Emitter, range: SourceRange, index: Value, type: Type) -> SugaredValue:
        """Emit the entry of a container at `index`, a key or an index known only at run time.

        All entries of the container must be of type `type`.
        """
        container = None if self.concrete is None else self.concrete.container
        key = STR if container in ("dict", "parameter dict") else INT
        # Printed source does not state whether the container is a list or a dict: emit a
        # `prim::ModuleContainerIndex`, which works for both.
        read = em.parsed.printed and "__getitem__" not in self.type.methods
        if container in ("dict", "parameter dict", "list"):
            if index.type() is not key or index.to_ivalue() is not None:
                return self.getitem(em, range, index)
            for name in self.entries():
                attribute_type = self.type.attributes[name]
                if not attribute_type.is_subtype_of(type):
                    raise CompilationError(
                        f"Attribute {name} is not of annotated type {type.annotation_str}: "
                        f"{why_not_implemented(attribute_type, type)}",
                        range,
                    )
        elif not read:
            return self.getitem(em, range, index)
        output = em.insert("prim::ModuleContainerIndex", (self.receiver, index)).output()
        return SimpleValue(output.set_type(type))

    def slice(self, em: Emitter, range: SourceRange, bounds: Any) -> SugaredValue | None:
        """Return a tuple of the entries in a slice of a list container.

        Return None for other modules. For these, the caller emits a call of `__getitem__`.
        """
        if self.concrete.container not in ("list", "parameter list"):
            return None
        slice_bounds = (bounds.start, bounds.stop, bounds.step)
        constants = [None if bound is None else bound.to_ivalue() for bound in slice_bounds]
        for bound, value in zip(slice_bounds, constants, strict=True):
            if bound is not None and not isinstance(value, int):
                raise CompilationError("Slices of a ModuleList require integer literals", range)
        return SugaredTuple([value for _, value in self.dictionary(em)][slice(*constants)])

    def contains(self, em: Emitter, range: SourceRange, element: Value) -> Value | None:
        """Return whether a dict container has a key, as a constant if the key is a literal."""
        if self.concrete is None or self.concrete.container not in ("dict", "parameter dict"):
            return None
        name = element.to_ivalue()
        if isinstance(name, str):
            return em.constant(name in self.entries(), range)
        names = em.list(STR, [em.constant(each, range) for each in self.entries()])
        return emit_builtin_call(range, em.graph, "aten::__contains__", [names, element])


class OverloadedMethod(SugaredValue):
    """Overloaded method. Calls select the first matching declaration."""

    kind = "overloaded method"

    def __init__(self, receiver: Value, methods: list[Any]) -> None:
        self.object = receiver
        self.methods = methods

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit the call of the first overload that accepts the arguments."""
        schemas = [method.schema for method in self.methods]
        index, _ = match_schemas(schemas, em.graph, range, [self.object, *args], kwargs)
        return MethodValue(self.object, self.methods[index].name).call(em, range, args, kwargs, n_binders)


# ---- listings of a module's members ----------------------------------------------------------------


def _keys(em: Emitter, module: ModuleValue, range: SourceRange) -> list[SugaredValue]:
    return [key for key, _ in module.dictionary(em)]


def _values(em: Emitter, module: ModuleValue, range: SourceRange) -> list[SugaredValue]:
    return [value for _, value in module.dictionary(em)]


def _items(em: Emitter, module: ModuleValue, range: SourceRange) -> list[SugaredValue]:
    return [SugaredTuple([key, value]) for key, value in module.dictionary(em)]


def _tree(em: Emitter, module: ModuleValue, prefix: str = "") -> list[tuple[str, ModuleValue]]:
    """Return `module` and all its submodules, with dotted names that begin with `prefix`."""
    named_modules = [(prefix, module)]
    for name in module.concrete.submodules:
        submodule = module.slot(em, name)
        if isinstance(submodule, ModuleValue):
            named_modules += _tree(em, submodule, f"{prefix}.{name}" if prefix else name)
    return named_modules


def _children(em: Emitter, module: ModuleValue, range: SourceRange) -> list[tuple[str, SugaredValue]]:
    return [(name, module.slot(em, name)) for name in module.concrete.submodules]


def _tensors(em: Emitter, module: ModuleValue, kind: str) -> list[tuple[str, SugaredValue]]:
    """Return the parameters or buffers (`kind`) of a module and its submodules, with dotted names."""
    return [
        (f"{prefix}.{name}" if prefix else name, owner.slot(em, name))
        for prefix, owner in _tree(em, module)
        for name in getattr(owner.concrete, kind)
    ]


_List = Callable[["Emitter", ModuleValue, SourceRange], list[SugaredValue]]


def _named(
    collect: Callable[[Emitter, ModuleValue, SourceRange], Sequence[tuple[str, SugaredValue]]],
) -> tuple[_List, _List]:
    """Create two functions that list members of a module, such as `children` and `named_children`.

    `collect` returns (name, member) pairs. The first function lists only the members, the second the pairs.
    """

    def values(em: Emitter, module: ModuleValue, range: SourceRange) -> list[SugaredValue]:
        return [value for _, value in collect(em, module, range)]

    def pairs(em: Emitter, module: ModuleValue, range: SourceRange) -> list[SugaredValue]:
        entries = collect(em, module, range)
        return [SugaredTuple([SimpleValue(em.constant(name)), value]) for name, value in entries]

    return values, pairs


_modules, _named_modules = _named(lambda em, module, range: _tree(em, module))
_submodules, _named_submodules = _named(_children)
_parameters, _named_parameters = _named(lambda em, module, range: _tensors(em, module, "parameters"))
_buffers, _named_buffers = _named(lambda em, module, range: _tensors(em, module, "buffers"))

_OF_ANY: Final[dict[str, _List]] = {
    "modules": _modules,
    "named_modules": _named_modules,
    "children": _submodules,
    "named_children": _named_submodules,
    "parameters": _parameters,
    "named_parameters": _named_parameters,
    "buffers": _buffers,
    "named_buffers": _named_buffers,
}
_LISTINGS: Final[dict[str, _List]] = {"keys": _keys, "values": _values, "items": _items, **_OF_ANY}


class StaticModuleList(SugaredValue):
    """List that is known at compile time: result of `keys`, `items`, `named_modules` and similar methods."""

    kind = "module listing"

    def __init__(self, module: ModuleValue, name: str) -> None:
        self.module = module
        self.name = name

    def items(self, em: Emitter, range: SourceRange) -> SugaredTuple:
        """Return the elements as a tuple, or pairs as a `PairListing`, which a program cannot unpack."""
        elements = _LISTINGS[self.name](em, self.module, range)
        is_paired = self.name == "items" or self.name.startswith("named_")
        return PairListing(elements) if is_paired else SugaredTuple(elements)

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Return the listed names, modules or pairs. Raise CompilationError if arguments are passed."""
        if args or kwargs:
            raise CompilationError(f"{self.name} method does not accept any arguments", range)
        return self.items(em, range)


class PairListing(SugaredTuple):
    """Result of `items()` and `named_*` methods: pairs for loops and comprehensions."""

    kind = "iterabletree"

    def as_tuple(self, em: Emitter, range: SourceRange, size: int | None = None) -> list[SugaredValue]:
        """Raise CompilationError: as in PyTorch, only loops can use the pairs."""
        raise CompilationError(f"{self.describe()} cannot be used as a tuple", range)


class StaticModuleDict(StaticModuleList):
    """Attribute `_modules` of a container: a dictionary that is known at compile time."""

    kind = "module dictionary"

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return the listing `keys`, `values` or `items`. Raise CompilationError for other names."""
        if name in ("keys", "values", "items"):
            return StaticModuleList(self.module, name)
        return super().attr(em, range, name)

    def iter(self, em: Emitter, range: SourceRange) -> SugaredValue:
        """Return the listing of the keys, over which loops are unrolled."""
        return self.items(em, range)

    def len(self, em: Emitter, range: SourceRange) -> Value:
        """Return the number of entries as a constant."""
        return em.constant(len(self.module.entries()), range)

    def getitem(self, em: Emitter, range: SourceRange, index: Value) -> SugaredValue:
        """Return the entry for key `index` of the container, as `ModuleValue.getitem` does."""
        return self.module.getitem(em, range, index)

    def contains(self, em: Emitter, range: SourceRange, element: Value) -> Value | None:
        """Return whether key `element` exists, as a constant if the key is a literal."""
        return self.module.contains(em, range, element)
