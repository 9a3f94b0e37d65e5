"""What executing a node does besides computing its outputs.

`has_side_effects(node)` is about the outside world (printing, raising, calling): such a node is never
removed, moved or run at compile time. Writing to tensors and containers is not among them:
`ts.analysis.alias` knows which values a write can reach. `is_nondeterministic(node)` holds for what gives
another result each time. `may_raise(node)` holds for what fails on some inputs: PyTorch removes it with the
results that nobody reads, Python does not.
"""

from __future__ import annotations

from typing import Final

import ts.ops.node_operator  # noqa: F401 -- makes Node.operator() work
from ts.ir.graph import Node

_SIDE_EFFECTS: Final = frozenset(
    {
        "prim::Print",
        "prim::Line",
        "prim::Breakpoint",
        "prim::RaiseException",
        "prim::SetAttr",
        "prim::StoreElement",
        "prim::CallFunction",
        "prim::CallMethod",
        "prim::PythonOp",
        "prim::IgnoredPythonOp",
        "prim::AddStatValue",
        "prim::BailOut",  # types of other values rest on what it checks
        "prim::BailoutTemplate",
        "prim::TimePoint",
        "prim::Enter",
        "prim::Exit",
        "prim::ReturnStmt",
        "prim::BreakStmt",
        "prim::ContinueStmt",
        "prim::LoopContinuation",
        "prim::Store",
        "aten::is_autocast_enabled",  # others switch it
        "aten::is_autocast_cpu_enabled",
        "aten::_assert_scalar",
        "aten::warn",
        "aten::save",
        "aten::wait",
        "prim::fork",
        "prim::rpc_async",
        "prim::rpc_sync",
        "prim::rpc_remote",
    }
)

# Nodes of the language itself: no operator record describes them.
STRUCTURAL: Final = frozenset(
    {
        "prim::Constant",
        "prim::If",
        "prim::Loop",
        "prim::ListConstruct",
        "prim::DictConstruct",
        "prim::TupleConstruct",
        "prim::ListUnpack",
        "prim::TupleUnpack",
        "prim::TupleIndex",
        "prim::TupleSlice",
        "prim::Uninitialized",
        "prim::CreateObject",
        "prim::GetAttr",
        "prim::ModuleContainerIndex",
        "prim::Load",
        "prim::Param",
        "prim::Return",
        "prim::unchecked_cast",
        "prim::isinstance",
        "prim::Closure",
        "prim::With",
        "prim::ComprehensionScope",
    }
)


# Nodes that run the graph in their attribute `Subgraph`: executors put parts of a program into them.
GROUPS: Final = frozenset(
    {
        "prim::FusionGroup",
        "prim::TensorExprGroup",
        "prim::TensorExprDynamicGroup",
        "prim::CudaFusionGroup",
        "prim::oneDNNFusionGroup",
        "prim::StaticSubgraph",
        "prim::DifferentiableGraph",
        "prim::FunctionalGraph",
        "prim::FallbackGraph",
    }
)


def has_side_effects(node: Node) -> bool:
    """Whether `node` itself (not a node in its blocks) acts on the world outside of the function."""
    return _flags(node)[0]


def is_nondeterministic(node: Node) -> bool:
    """Whether running `node` twice may give two results."""
    return _flags(node)[1]


def reshapes(node: Node) -> bool:
    """Whether `node` makes another view of its first input, as `resize_` and `t_` do."""
    return _flags(node)[2]


def updates_moments(node: Node) -> bool:
    """Whether `node` is a norm that may write to running moments, of which schemas say nothing."""
    flag = _flags(node)[3]
    if not flag:
        return False
    schema = node.schema()
    assert schema is not None
    training = node.inputs()[[argument.name for argument in schema.arguments].index(flag)]
    return training.node().get("value") is not False


def calls_programs(node: Node) -> bool:
    """Whether `node` is an operator that runs programs of others, as a call does."""
    return _flags(node)[4]


def reads_history(node: Node) -> bool:
    """Whether the result of `node` depends on how its inputs were computed, or on their gradients."""
    operator = None if node.kind() in STRUCTURAL else node.operator()
    return operator is not None and operator.record is not None and operator.record.reads_history


def may_give_self(node: Node) -> bool:
    """Whether `node` may give its first input itself, though its schema has no mark of that."""
    operator = None if node.kind() in STRUCTURAL else node.operator()
    return operator is not None and operator.record is not None and operator.record.gives_self


# Operators on numbers, strings and containers that fail on some inputs; on tensors they are not meant.
FAILING: Final = frozenset(
    {
        "aten::floordiv",
        "aten::remainder",
        "aten::__getitem__",
        "aten::Int",
        "aten::Float",
        "aten::index",
        "aten::ord",
        "prim::ListUnpack",
        "prim::TupleIndex",
        "prim::ModuleContainerIndex",
    }
)


def may_raise(node: Node) -> bool:
    """Whether `node` computes with numbers, strings or containers and can fail: a division by zero, a wrong
    index, a text that is no number."""
    kind = node.kind()
    if kind not in FAILING:
        return False
    inputs = node.inputs()
    first = inputs[0].type().kind()
    if kind in ("aten::floordiv", "aten::remainder"):
        divisor = inputs[1].node()
        is_known = divisor.kind() == "prim::Constant" and divisor.get("value") != 0
        return not is_known and all(value.type().kind() == "IntType" for value in inputs)
    if kind in ("aten::Int", "aten::Float", "aten::ord"):
        return first == "StringType"
    if kind == "prim::TupleIndex":
        return inputs[1].node().kind() != "prim::Constant"
    if kind == "aten::__getitem__":
        return first != "TensorType" and not _is_iteration(node)
    return first != "TensorType"


def _is_iteration(node: Node) -> bool:
    """Whether this takes an item at the index of a loop over as many turns as there are items."""
    index = node.inputs()[1]
    loop = index.owning_block().owning_node()
    if loop is None or loop.kind() != "prim::Loop" or index is not loop.blocks()[0].inputs()[0]:
        return False
    turns = loop.inputs()[0].node()
    counts = [turns]
    if turns.kind() == "prim::min":  # of several iterables, or of one that is counted
        counts = [value.node() for value in turns.input().node().inputs()]
    return any(count.kind() == "aten::len" and count.input() is node.inputs()[0] for count in counts)


Flags = tuple[bool, bool, bool, str, bool]
_NONE: Final[Flags] = (False, False, False, "", False)
_flags_by_kind: dict[str, Flags] = dict.fromkeys(STRUCTURAL, _NONE)


def _flags(node: Node) -> Flags:
    """What the record of the node's operator says of effects; the overloads of one name agree on it."""
    kind = node.kind()
    flags = _flags_by_kind.get(kind)
    if flags is None:
        operator = node.operator()
        record = None if operator is None else operator.record  # an operator in C, on numbers, has none
        acts = kind in _SIDE_EFFECTS
        if record is None:
            flags = (acts, *_NONE[1:])
        else:
            flags = (
                acts or record.side_effect, record.nondeterministic, record.reshapes, record.updates,
                record.calls_programs,
            )  # fmt: skip
        if operator is not None or acts:
            _flags_by_kind[kind] = flags
    return flags
