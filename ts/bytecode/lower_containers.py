"""Lowering of list and dict operators to instructions that depend on the element type.

Examples of nodes and their instructions:

    %x : int = aten::__getitem__(%list, %i)           LIST_GET_SCALAR  %x, %list, %i
    %y : Tensor = aten::__getitem__(%list, %i)        LIST_GET         %y, %list, %i
    %n : int = aten::get(%dict, %key, %zero)          MOVE             %n, %zero
                                                      DICT_FIND        %n, %dict, %key

If no instruction supports the type of the container, the lowering method returns False. Then its caller emits
a call of the operator.
"""

from __future__ import annotations

from ts.bytecode.lowering import LOWER_CONTAINER, Lowering, lowers
from ts.bytecode.typespec import SCALARS, register_class
from ts.ir.graph import Node, Value
from ts.ir.types import DictType, ListType

_CONSTRUCT = {
    "prim::ListConstruct": "LIST_NEW",
    "prim::DictConstruct": "DICT_NEW",
    "prim::TupleConstruct": "TUPLE_NEW",
}


@lowers(*_CONSTRUCT)
def _lower_construct(low: Lowering, node: Node) -> None:
    """Lower the construction of a container. In a list of floats, int elements are converted to floats."""
    registers, type = low.use_all(node.inputs()), node.output().type()
    if isinstance(type, ListType) and register_class(type.elem) == "f":
        registers = [as_float(low, v) for v in node.inputs()]
    opcode = _CONSTRUCT[node.kind()]
    low.emit(opcode, low.define(node.output()), low.types.index(type), register_list=registers)


@lowers("prim::ListUnpack")
def _lower_list_unpack(low: Lowering, node: Node) -> None:
    """Lower `prim::ListUnpack` to a length check and one load for each used output."""
    source = low.use(node.input())
    low.emit("LIST_CHECK_LEN", source, len(node.outputs()))
    for i, output in enumerate(node.outputs()):
        if output.has_uses():
            _emit_get(low, "LIST_GET", output, source, low.constant(i, "i"))


@lowers("prim::TupleUnpack")
def _lower_tuple_unpack(low: Lowering, node: Node) -> None:
    """Lower `prim::TupleUnpack` to one load for each used output."""
    source = low.use(node.input())
    for i, output in enumerate(node.outputs()):
        if output.has_uses():
            low.emit("TUPLE_GET", low.define(output), source, i)


def _emit_get(low: Lowering, name: str, output: Value, container: int, key: int) -> None:
    """Emit instruction `name`, or its variant `name`_SCALAR if `output` is an int, float or bool."""
    scalar = register_class(output.type()) in SCALARS
    low.emit(f"{name}_SCALAR" if scalar else name, low.define(output), container, key)


@lowers("aten::__getitem__", table=LOWER_CONTAINER)
def _lower_get_item(low: Lowering, node: Node) -> bool:
    """Lower `container[key]`. Return False if the container is neither a list nor a dict."""
    container, key = node.inputs()
    if isinstance(container.type(), ListType):
        _emit_get(low, "LIST_GET", node.output(), low.use(container), low.use(key))
    elif isinstance(container.type(), DictType):
        _emit_get(low, "DICT_GET", node.output(), low.use(container), low.use(key))
    else:
        return False
    return True


@lowers("aten::_set_item", table=LOWER_CONTAINER)
def _lower_set_item(low: Lowering, node: Node) -> bool:
    """Lower `container[key] = value`. Return False if no instruction supports the types."""
    container, key, value = low.use_all(node.inputs())
    type, kind = node.input().type(), low.registers.classes[value]
    if isinstance(type, ListType) and register_class(type.elem) == kind:
        name = "LIST_SET"
    elif isinstance(type, DictType) and register_class(type.value) in (kind, "x"):
        name, kind = "DICT_SET", register_class(type.value)
    else:
        return False
    low.emit(f"{name}_SCALAR" if kind in SCALARS else name, container, key, value)
    _forward_input(low, node)
    return True


@lowers("aten::get", table=LOWER_CONTAINER)
def _lower_get(low: Lowering, node: Node) -> bool:
    """Lower `d.get(key, default)`: move the default, then overwrite it if the dict has the key."""
    container, key, *default = node.inputs()
    type, kind = container.type(), register_class(node.output().type())
    if not isinstance(type, DictType) or kind not in (register_class(type.value), "x"):
        return False
    default_register = low.use(default[0]) if default else low.constant(None, "x")
    if kind not in (low.registers.classes[default_register], "x"):
        return False
    source, key_register = low.use(container), low.use(key)
    result = low.define(node.output())
    low.move(result, default_register)
    low.emit("DICT_FIND", result, source, key_register)
    return True


@lowers("aten::append", table=LOWER_CONTAINER)
def _lower_append(low: Lowering, node: Node) -> bool:
    """Lower `list.append`. Return False if no instruction supports the types."""
    container, value = low.use_all(node.inputs())
    type = node.input().type()
    if not isinstance(type, ListType) or register_class(type.elem) not in (low.registers.classes[value], "x"):
        return False
    low.emit("LIST_APPEND", container, value)
    _forward_input(low, node)
    return True


@lowers("aten::len", table=LOWER_CONTAINER)
def _lower_len(low: Lowering, node: Node) -> bool:
    """Lower `len(container)`. Return False if the container is neither a list nor a dict."""
    type = node.input().type()
    name = "LIST_LEN" if isinstance(type, ListType) else "DICT_LEN" if isinstance(type, DictType) else ""
    if name:
        low.emit(name, low.define(node.output()), low.use(node.input()))
    return bool(name)


@lowers("aten::__contains__", table=LOWER_CONTAINER)
def _lower_contains(low: Lowering, node: Node) -> bool:
    """Lower `key in dict`. Return False if the container is not a dict."""
    container, key = node.inputs()
    if not isinstance(container.type(), DictType):
        return False
    low.emit("DICT_CONTAINS", low.define(node.output()), low.use(container), low.use(key))
    return True


def as_float(low: Lowering, value: Value) -> int:
    """Return a float register with the value of a number. An int is converted."""
    register = low.use(value)
    if low.registers.classes[register] != "i":
        return register
    if register in low.registers.constant_values:
        return low.constant(float(low.registers.constant_values[register]), "f")
    return low.convert(register, "f")


def _forward_input(low: Lowering, node: Node) -> None:
    """Emit a copy of the node's first input to its output, unless the output is unused."""
    for output in node.outputs():
        if output.has_uses():
            low.move(low.define(output), low.use(node.input()))
