"""Lowering of objects and types, such as attributes, method calls, type casts and `isinstance` tests.

Examples of nodes and their instructions:

    %w : Tensor = prim::GetAttr[name="weight"](%self)        ATTR_GET     %w, %self, slot
    %y : Tensor = prim::CallMethod[name="forward"](...)      CALL         %y, function, [%self, %x]
    %b : bool = prim::isinstance[types=[int]](%x)            IS_INSTANCE  %b, %x, int
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.assembler.instruction import Label
from ts._core.builtin_ops.module_getitem import ContainerIndex
from ts._core.value.fitting import is_subtype, present
from ts._core.vm.code import Method
from ts.bytecode.lowering import Handler, Lowering, lowers
from ts.bytecode.typespec import SCALARS, register_class, type_spec
from ts.errors import CompilationError
from ts.ir.graph import Node, Value
from ts.ir.schema import Argument
from ts.ir.types import ANY, INT, AnyListType, InterfaceType, ListType, UnionType, erase_shape


@lowers("prim::CreateObject")
def _lower_create_object(low: Lowering, node: Node) -> None:
    low.emit("OBJECT_NEW", low.define(node.output()), low.types.index(node.output().type()))


@lowers("prim::GetAttr")
def _lower_get_attr(low: Lowering, node: Node) -> None:
    """Lower `prim::GetAttr` to a load from the slot of the attribute."""
    type: Any = node.input().type()
    output = node.output()
    name = "ATTR_GET_SCALAR" if register_class(output.type()) in SCALARS else "ATTR_GET"
    low.emit(name, low.define(output), low.use(node.input()), type.slot(node.get("name")))


@lowers("prim::ModuleContainerIndex")
def _lower_container_index(low: Lowering, node: Node) -> None:
    """Lower an index into a ModuleList or ModuleDict to an operator that looks up the slot."""
    type: Any = node.input(0).type()
    elements = type.elements(node.output().type())
    slots: dict[str | int, int] = {name: type.slot(name) for name in elements}
    if node.input(1).type() is INT:
        slots = {i: type.slot(elements[i]) for i in range(-len(elements), len(elements))}
    operator = ContainerIndex(type_spec(type), slots, type_spec(node.output().type()))
    low.call_operator(operator, low.use_all(node.inputs()), [low.define(node.output())])


@lowers("prim::SetAttr")
def _lower_set_attr(low: Lowering, node: Node) -> None:
    """Lower `prim::SetAttr` to a store to the slot of the attribute."""
    type: Any = node.input(0).type()
    target, value = low.use_all(node.inputs())
    name = node.get("name")
    scalar = register_class(type.attributes[name]) in SCALARS
    low.emit("ATTR_SET_SCALAR" if scalar else "ATTR_SET", target, type.slot(name), value)


@lowers("prim::CallMethod")
def _lower_call_method(low: Lowering, node: Node) -> None:
    """Lower a method call to a call by name for interfaces (dynamic dispatch), else to a direct call."""
    type: Any = node.input(0).type()
    name = node.get("name")
    if isinstance(type, InterfaceType | UnionType):
        # the value may be of several classes, all of which have the method
        if isinstance(type, UnionType):
            member: Any = type.types[0]
            schema = member.methods[name].schema
        else:
            schema = type.methods[name]
        method = low.methods.get((name, schema))
        if method is None:
            specs = (type_spec(ANY), *(type_spec(a.type) for a in schema.arguments[1:]))
            method = low.methods[name, schema] = Method(name, specs, type_spec(schema.returns[0].type))
        index = low.function_index(method)
        registers = _arguments(low, schema.arguments, node.inputs())
        low.emit("CALL_METHOD", low.define(node.output()), index, register_list=registers)
    else:
        _call(low, node, type.methods[name], node.inputs())


@lowers("prim::Enter")
def _lower_enter(low: Lowering, node: Node) -> None:
    """Lower `__enter__`, and begin the region in which a failure calls `__exit__` (`Code.handlers`)."""
    type: Any = node.input().type()
    _call(low, node, type.methods["__enter__"], node.inputs())
    leave = type.methods["__exit__"]
    leave.ensure_compiled()
    context = Handler(low.use(node.input()), leave, Label(), Label())
    low.bind_label(context.start)
    low.active_handlers.append(context)
    low.handlers.append(context)


@lowers("prim::Exit")
def _lower_exit(low: Lowering, node: Node) -> None:
    """Lower `__exit__` at the regular end of a `with` block."""
    context = low.active_handlers.pop()
    low.bind_label(context.end)
    none_register = low.constant(None, "x")
    index = low.function_index(context.function)
    ignored_result = low.new_register(register_class(context.function.schema.returns[0].type))
    low.emit("CALL", ignored_result, index, register_list=[context.register, *[none_register] * 3])


@lowers("prim::CallFunction")
def _lower_call(low: Lowering, node: Node) -> None:
    type: Any = node.input().type()
    _call(low, node, type.function, node.inputs()[1:])


def _call(low: Lowering, node: Node, function: Any, arguments: Sequence[Value]) -> None:
    """Emit a call of a function that is known at compile time."""
    function.ensure_compiled()
    registers = _arguments(low, function.schema.arguments, arguments)
    low.emit("CALL", low.define(node.output()), low.function_index(function), register_list=registers)


def _arguments(low: Lowering, parameters: Sequence[Argument], values: Sequence[Value]) -> list[int]:
    """Return registers that hold the arguments, converted to the register classes of the parameters."""
    kinds = [register_class(parameter.type) for parameter in parameters]
    return [low.convert(low.use(value), kind) for value, kind in zip(values, kinds, strict=True)]


@lowers("prim::unchecked_cast", "prim::unchecked_unwrap_optional")
def _lower_cast(low: Lowering, node: Node) -> None:
    """Lower a cast to a run-time type check, or to a copy if the type needs no check."""
    type = node.output().type()
    if (
        node.needs_type_check
        and not node.input().type().is_subtype_of(erase_shape(type))
        and not _is_measured(node)
    ):
        low.emit("CAST_TO", low.define(node.output()), low.use(node.input()), low.types.index(type))
    else:
        _lower_retype(low, node)


def _lower_retype(low: Lowering, node: Node) -> None:
    """Lower a node that returns its input unchanged, with another static type."""
    target, source = low.define(node.output()), low.use(node.input())
    a, b = low.registers.classes[target], low.registers.classes[source]
    if a == b or "x" in (a, b):
        input_spec, output_spec = type_spec(node.input().type()), type_spec(node.output().type())
        if a == "o":
            input_spec = present(input_spec) or output_spec
        if a in SCALARS or b in SCALARS or is_subtype(input_spec, output_spec) or _is_measured(node):
            low.move(target, source)
        else:  # checked at run time: the verifier cannot prove which member of a Union the value has
            low.emit("CAST_TO", target, source, low.types.index(node.output().type()))
    else:  # unreachable code: the static type of the value excludes the type that `isinstance` tested
        message = f"a value of type {node.input().type().str()} is not of type {node.output().type().str()}"
        low.emit("RAISE", low.constant(message, "o"), low.constant(None, "x"))


@lowers("prim::isinstance")
def _lower_isinstance(low: Lowering, node: Node) -> None:
    """Lower an `isinstance` test: a constant if the static type decides it, else a test of the value."""
    target, source = low.define(node.output()), low.use(node.input())
    types = list(node.get("types"))
    if any(node.input().type().is_subtype_of(type) for type in types):
        low.emit("MOVE", target, low.constant(True, "b"))
        return
    # tested at run time, because any class may implement the interface
    if isinstance(node.input().type(), InterfaceType):
        source = low.convert(source, "x")
    if low.registers.classes[source] != "x":
        low.emit("MOVE", target, low.constant(False, "b"))
        return
    low.emit("IS_INSTANCE", target, source, low.types.index(types[0]))
    for type in types[1:]:
        other = low.new_register("b")
        low.emit("IS_INSTANCE", other, source, low.types.index(type))
        low.emit("OR", target, target, other)


@lowers("prim::Uninitialized")
def _lower_uninitialized(low: Lowering, node: Node) -> None:
    """Initialize the output's register with a placeholder.

    Only code of a graph that was parsed from text can read the placeholder.
    """
    from ts.bytecode.uninitialized_values import uninitialized_value

    type = node.output().type()
    register = low.registers.values[node.output()] = low.new_register(register_class(type))
    if not node.needs_type_check:
        low.registers.uninitialized.add(register)
    try:
        low.registers.constant_values[register] = uninitialized_value(type)
    except KeyError:
        if node.needs_type_check:
            message = f"a value of type {type.str()} cannot be left uninitialized"
            raise CompilationError(message, node.range) from None
        low.registers.constant_values[register] = ""


def _is_measured(cast: Node) -> bool:
    """Return whether `cast` converts an untyped list to `List[Any]`, used only by calls of `len`."""
    measures = all(use.user.kind() == "aten::len" for use in cast.output().uses())
    return measures and isinstance(cast.input().type(), AnyListType) and cast.output().type() == ListType(ANY)
