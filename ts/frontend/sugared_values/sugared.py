"""Sugared values: the compile-time values of expressions, including expressions without a graph value.

A `SugaredValue` implements calls, iteration, indexing and attribute access. Each line shows an expression and
its sugared value:

    x                SimpleValue(%x)
    x.relu           BuiltinFunction("aten::relu", %x)
    torch.relu       BuiltinFunction("aten::relu")
    (a, b)           SugaredTuple, for elements without graph value
    range(3)         RangeValue (`iterables`)
    int              CastValue(INT, "aten::Int")
    helper           FunctionValue(compiled on demand)
    math             PythonModule (`python_objects`)

The first argument of each method is the emitter. Methods insert nodes at the emitter's insertion point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ts import dtypes
from ts._core.builtin_ops import op_index
from ts._core.late_binding import resolve
from ts.errors import CompilationError
from ts.frontend import hints
from ts.frontend.literal_types import construct_literal
from ts.frontend.schema_matching import (
    Actual,
    Literal,
    MatchedSchema,
    emit_builtin_call,
    has_method,
    match_schema,
    unpack_tuple,
)  # fmt: skip
from ts.ir import types as ir
from ts.ir.graph import Graph
from ts.ir.schema import Argument, FunctionSchema
from ts.ir.source import SourceRange
from ts.ir.types import (
    BOOL,
    OBJECT_TYPES,
    STR,
    TENSOR,
    DictType,
    ListType,
    StringType,
    TupleType,
    Type,
)
from ts.ir.value import Value
from ts.ops import registry

if TYPE_CHECKING:
    from ts.frontend.ir_emitter.emitter import Emitter

CompileCallee = Callable[..., Any]  # (Python function, optional overload declaration) -> ScriptFunction
Kwargs = Mapping[str, Actual]


class SugaredValue:
    """Base class of sugared values, in which every operation raises an error by default."""

    kind: ClassVar[str] = "value"
    simple: Any = None  # the graph value, only for a SimpleValue
    receiver: Any = None  # the graph value of the module, only for a ModuleValue

    def describe(self) -> str:
        """Describe the value for error messages."""
        return self.kind

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Return the graph value, and emit nodes if necessary. Raise CompilationError if there is none."""
        description = self.describe()
        type_name = description.strip("_")
        is_type_test = type_name in ("int", "float", "bool", "str", "complex") and description.startswith(
            "__"
        )
        hint = f"to test the type of x, write `isinstance(x, {type_name})`" if is_type_test else ""
        raise CompilationError(f"{description} cannot be used as a value", range, hint)

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return attribute `name` as a sugared value. Raise CompilationError for unknown names."""
        raise CompilationError(f"attribute lookup is not defined on {self.describe()}", range)

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit a call and return its result, which is assigned to `n_binders` variables."""
        raise CompilationError(f"cannot call a {self.describe()}", range)

    def ensure_compiled(self, em: Emitter, range: SourceRange) -> None:
        """Compile the callee, so that its errors are reported, without emitting a call."""

    def as_tuple(self, em: Emitter, range: SourceRange, size: int | None = None) -> list[SugaredValue]:
        """Return the elements for unpacking. `size` is the number of targets if it is known."""
        raise CompilationError(f"{self.describe()} cannot be used as a tuple", range)

    def iter(self, em: Emitter, range: SourceRange) -> SugaredValue:
        """Return the sugared value whose `len` and `getitem` a loop over this value calls."""
        raise CompilationError(f"{self.describe()} cannot be used as an iterable", range)

    def len(self, em: Emitter, range: SourceRange) -> Value:
        """Emit the length as an int. Raise CompilationError for values without length."""
        raise CompilationError(f"'{self.describe()}' object is not iterable", range)

    def getitem(self, em: Emitter, range: SourceRange, index: Value) -> SugaredValue:
        """Emit the item at `index`. Raise CompilationError for values without items."""
        raise CompilationError(f"'{self.describe()}' object is not subscriptable", range)

    def getitem_as(self, em: Emitter, range: SourceRange, index: Value, type: Type) -> SugaredValue:
        """Emit the item at `index`. `type` is the annotated type of the result."""
        return self.getitem(em, range, index)

    def slice(self, em: Emitter, range: SourceRange, bounds: Any) -> SugaredValue | None:
        """Return a slice of this value as a sugared value, or None if this is impossible at compile time."""
        return None

    def contains(self, em: Emitter, range: SourceRange, element: Value) -> Value | None:
        """Emit the test `element in` this value and return the bool result, or None if it is unsupported."""
        return None

    @property
    def unrolled(self) -> bool:
        """True if the compiler unrolls loops over this value."""
        return False

    def static_len(self) -> int | None:
        """Return the number of iterations of an unrolled loop over this value, or None if not unrolled."""
        return None


# ---- graph values and tuples -----------------------------------------------------------------------

# Attributes of tensors that unary operators in the namespaces `prim` and `aten` compute.
_PRIM_PROPERTIES: Final = (
    "dtype", "device", "data", "shape", "is_cuda", "is_cpu", "is_xla", "is_xpu", "is_sparse",
    "is_sparse_csr", "is_mkldnn", "is_mps", "is_quantized", "is_vulkan", "is_ipu", "is_meta", "is_nested",
    "requires_grad", "layout", "T", "H", "itemsize", "nbytes", "ndim", "name", "grad",
)  # fmt: skip
_ATEN_PROPERTIES: Final = ("is_leaf", "mT", "mH", "real", "imag", "retains_grad")
_PROPERTIES: Final = dict.fromkeys(_PRIM_PROPERTIES, "prim") | dict.fromkeys(_ATEN_PROPERTIES, "aten")
_DEVICE_PROPERTIES: Final = {"type": "prim", "index": "prim"}
_CAST_METHODS: Final = {  # name of a method such as `x.float()` -> ScalarType number of its dtype
    d.type_name.lower().replace("complex", "c"): d.code for d in dtypes.ALL if d.has_storage_class
}


class SimpleValue(SugaredValue):
    """Sugared value of an expression with a graph value."""

    kind = "value"

    def __init__(self, value: Value) -> None:
        self.simple: Any = value

    def describe(self) -> str:
        """Describe the value by its type."""
        return f"value of type '{self.simple.type().annotation_str}'"

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Return the graph value, without emitting nodes."""
        value: Value = self.simple
        return value

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return a field, tensor property, method or class attribute, depending on the value's type."""
        value = self.simple
        type = value.type()
        if isinstance(type, OBJECT_TYPES):
            member: SugaredValue = resolve("script_classes").attribute(em, range, value, name)
            return member
        if type.is_subtype_of(TENSOR):
            if name in _CAST_METHODS:
                return TensorCast(_CAST_METHODS[name], value)
            if name in _PROPERTIES:
                return SimpleValue(emit_builtin_call(None, em.graph, f"{_PROPERTIES[name]}::{name}", [value]))
        elif type is ir.DEVICE and name in _DEVICE_PROPERTIES:
            return SimpleValue(emit_builtin_call(None, em.graph, f"prim::{name}", [value]))
        elif isinstance(type, ir.CustomClassType) and name in type.methods:
            return CustomMethod(type.methods[name], value)
        elif isinstance(type, ir.EnumType):
            enum_value: SugaredValue | None = resolve("enum_attribute")(em, value, name)
            if enum_value is not None:
                return enum_value
        elif isinstance(type, ir.UnionType) and em.parsed.printed and _all_have(type, name):
            method: SugaredValue = resolve("script_classes").MethodValue(value, name)
            return method
        elif isinstance(type, TupleType) and type.fields and name in type.fields:
            index = type.fields.index(name)
            return SimpleValue(tuple_index(em.graph, value, em.constant(index), type.elems[index]))
        operator = "to" if name == "type" else name
        if has_method(f"aten::{operator}", type):
            return BuiltinFunction(f"aten::{operator}", value)
        if name == "tolist" and type.is_subtype_of(TENSOR):
            return SpecialForm("tolist", value)
        raise CompilationError(
            f"'{type.repr_str}' object has no attribute or method '{name}'.",
            range,
            _optional_hint(em, value) or hints.attribute(value, name, _names(type)),
        )

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit the call of `forward` for a module, or of `__call__` for another object."""
        if isinstance(self.simple.type(), OBJECT_TYPES):
            method = "forward" if self.simple.type().is_module() else "__call__"
            return self.attr(em, range, method).call(em, range, args, kwargs, n_binders)
        raise CompilationError(f"cannot call a value of type '{self.simple.type().repr_str}'", range)

    def as_tuple(self, em: Emitter, range: SourceRange, size: int | None = None) -> list[SugaredValue]:
        """Emit the unpacking of a tuple, or of a list if `size` is known."""
        type = self.simple.type()
        if isinstance(type, TupleType):
            return [SimpleValue(v) for v in unpack_tuple(em.graph, self.simple)]
        if isinstance(type, ListType):
            if size is None:
                raise CompilationError(
                    "cannot statically infer the expected size of a list in this context",
                    range,
                    "the length of a list is unknown at compile time; use a tuple, or pass the list itself",
                )
            node = em.insert("prim::ListUnpack", (self.simple,), size)
            return [SimpleValue(output.set_type(type.elem)) for output in node.outputs()]
        if isinstance(type, ir.AnyTupleType):
            raise CompilationError(
                "Provided tuple is not fully defined/refined including its element types, please provide a "
                "value of type like Tuple[int, int]",
                range,
            )
        raise CompilationError(
            f"{type.repr_str} cannot be used as a tuple", range, _optional_hint(em, self.simple)
        )

    def iter(self, em: Emitter, range: SourceRange) -> SugaredValue:
        """Return lists, strings and tensors unchanged, a dict's keys, or a tuple's elements."""
        type = self.simple.type()
        if isinstance(type, ListType | StringType) or type.is_subtype_of(TENSOR):
            return self
        if isinstance(type, DictType):
            return SimpleValue(emit_builtin_call(range, em.graph, "aten::keys", [self.simple]))
        if isinstance(type, TupleType):
            return SugaredTuple([SimpleValue(v) for v in unpack_tuple(em.graph, self.simple)])
        hint = "write `range(n)`" if type is ir.INT else _optional_hint(em, self.simple)
        raise CompilationError(f"'{type.repr_str}' object is not iterable", range, hint)

    def len(self, em: Emitter, range: SourceRange) -> Value:
        """Emit `aten::len`, or the call of an object's `__len__`."""
        value = self.simple
        if isinstance(value.type(), ir.AnyListType):
            value = em.unchecked_cast(value, ListType(ir.ANY))
        length = BuiltinFunction("aten::len", magic="__len__")
        return length.call(em, range, [value], {}, 1).as_value(em, range)

    def getitem(self, em: Emitter, range: SourceRange, index: Value) -> SugaredValue:
        """Emit `aten::__getitem__`, `aten::select` for tensors, or the call of `__getitem__`."""
        type = self.simple.type()
        if isinstance(type, ListType | StringType | DictType):
            return SimpleValue(emit_builtin_call(range, em.graph, "aten::__getitem__", [self.simple, index]))
        if type.is_subtype_of(TENSOR):
            args: list[Actual] = [self.simple, Literal(0), index]
            return SimpleValue(emit_builtin_call(range, em.graph, "aten::select", args))
        if isinstance(type, OBJECT_TYPES):
            return self.attr(em, range, "__getitem__").call(em, range, [index], {}, 1)
        hint = _optional_hint(em, self.simple)
        raise CompilationError(f"'{type.repr_str}' object is not subscriptable", range, hint)


def _all_have(union: ir.UnionType, method: str) -> bool:
    """Return whether all members of a union are classes with method `method`."""
    return all(isinstance(each, OBJECT_TYPES) and method in each.methods for each in union.types)


def _names(type: Type) -> list[str]:
    """Return the field names and operator methods of a type, as suggestions for misspelled names."""
    if isinstance(type, ir.EnumType):
        return ["name", "value"]
    if isinstance(type, TupleType) and type.fields:
        return list(type.fields)
    names = [name.removeprefix("aten::") for name in registry.names() if name.startswith("aten::")]
    names += [name for names in op_index.NAMES.values() for name in names.split() if "::" not in name]
    names = [name for name in names if has_method(f"aten::{name}", type)]
    if type is ir.DEVICE:
        names += _DEVICE_PROPERTIES
    return [*names, *_PROPERTIES, *_CAST_METHODS, "tolist"] if type.is_subtype_of(TENSOR) else names


def _optional_hint(em: Emitter, value: Value) -> str:
    """Return a hint if `value` may be None, else ""."""
    if not isinstance(value.type(), ir.OptionalType):
        return ""
    hint = hints.may_be_none(value)
    if em.loop == "loop":  # the loop body may assign None to the variable after the test
        hint += ". The condition of a `while` does not refine the type: write an `assert` in its body"
    return hint


def tuple_index(graph: Graph, value: Value, index: Value, type: Type) -> Value:
    """Insert a `prim::TupleIndex`."""
    node = graph.insert_node(graph.create("prim::TupleIndex", (value, index)))
    return node.output().set_type(type)


class NoneValue(SugaredValue):
    """Sugared value of a call without a result, such as `print`."""

    kind = "None"


class SugaredTuple(SugaredValue):
    """Tuple of sugared values. Loops over it are unrolled."""

    kind = "Tuple"

    def __init__(self, items: list[SugaredValue]) -> None:
        self.items = items

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Emit `prim::TupleConstruct` of the items' values."""
        return em.tuple([item.as_value(em, range) for item in self.items])

    def as_tuple(self, em: Emitter, range: SourceRange, size: int | None = None) -> list[SugaredValue]:
        """Return the items. `size` is not checked."""
        return self.items

    def iter(self, em: Emitter, range: SourceRange) -> SugaredValue:
        """Return the tuple itself, as loops over it are unrolled."""
        return self

    def getitem(self, em: Emitter, range: SourceRange, index: Value) -> SugaredValue:
        """Return an item by literal index. Raise CompilationError if it is out of range."""
        position = index.to_ivalue()
        if not isinstance(position, int):
            raise CompilationError("Expected integer literal for index", range)
        if not -len(self.items) <= position < len(self.items):
            raise CompilationError(f"Index out of range, expected less than {len(self.items)}", range)
        return self.items[position]

    @property
    def unrolled(self) -> bool:
        """True: the number of items is known."""
        return True

    def static_len(self) -> int | None:
        """Return the number of items."""
        return len(self.items)

    def len(self, em: Emitter, range: SourceRange) -> Value:
        """Return the number of items as a constant."""
        return em.constant(len(self.items), range)


# ---- callables -------------------------------------------------------------------------------------


def insert_actual(em: Emitter, arg: Actual) -> Value:
    """Return an argument as a graph value. A `Literal` is inserted as a constant."""
    return arg if isinstance(arg, Value) else arg.insert(em.graph)


class CustomMethod(SugaredValue):
    """Method of a class that PyTorch implements in C++, implemented by an operator in `ts`."""

    kind = "method"

    def __init__(self, operator: str, value: Value) -> None:
        self.operator = BuiltinFunction(operator)
        self.value = value

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit the operator with the object before the arguments."""
        return self.operator.call(em, range, [self.value, *args], kwargs, n_binders)


class BuiltinFunction(SugaredValue):
    """Operator as a callee, with a bound `self` if it is called as a method."""

    kind = "builtin"

    def __init__(self, name: str, self_value: Value | None = None, magic: str = "") -> None:
        self.name = name
        self.self_value = self_value
        self.magic = magic  # method by which objects implement this builtin, such as `__len__`, or ""

    def describe(self) -> str:
        """Return the magic method of this function, such as `__len__`, or "builtin" without magic method."""
        return self.magic or self.kind

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit the operator, or a call of the magic method if the first argument is an object."""
        if self.magic and args and isinstance(args[0], Value) and isinstance(args[0].type(), OBJECT_TYPES):
            return SimpleValue(args[0]).attr(em, range, self.magic).call(em, range, args[1:], kwargs, 1)
        if self.name == "aten::format":
            to_printable = resolve("script_classes").to_printable
            args = [to_printable(em, range, arg) if isinstance(arg, Value) else arg for arg in args]
        return SimpleValue(emit_builtin_call(range, em.graph, self.name, args, kwargs, self.self_value))


_warnings: Final = count()


class WarnFunction(BuiltinFunction):
    """Function `warnings.warn`. Each call in the source has a number, which copies of its node also have."""

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit `aten::warn`, with a new number as attribute `warn_id`."""
        result = super().call(em, range, args, kwargs, n_binders)
        node = em.graph.insert_point().prev()
        # `aten::warn` is followed by nodes that create the result of the call
        while node.kind() != self.name:
            node = node.prev()
        node.set("warn_id", next(_warnings))
        return result


class CastValue(BuiltinFunction):
    """Cast to `int`, `float`, `bool`, `str` or `complex`. A value of the target type needs no node."""

    def __init__(self, type: Type, name: str) -> None:
        super().__init__(name, magic=f"__{type.repr_str}__")
        self.type = type

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit the conversion operator, or return a value unchanged if it already has the type."""
        if len(args) == 1 and not kwargs:
            if isinstance(args[0], Value) and isinstance(args[0].type(), OBJECT_TYPES):
                return super().call(em, range, args, kwargs, n_binders)
            zero = em.constant(0)
            value = insert_actual(em, args[0])
            type = value.type()
            if type.is_subtype_of(self.type):
                return SimpleValue(value)
            if self.type is BOOL and isinstance(type, ListType | StringType | DictType):
                length = emit_builtin_call(range, em.graph, "aten::len", [value])
                return SimpleValue(emit_builtin_call(range, em.graph, "aten::gt", [length, zero]))
            args = [value]
        return super().call(em, range, args, kwargs, n_binders)


class TensorCast(SugaredValue):
    """Dtype conversion method such as `x.float()`."""

    kind = "tensorcast"

    def __init__(self, code: int, self_value: Value) -> None:
        self.code = code
        self.self_value = self_value

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit `aten::to` with the dtype. Raise CompilationError if arguments are passed."""
        if args or kwargs:
            raise CompilationError("a cast method of a tensor takes no arguments; use `.to(...)`", range)
        code = em.constant(self.code, range)
        false_value = em.constant(False, range)
        args = [self.self_value, code, false_value, false_value]
        return SimpleValue(emit_builtin_call(range, em.graph, "aten::to", args))


class SpecialForm(SugaredValue):
    """Callee such as `isinstance`. `ir_emitter.calls` emits a call from the syntax nodes of its arguments."""

    kind = "special form"

    def __init__(self, form: str, self_value: Value | None = None) -> None:
        self.form = form
        self.self_value = self_value


class PrintValue(SugaredValue):
    """Builtin function `print` as a callee."""

    kind = "print"

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit `prim::Print`. Raise CompilationError for keyword arguments such as `sep`."""
        if kwargs:
            hint = "it prints one line to standard output; format the string before"
            raise CompilationError("print doesn't accept any keyword arguments", range, hint)
        to_printable = resolve("script_classes").to_printable
        values = [to_printable(em, range, insert_actual(em, arg)) for arg in args]
        em.insert("prim::Print", values, 0, range)
        return NoneValue()


class BreakpointValue(SugaredValue):
    """Builtin function `breakpoint` as a callee. A call is a stop point of the debugger."""

    kind = "breakpoint"

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit `prim::Breakpoint`, or mark the stop point if the code is compiled for the debugger."""
        if args or kwargs:
            raise CompilationError("breakpoint takes no arguments", range)
        em.holds_breakpoint = True
        if em.lines:
            em.mark("breakpoint")
        else:
            em.insert("prim::Breakpoint", (), 0, range)
        return NoneValue()


class FunctionValue(SugaredValue):
    """Scripted function as a callee."""

    kind = "function"

    def __init__(self, function: Any) -> None:
        self.function = function

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Match the arguments with the function's schema and emit the call."""
        try:
            schema = self.function.schema
        except CompilationError as error:  # a recursive call of a function whose return type is not known yet
            error.range = error.range or range
            raise
        return self.call_matched(em, range, match_schema(schema, em.graph, range, args, kwargs))

    def call_matched(self, em: Emitter, range: SourceRange, matched: MatchedSchema) -> SugaredValue:
        """Insert the call of the function with matched arguments."""
        constant = em.insert("prim::Constant")
        constant.set("name", self.function.name)
        constant.output().set_type(ir.FunctionType(self.function))
        node = em.insert("prim::CallFunction", [constant.output(), *matched.inputs], 1, range)
        return SimpleValue(node.output().set_type(matched.returns[0]))


class NamedTupleConstructor(SugaredValue):
    """NamedTuple class as a callee, which creates a named tuple."""

    kind = "NamedTupleConstructor"

    def __init__(self, type: TupleType) -> None:
        self.type = type

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit `prim::TupleConstruct` of the fields. Omitted fields get their defaults."""
        defaults = self.type.defaults
        arguments = tuple(
            Argument(name, type, default=defaults.get(name), has_default=name in defaults)
            for name, type in zip(self.type.fields or (), self.type.elems, strict=True)
        )
        schema = FunctionSchema((self.type.name or "").rpartition(".")[2], "", arguments, ())
        omitted = {a.name: a for a in arguments[len(args) :] if a.name not in kwargs}
        container_defaults = {
            name: construct_literal(em, default, omitted[name].type)
            for name, default in defaults.items()
            if name in omitted and isinstance(default, list | dict)
        }
        kwargs = {**kwargs, **container_defaults}
        matched = match_schema(schema, em.graph, range, args, kwargs)
        node = em.insert("prim::TupleConstruct", matched.inputs, 1, range)
        return SimpleValue(node.output().set_type(self.type))


# ---- exception classes and instances ---------------------------------------------------------------


class ExceptionInstance(SugaredValue):
    """Exception instance such as `ValueError("...")`: the message and the class name."""

    kind = "exception message"

    def __init__(self, message: Value, class_name: Value | None = None) -> None:
        self.message = message
        self.class_name = class_name


class ExceptionClass(SugaredValue):
    """Python exception class as a callee, which creates an `ExceptionInstance`."""

    kind = "exception"

    def __init__(self, qualified_name: str) -> None:
        self.qualified_name = qualified_name

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Return an exception instance. If there are several arguments, its message is a tuple."""
        values = [insert_actual(em, arg) for arg in args]
        if not values:
            message = em.constant("", range)
        else:
            message = values[0] if len(values) == 1 else em.tuple(values)
        return ExceptionInstance(message, em.constant(self.qualified_name, range))


class AssertionFailure(ExceptionClass):
    """Exception class of an `assert` statement, whose messages begin with the class name."""

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Return an exception instance. Its message is the class name, then the argument as a string."""
        message = em.constant(f"{self.qualified_name}: ", range)
        for arg in args:
            string = insert_actual(em, arg)
            if not string.type().is_subtype_of(STR):
                string = emit_builtin_call(range, em.graph, "aten::str", [string])
            message = emit_builtin_call(range, em.graph, "aten::add", [message, string])
        return ExceptionInstance(message)
