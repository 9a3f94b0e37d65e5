"""Peephole rules that replace queries by facts from tensor types.

For `%x : Float(2, 3, strides=[3, 1], device=cpu)`, the value on the right replaces the node on the left:

    %d : int = aten::dim(%x)              =>    2
    %n : int = aten::size(%x, %one)       =>    3
    %z : Tensor = aten::type_as(%x, %y)   =>    %x, if %y has its dtype and device
    %c : Tensor = aten::conj(%x)          =>    %x

Tensor types are known after `complete_shape_analysis`, in the displayed graphs of traces, and for constants.
Traces are executed without tensor types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ts import devices, dtypes
from ts._core.builtin_ops.properties import COMPLEMENTS
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import TensorType
from ts.passes.pass_utils import constant_value
from ts.passes.rewriter import Rewriter, Rule


def _fold_property(rewriter: Rewriter, node: Node) -> Value | None:
    """Replace a property query by its result if the tensor's type determines it."""
    ask = _is_on if node.kind() in _DEVICE_CHECKS else _PROPERTIES[node.kind()]
    type = node.input().type() if node.inputs() else None
    value = ask(node, type) if isinstance(type, TensorType) else None
    return None if value is None else rewriter.constant(node, value)


def _fold_type_as(_: Rewriter, node: Node) -> Value | None:
    """Return the first input of `type_as` if both inputs have the same dtype and device, else None."""
    input_type, other = (value.type() for value in node.inputs())
    if not isinstance(input_type, TensorType) or not isinstance(other, TensorType):
        return None
    if None in (input_type.scalar_type, input_type.device()) or input_type.scalar_type != other.scalar_type:
        return None
    return node.input() if input_type.device() == other.device() else None


def _fold_count_of_sizes(rewriter: Rewriter, node: Node) -> Value | None:
    """Replace `len(x.size())` by the rank of `x` if it is known."""
    sizes = node.input().node()
    if sizes.kind() != "aten::size" or len(sizes.inputs()) != 1:
        return None
    type = sizes.input().type()
    count = type.dim() if isinstance(type, TensorType) else None
    return None if count is None or rewriter.is_written(node.input()) else rewriter.constant(node, count)


def _fold_requires_grad(rewriter: Rewriter, node: Node) -> Value | None:
    """Replace `x.requires_grad` by a constant if the type of `x` contains it and no node writes to `x`."""
    type = node.input().type()
    requires_grad = type._requires_grad if isinstance(type, TensorType) else None
    if requires_grad is None or rewriter.is_written(node.input()):
        return None
    return rewriter.constant(node, requires_grad)


def _fold_conversion(_: Rewriter, node: Node) -> Value | None:
    """Return the input of a dtype conversion without effect, or None for other conversions."""
    input_type = node.input(0).type()
    record = getattr(node.operator(), "record", None)
    if (
        record is None
        or not record.converts
        or not isinstance(input_type, TensorType)
        or input_type.scalar_type is None
    ):
        return None
    dtype, *others = (constant_value(value) for value in node.inputs()[1:])
    if dtype != input_type.scalar_type or isinstance(dtype, bool):
        return None
    defaults = [argument.default for argument in record.schema.arguments[2:]]
    return node.input(0) if others == defaults else None


def _fold_conjugation(_: Rewriter, node: Node) -> Value | None:
    """Return the input of `conj` or `real` if the dtype of the input is known and real, else None."""
    input_type = node.input().type()
    dtype = _dtype(input_type) if isinstance(input_type, TensorType) else None
    return None if dtype is None or dtype.is_complex else node.input()


def _size(node: Node, type: TensorType) -> int | None:
    if len(node.inputs()) != 2:  # `x.size()` returns a list, which must be a new object in each run
        return None
    sizes, dim = type.sizes(), constant_value(node.input(1))
    if sizes is None or not isinstance(dim, int) or not -len(sizes) <= dim < len(sizes):
        return None
    return sizes[dim]


def _device(node: Node, type: TensorType) -> devices.device | None:
    device = type.device()
    return None if device is None else devices.device(str(device))


def _dtype(type: TensorType) -> dtypes.dtype | None:
    return None if type.scalar_type is None else dtypes.BY_CODE[type.scalar_type]


def _is_float(node: Node, type: TensorType) -> bool | None:
    dtype = _dtype(type)
    return None if dtype is None else dtype.is_floating_point


def _is_complex(node: Node, type: TensorType) -> bool | None:
    dtype = _dtype(type)
    return None if dtype is None else dtype.is_complex


def _is_on(node: Node, type: TensorType) -> bool | None:
    """Return the result of device query `node`, such as `is_cuda`, or None if the device is unknown."""
    device = _device(node, type)
    return None if device is None else device.type == node.kind().removeprefix("prim::is_")


_PROPERTIES: Final[dict[str, Callable[[Node, TensorType], Any]]] = {
    "aten::dim": lambda node, type: type.dim(),
    "aten::size": _size,
    "prim::dtype": lambda node, type: type.scalar_type,
    "prim::device": _device,
    "aten::is_floating_point": _is_float,
    "aten::is_complex": _is_complex,
}
_DEVICE_CHECKS: Final = frozenset({"prim::is_cpu", "prim::is_cuda", "prim::is_meta"})
TYPE_QUERIES: Final = _DEVICE_CHECKS | frozenset(_PROPERTIES)

TYPE_RULES: Final = (
    Rule("aten::len", _fold_count_of_sizes),
    Rule("prim::requires_grad", _fold_requires_grad),
    Rule("aten::to", _fold_conversion),
    Rule("aten::type_as", _fold_type_as),
    Rule("aten::conj aten::real aten::resolve_conj", _fold_conjugation),
    Rule(" ".join(sorted(TYPE_QUERIES)), _fold_property),
)

# Queries whose results `specialize_to_arguments` derives from the types of the arguments of a call.
NONE_CHECKS: Final = frozenset(COMPLEMENTS)
TENSOR_QUERIES: Final = TYPE_QUERIES | {"prim::requires_grad"}
ARGUMENT_QUERIES: Final = NONE_CHECKS | {"prim::isinstance"}


def may_query_types(graph: Graph) -> bool:
    """Return whether a graph may contain type queries."""
    return not (graph.kinds().isdisjoint(TENSOR_QUERIES) and graph.kinds().isdisjoint(ARGUMENT_QUERIES))
