"""Specialization to argument types (partial evaluation): decide queries of dtypes, ranks and devices.

The pass specializes the graph on the left to the arguments (float32[2], None):

    graph(%x : Tensor, %b : Tensor?):
      %d : int = aten::dim(%x)
      %one : bool = aten::eq(%d, %1)                 graph(%x : Tensor, %b : Tensor?):
      %y : Tensor = prim::If(%one)                     %z : Tensor = aten::tanh(%x)
        block0():                                =>    return (%z)
          %u : Tensor = aten::unsqueeze(%x, %0)
          -> (%u)
        block1():
          -> (%x)
      ... `if b is not None`, `y.is_cuda` ...

Queries are tests for None, `isinstance`, and operators whose results follow from tensor types
(`peephole_types`). `queried_arguments` returns the indices of the arguments whose types decide a branch.

Sizes are never known, because they may change between calls. The same applies to dtypes that depend on the
default dtype.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ts.analysis.effects import has_side_effects
from ts.analysis.mutation import writes_to_inputs
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import NONE, TENSOR, TensorType, Type
from ts.passes.constant_evaluation import NOT_EVALUATED
from ts.passes.dce import eliminate_dead_code
from ts.passes.erase_shapes import erase_shape_information
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.peephole import simplify, simplify_and_fold_constants
from ts.passes.peephole_types import ARGUMENT_QUERIES, TENSOR_QUERIES, may_query_types
from ts.passes.shape_analysis import RANK_BY_SIZES, Analysis, is_elementwise, tensors_in

# kinds of types that, as the declared type of a parameter, may be less precise than the type of the argument
_OPEN_TYPES: Final = frozenset({"OptionalType", "AnyType", "UnionType"})
_CASTS: Final = frozenset({"prim::unchecked_cast", "prim::unchecked_unwrap_optional"})
_CALLS: Final = frozenset({"prim::CallFunction", "prim::CallMethod", "prim::PythonOp", "prim::fork"})
_MAX_ROUNDS: Final = 4  # maximum number of rounds. A round can make more queries decidable in the next round


def queried_arguments(graph: Graph) -> list[int]:
    """Return the indices of the arguments whose type decides a branch of the graph."""
    return _TypeQueries(graph).arguments()


def specialize_to_arguments(graph: Graph, argument_types: Mapping[int, Type]) -> bool:
    """Fold the queries that the given input types decide, and return whether the graph changed.

    `argument_types` maps input indices to types with dtype, rank and device, but without sizes. After the
    pass, the graph's inputs have their declared types again.
    """
    return optimization_allowed("specialize_to_arguments") and _specialize(graph, argument_types)


def _specialize(graph: Graph, argument_types: Mapping[int, Type]) -> bool:
    inputs = graph.inputs()
    declared = {inputs[i]: inputs[i].type() for i in argument_types}
    for i, type in argument_types.items():
        inputs[i].set_type(TENSOR if isinstance(type, TensorType) else type)
    changed = _fold_queries(graph)
    for _ in range(_MAX_ROUNDS):
        queries = _TypeQueries(graph)
        if not queries.arguments():
            break
        for i, type in argument_types.items():
            inputs[i].set_type(type)
        _TypePropagation(graph, queries.needed).run_on_types()
        has_folded = simplify(graph)
        erase_shape_information(graph)
        changed |= _fold_queries(graph) or has_folded
        if not has_folded:
            break
    _declare(graph, declared)
    update("specialize_to_arguments", "Specialised to {}", argument_types)
    return changed


def specialize_to_input_types(graph: Graph) -> bool:
    """Specialize to the declared input types, erase these types, and remove dead code."""
    inputs = graph.inputs()
    argument_types = {}
    for i, type in enumerate(value.type() for value in inputs):
        if isinstance(type, TensorType) and type.scalar_type is not None:
            rank = type.dim()
            argument_types[i] = type.with_(sizes=None if rank is None else [None] * rank, strides=None)
    if not argument_types or not optimization_allowed("specialize_to_arguments"):
        return False
    for i in argument_types:
        inputs[i].set_type(TENSOR)
    _specialize(graph, argument_types)
    eliminate_dead_code(graph)
    return True


def _fold_queries(graph: Graph) -> bool:
    """Replace type queries that the known types determine by constants, and remove untaken branches."""
    changed = simplify(graph)
    simplify_and_fold_constants(graph)
    while simplify(graph):
        changed = True
        simplify_and_fold_constants(graph)
    return changed


def _declare(graph: Graph, declared: Mapping[Value, Type]) -> None:
    """Restore the declared types of inputs.

    Nodes that read an input read a cast of it to its specialized type instead.
    """
    for value, type in declared.items():
        specialized = value.type()
        if specialized == type:
            continue
        value.set_type(type)
        if not value.has_uses():
            continue
        with graph.inserting_at_start():
            if specialized == NONE:
                value.replace_all_uses_with(graph.insert_constant(None))
                cast = None
            else:
                cast = graph.insert_node(graph.create("prim::unchecked_cast", (value,), 1))
        if cast is not None:
            value.replace_all_uses_with(cast.output().set_type(specialized))
            cast.replace_input(0, value)


# -- type queries and the arguments that decide them -------------------------------------------------------


class _TypeQueries:
    """Dependency analysis: finds the arguments whose types determine type queries in branch conditions."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.needed: set[Node] = set()
        self._dependencies: dict[Value, frozenset[int] | None] = {}
        self._input_index = {value: i for i, value in enumerate(graph.inputs())}

    def arguments(self) -> list[int]:
        """Return the sorted indices of the arguments whose types decide a query."""
        if not may_query_types(self.graph) or any(node.kind() in _CALLS for node in self.graph.all_nodes()):
            # Argument types decide no query, because a callee may change the shape of a tensor argument.
            return []
        indices: set[int] = set()
        for node in self.graph.all_nodes():
            if (not _queries_tensor(node) and not _queries_argument(node)) or not _decides_branch(node):
                continue
            if _queries_tensor(node):
                indices |= self._dependencies_of(node.input(0)) or frozenset()
            else:
                indices.update(self._input_index[x] for x in node.inputs() if x in self._input_index)
        return sorted(indices)

    def _dependencies_of(self, value: Value) -> frozenset[int] | None:
        """Return the indices of the arguments that determine the type of `value`.

        Return None if the type also depends on other values.
        """
        if value in self._input_index:
            return frozenset((self._input_index[value],)) if _may_be_tensor(value.type()) else None
        if value not in self._dependencies:
            # This entry ends the recursion if a loop-carried value depends on itself.
            self._dependencies[value] = None
            self._dependencies[value] = self._result_dependencies(value)
        return self._dependencies[value]

    def _result_dependencies(self, value: Value) -> frozenset[int] | None:
        node = value.node()
        if node.kind() == "prim::Constant":
            return frozenset()
        if node.kind() == "prim::If":
            return self._union_dependencies(block.outputs()[value.offset()] for block in node.blocks())
        if node.kind() == "prim::Loop":
            return self._union_dependencies(
                (node.inputs()[2 + value.offset()], node.blocks()[0].outputs()[1 + value.offset()])
            )
        if node.kind() == "prim::Param":
            return self._carried_dependencies(value)
        if node.blocks() or node.kind() == "prim::GetAttr" or has_side_effects(node):
            return None
        if RANK_BY_SIZES[node.kind()] or (writes_to_inputs(node) and not is_elementwise(node)):
            return None
        operands = [x for x in node.inputs() if not (is_elementwise(node) and _is_number(x))]
        indices = self._union_dependencies(operands)
        if indices is not None:
            self.needed.add(node)
        return indices

    def _carried_dependencies(self, value: Value) -> frozenset[int] | None:
        """Return the indices of the arguments that determine the type of a loop-carried value."""
        loop = value.owning_block().owning_node()
        offset = value.offset()
        if loop is None or loop.kind() != "prim::Loop" or offset == 0:
            return None
        first = self._dependencies_of(loop.inputs()[1 + offset])
        self._dependencies[value] = first
        next_dependencies = self._dependencies_of(loop.blocks()[0].outputs()[offset])
        return None if first is None or next_dependencies is None else first | next_dependencies

    def _union_dependencies(self, values: Iterable[Value]) -> frozenset[int] | None:
        indices: frozenset[int] = frozenset()
        for value in values:
            dependencies = self._dependencies_of(value)
            if dependencies is None:
                return None
            indices |= dependencies
        return indices


def type_queries(graph: Graph) -> Iterator[Node]:
    """Return the type queries whose results reach the condition of a branch."""
    return filter(_is_type_query, graph.all_nodes())


def _is_type_query(node: Node) -> bool:
    return (_queries_tensor(node) or _queries_argument(node)) and _decides_branch(node)


def _queries_tensor(node: Node) -> bool:
    if node.kind() not in TENSOR_QUERIES or len(node.outputs()) != 1 or not node.has_uses():
        return False
    if node.kind() == "aten::size":
        return len(node.inputs()) == 1 and any(u.user.kind() == "aten::len" for u in node.output().uses())
    return True


def _queries_argument(node: Node) -> bool:
    """Return whether `node` queries the type of an `Optional`, `Any` or `Union` argument (`x is None`)."""
    if node.kind() not in ARGUMENT_QUERIES:
        return False
    return any(x.node().kind() == "prim::Param" and x.type().kind() in _OPEN_TYPES for x in node.inputs())


def _decides_branch(node: Node, depth: int = 8) -> bool:
    """Return whether the result of type query `node` reaches the condition of a branch."""
    for use in (use for output in node.outputs() for use in output.uses()):
        user = use.user
        if user.blocks():
            if use.offset == 0:
                return True
        elif user.kind() == "prim::Return":
            owner = user.owning_block().owning_node()
            if owner is not None and depth and _decides_branch(owner, depth - 1):
                return True
        elif (
            depth
            and all(_has_query_result_type(output) for output in user.outputs())
            and _decides_branch(user, depth - 1)
        ):
            return True
    return False


def _has_query_result_type(value: Value) -> bool:
    """Return whether `value` has a type that results of type queries, or of computations with them, have."""
    return value.type().kind() in ("BoolType", "IntType", "ListType", "StringType", "DeviceObjType")


def _may_be_tensor(type: Type) -> bool:
    return type.is_subtype_of(TENSOR) or type.kind() in _OPEN_TYPES


def _is_number(value: Value) -> bool:
    return value.type().kind() in ("IntType", "FloatType", "BoolType")


# -- propagation of known types ----------------------------------------------------------------------------


class _TypePropagation(Analysis):
    """Type inference for the nodes `needed`, on which type queries (`x.dim()`, `x.dtype`) depend.

    The inference uses only argument types, so its results are valid for every call with these types.
    """

    def __init__(self, graph: Graph, needed: set[Node]) -> None:
        super().__init__(graph, complete=True)
        self.needed = needed

    def record_sample(
        self, value: Value, sample: Any, device: str | None, requires_grad: bool | None
    ) -> None:
        """Record `sample` and set the type of `value`, or set the type of a value without sample to unknown.

        A value has no sample if it may be an alias of a tensor that the graph resizes or reshapes in place.
        Its type is then unknown before the types of `if` nodes and loops are derived from it.
        """
        super().record_sample(value, sample, device, requires_grad)
        if value not in self.samples and value.type().is_subtype_of(TENSOR):
            value.set_type(TENSOR)

    def visit_node(self, node: Node) -> None:
        if node in self.needed:
            super().visit_node(node)

    def visit_attribute(self, node: Node) -> None:
        """Do nothing, because attribute values may change between calls."""

    def results(self, node: Node, arguments: list[Any]) -> Any:
        """Return samples of the results, or NOT_EVALUATED if their dtype depends on the default dtype."""
        results = super().results(node, arguments)
        if results is NOT_EVALUATED:
            return results
        has_float_argument = any(_is_float(sample) for sample in tensors_in(arguments))
        if (
            not has_float_argument
            and any(_is_float(sample) for sample in tensors_in(results))
            and not _has_constant_dtype(node)
        ):
            return NOT_EVALUATED
        return results

    def device_of_results(self, node: Node, tensors: list[TensorType]) -> str | None:
        """Return the common device of `tensors`, or None if the operator may move a tensor."""
        if not tensors or any(value.type().kind() == "DeviceObjType" for value in node.inputs()):
            return None
        record = getattr(node.operator(), "record", None)
        if record is not None and record.tensor_kernel and not _has_constant_dtype(node):
            return None
        return super().device_of_results(node, tensors)


def _is_float(sample: Any) -> bool:
    return bool(sample.dtype.is_floating_point or sample.dtype.is_complex)


def _has_constant_dtype(node: Node) -> bool:
    """Return whether a node converts its input to a dtype that is a constant argument."""
    record = getattr(node.operator(), "record", None)
    return record is not None and record.converts and _is_number(node.input(1))
