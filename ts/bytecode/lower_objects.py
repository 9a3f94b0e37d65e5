"""Lowering of objects: attributes, function and method calls, and `with` statements.

%w : Tensor = prim::GetAttr[name="weight"](%self)        ATTR_GET  %w, %self, slot
%y : Tensor = prim::CallMethod[name="forward"](...)      CALL      %y, function, [%self, %x]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.builtin_ops.module_getitem import ContainerIndex
from ts._core.vm.code import Method
from ts.bytecode.instruction import SCALARS, Label
from ts.bytecode.lowering import Handler, Lowering, lowers
from ts.bytecode.typespec import register_class, type_spec
from ts.ir.graph import Node, Value
from ts.ir.schema import Argument
from ts.ir.types import ANY, INT, InterfaceType, UnionType


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
    """Lower a method call to a call by name for interfaces, else to a direct call."""
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
    """Return the registers of the arguments, converted to the register classes of the parameters."""
    kinds = [register_class(parameter.type) for parameter in parameters]
    return [low.convert(low.use(value), kind) for value, kind in zip(values, kinds, strict=True)]
