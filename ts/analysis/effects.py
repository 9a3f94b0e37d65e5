"""Effect analysis (purity) of nodes, which finds effects besides the computation of outputs.

Each query takes a node and returns a bool:

    has_side_effects(node)       True for effects outside of the function, such as printing and calls
    is_nondeterministic(node)    True if results differ between runs
    may_raise(node)              True for nodes that raise an error for some inputs

Nodes with side effects are never removed, moved or constant-folded. As in PyTorch, a node that may raise is
removed if its results are unused. Writes to tensors and containers are no side effects, because
`ts.analysis.alias` tracks them.
"""

from __future__ import annotations

from typing import Final

import ts.ops.node_schema  # noqa: F401 -- makes Node.operator() work
from ts._core.builtin_ops.properties import names_with
from ts.ir.graph import Node

_SIDE_EFFECTS: Final = names_with("side_effect") | frozenset(
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
        # If the check of the node fails, the function ends. Later nodes therefore rely on the check.
        "prim::BailOut",
        "prim::BailoutTemplate",
        "prim::TimePoint",
        "prim::Enter",
        "prim::Exit",
        "prim::ReturnStmt",
        "prim::BreakStmt",
        "prim::ContinueStmt",
        "prim::LoopContinuation",
        "prim::Store",
        "prim::fork",
        "prim::rpc_async",
        "prim::rpc_sync",
        "prim::rpc_remote",
    }
)

# Kinds of nodes for constructs of the language, which are no operators and have no operator records.
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


# Kinds of nodes that contain a graph in their attribute `Subgraph` and execute it. The graph executors create
# them.
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
    """Return whether `node` itself (not a node in its blocks) has effects outside the function."""
    return _flags(node)[0]


def is_nondeterministic(node: Node) -> bool:
    """Return whether running `node` twice may return different results."""
    return _flags(node)[1]


def reshapes(node: Node) -> bool:
    """Return whether `node` changes sizes or strides of its first input in place, as `resize_` does."""
    return _flags(node)[2]


def updates_moments(node: Node) -> bool:
    """Return whether `node` is a normalization in training mode, which writes the running statistics.

    The schemas do not mark the running statistics as written.
    """
    flag = _flags(node)[3]
    if not flag:
        return False
    schema = node.schema()
    assert schema is not None
    training = node.inputs()[[argument.name for argument in schema.arguments].index(flag)]
    return training.node().get("value") is not False


def calls_programs(node: Node) -> bool:
    """Return whether the operator of `node` runs other programs, such as a Python function."""
    return _flags(node)[4]


def reads_history(node: Node) -> bool:
    """Return whether the result of `node` depends on the autograd history or gradients of its inputs."""
    operator = None if node.kind() in STRUCTURAL else node.operator()
    return operator is not None and operator.record is not None and operator.record.reads_history


def may_return_self(node: Node) -> bool:
    """Return whether `node` may return its first input itself without a corresponding alias annotation."""
    operator = None if node.kind() in STRUCTURAL else node.operator()
    return operator is not None and operator.record is not None and operator.record.gives_self


# Kinds of nodes whose overloads on numbers, strings or containers raise an error for some inputs. For the
# overloads on tensors, `may_raise` returns False.
FAILING: Final = names_with("may_raise") | {"prim::ListUnpack", "prim::ModuleContainerIndex"}


def may_raise(node: Node) -> bool:
    """Return whether `node` may raise an error for some numbers, strings or containers as inputs.

    Examples: division by zero, an index out of range, conversion of an invalid string to a number.
    """
    kind = node.kind()
    if kind not in FAILING:
        return False
    inputs = node.inputs()
    first = inputs[0].type().kind()
    if kind in names_with("integer_division"):
        divisor = inputs[1].node()
        is_known = divisor.kind() == "prim::Constant" and divisor.get("value") != 0
        return not is_known and all(value.type().kind() == "IntType" for value in inputs)
    if kind in names_with("parses_string"):
        return first == "StringType"
    if kind == "prim::TupleIndex":
        return inputs[1].node().kind() != "prim::Constant"
    if kind == "aten::__getitem__":
        return first != "TensorType" and not _is_iteration(node)
    return first != "TensorType"


def _is_iteration(node: Node) -> bool:
    """Return whether `node` is `xs[i]` in a loop `for i in range(len(xs))`, which cannot fail."""
    index = node.inputs()[1]
    loop = index.owning_block().owning_node()
    if loop is None or loop.kind() != "prim::Loop" or index is not loop.blocks()[0].inputs()[0]:
        return False
    trip_count = loop.inputs()[0].node()
    counts = [trip_count]
    # a loop over `zip` runs `prim::min` of the lengths iterations
    if trip_count.kind() == "prim::min":
        counts = [value.node() for value in trip_count.input().node().inputs()]
    return any(count.kind() == "aten::len" and count.input() is node.inputs()[0] for count in counts)


Flags = tuple[bool, bool, bool, str, bool]
_NONE: Final[Flags] = (False, False, False, "", False)
_flags_by_kind: dict[str, Flags] = dict.fromkeys(STRUCTURAL, _NONE)


def _flags(node: Node) -> Flags:
    """Return the effect flags in the operator record of `node`.

    All overloads of an operator have equal flags.
    """
    kind = node.kind()
    flags = _flags_by_kind.get(kind)
    if flags is None:
        operator = node.operator()
        # operators without kernels, implemented as C functions, have no record
        record = None if operator is None else operator.record
        has_side_effect = kind in _SIDE_EFFECTS
        if record is None:
            flags = (has_side_effect, *_NONE[1:])
        else:
            flags = (
                has_side_effect or record.side_effect, record.nondeterministic, record.reshapes,
                record.updates, record.calls_programs,
            )  # fmt: skip
        if operator is not None or has_side_effect:
            _flags_by_kind[kind] = flags
    return flags
