"""Lowering of casts, type tests and uninitialized values.

%y : Tensor = prim::unchecked_cast(%x)             CAST_OBJECT  %y, %x
%b : bool = prim::isinstance[types=[int]](%x)      IS_INSTANCE  %b, %x, int
"""

from __future__ import annotations

from ts._core.value.fitting import is_subtype, present
from ts.bytecode.instruction import SCALARS
from ts.bytecode.lowering import Lowering, lowers
from ts.bytecode.typespec import register_class, type_spec
from ts.bytecode.uninitialized_values import uninitialized_value
from ts.errors import CompilationError
from ts.ir.graph import Node
from ts.ir.types import ANY, AnyListType, InterfaceType, ListType, erase_shape


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
        message = f"a value of type {node.input().type()} is not of type {node.output().type()}"
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
    """Initialize the output's register with a placeholder, which only graphs from text can read."""
    type = node.output().type()
    register = low.registers.values[node.output()] = low.new_register(register_class(type))
    if not node.needs_type_check:
        low.registers.uninitialized.add(register)
    try:
        low.registers.constant_values[register] = uninitialized_value(type)
    except KeyError:
        if node.needs_type_check:
            message = f"a value of type {type} cannot be left uninitialized"
            raise CompilationError(message, node.range) from None
        low.registers.constant_values[register] = ""


def _is_measured(cast: Node) -> bool:
    """Return whether `cast` converts an untyped list to `List[Any]` only for calls of `len`."""
    measures = all(use.user.kind() == "aten::len" for use in cast.output().uses())
    return measures and isinstance(cast.input().type(), AnyListType) and cast.output().type() == ListType(ANY)
