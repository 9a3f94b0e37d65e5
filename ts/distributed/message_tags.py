"""Message tags for tag matching of sends with receives between ranks.

A tag identifies a message. A receive matches a message of the same kind, group and tag number. The example
creates a tag and formats it for an error message:

    tag = make_tag(ALL, group=0, tag=7, function="all_reduce", tensor=x, reduction=ReduceOp.SUM)
    format_tag(tag)                     "all_reduce with SUM of 3 elements of ts.float32"
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ts import dtypes
from ts._core.tensor.tensor import Tensor
from ts.distributed.reduce_op import ReduceOp

FUNCTIONS: Final = (
    "send", "all_reduce", "reduce", "broadcast", "all_gather", "gather", "scatter", "reduce_scatter",
    "all_to_all", "barrier", "monitored_barrier", "all_gather_coalesced", "all_reduce_coalesced",
)  # fmt: skip
_REDUCES: Final = frozenset(FUNCTIONS.index(each) for each in FUNCTIONS if "reduce" in each)

# Kinds of messages: data of a point-to-point call, data of a collective call, notice that a collective call
# has failed, notice that a rank leaves the group.
ONE, ALL, FAILED, LEAVING = range(4)


class MessageTag(NamedTuple):
    """Tag of a message.

    A receive matches messages with equal kind, group and tag. If another field of a matching message differs,
    the ranks called different functions, which is an error.
    """

    kind: int
    group: int
    # tag that the caller gave a point-to-point message, or number of the collective call in its group
    tag: int
    function: int = 0
    reduction: int = 0
    dtype: int = 0
    elements: int = 0  # number of elements of the whole tensor, also if the message carries only a part of it


def make_tag(
    kind: int, group: int, tag: int, function: str, tensor: Tensor | None, reduction: ReduceOp | None = None
) -> MessageTag:
    """Return the tag of the messages of a call of `function` with `tensor`."""
    code = FUNCTIONS.index(function)
    dtype, elements = (0, 0) if tensor is None else (tensor.scalar_type, tensor.numel())
    return MessageTag(kind, group, tag, code, 0 if reduction is None else reduction.value, dtype, elements)


def format_tag(label: MessageTag) -> str:
    """Format a tag for error messages."""
    name = FUNCTIONS[label.function] if label.function < len(FUNCTIONS) else f"function {label.function}"
    if label.kind == ONE:
        name = f"{name} with tag {label.tag}"
    if label.function in _REDUCES:
        name = f"{name} with {ReduceOp(label.reduction).name}"
    if not label.elements:
        return name
    dtype = dtypes.BY_CODE.get(label.dtype, label.dtype)
    return f"{name} of {label.elements} elements of {dtype}"
