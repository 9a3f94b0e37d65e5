"""Constant propagation, constant folding and branch folding, which evaluate nodes with constant inputs.

The pass evaluates deterministic nodes without side effects, if no node writes to their inputs or results. If
the evaluation fails, the node remains and fails at run time. The pass also replaces loops without iterations,
and values that never change.

The function `constant_propagation` folds all constants. The function `constant_propagation_immutable_types`,
which the frontend uses, does not fold lists and tensors.

This example shows nodes before and after the pass. All uses of %y are replaced by %c:

    %a : int = prim::Constant[value=3]()
    %b : int = prim::Constant[value=4]()
    %c : int = aten::mul(%a, %b)           =>    %c : int = prim::Constant[value=12]()
    %d : bool = aten::gt(%c, %a)
    %y : int = prim::If(%d)
      block0():
        -> (%c)
      block1():
        -> (%x)
"""

from __future__ import annotations

from typing import Any, Final

from ts.analysis.alias import AliasDb
from ts.analysis.autocast_regions import autocast_blocks
from ts.analysis.effects import has_side_effects, is_nondeterministic
from ts.analysis.mutation import IDENTITY, any_mutable, is_directly_written, is_only_read
from ts.ir.attributes import ParsedTensor, is_tensor
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import EnumType
from ts.passes.constant_evaluation import NOT_EVALUATED, evaluate
from ts.passes.dce import eliminate_dead_code, remove_carried
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import (
    BODY_INPUTS,
    LOOP_INPUTS,
    NOT_CONSTANT,
    constant_value,
    inline_block_before,
)
from ts.passes.rewriter import Rewriter, RuleSet

_NEVER_FOLDED: Final = frozenset(
    {
        "prim::Constant",
        "prim::Uninitialized",
        "prim::Closure",
        "prim::CreateObject",
        "prim::ModuleContainerIndex",
        "prim::unchecked_unwrap_optional",
        "prim::Load",
    }
)

# Kinds of types that may be less precise, as the declared type of a result, than the type of the folded value
_REFINED_TYPES: Final = ("OptionalType", "TensorType")
_MAX_TENSOR_ELEMENTS: Final = 1 << 16  # maximum size of a folded tensor


def constant_propagation(graph: Graph) -> bool:
    """Fold all nodes with constant inputs, then eliminate dead code.

    Lists and tensors that the graph returns are folded, too: all runs return the same object, as in PyTorch.
    """
    changed = _fold(graph, not autocast_blocks(graph), shares_results=True)
    return changed and (eliminate_dead_code(graph) or True)


def constant_propagation_immutable_types(graph: Graph) -> bool:
    """Fold nodes that compute numbers, strings or other immutable values, then eliminate dead code."""
    return fold_immutable_constants(graph) and (eliminate_dead_code(graph) or True)


def fold_constants(graph: Graph, rules: RuleSet | None = None) -> bool:
    """Fold nodes with constant inputs, except lists and tensors that the graph returns.

    Each run must return new lists and tensors. In a graph with autocast blocks, no list or tensor is folded,
    because tensor dtypes are known only at run time. The pass `dce` removes dead nodes later.

    `rules` are applied to each node before it is folded. A folded `if` can make rules match later nodes. In a
    chain of such nodes, this needs one traversal, but alternating passes would need one for each node.
    """
    return _fold(graph, not autocast_blocks(graph), rules=rules)


def fold_immutable_constants(graph: Graph) -> bool:
    """Fold nodes that compute values of immutable types: numbers, strings and tuples of these.

    `dce` removes dead nodes later.
    """
    return _fold(graph, False)


def _fold(graph: Graph, mutable: bool, shares_results: bool = False, rules: RuleSet | None = None) -> bool:
    propagator = _Propagator(graph, mutable, shares_results)
    if rules is not None:
        propagator.rewriter = Rewriter(graph, rules)
    propagator.visit_block(graph.block())
    return propagator.changed


class _Propagator:
    def __init__(self, graph: Graph, mutable: bool, shares_results: bool) -> None:
        self._graph = graph
        self._mutable = mutable  # whether results of mutable types (lists, tensors) are folded, too
        self._shares_results = shares_results  # whether all runs may return the same list or tensor object
        self._aliases: AliasDb | None = None  # created on first use, because most values need no analysis
        self.changed = False
        self.rewriter: Rewriter | None = None  # rewriter that is applied to each node before it is folded

    def visit_block(self, block: Block) -> None:
        for node in block.nodes():
            kind = node.kind()
            if kind == "prim::Constant":
                continue
            if self.rewriter is not None and self.rewriter.rewrite(node):
                self.changed = True
                if not node.in_block():
                    continue
            if kind == "prim::If":
                self._visit_if(node)
            elif kind == "prim::Loop":
                self._visit_loop(node)
            elif node.blocks():
                for inner in node.blocks():
                    self.visit_block(inner)
            elif all(value.node().kind() == "prim::Constant" for value in node.inputs()) and self._may_fold(
                node
            ):
                self._fold(node)

    # -- evaluation of operators -----------------------------------------------------------------------

    def _may_fold(self, node: Node) -> bool:
        if node.kind() in _NEVER_FOLDED or not node.outputs():
            return False
        if _is_wrong_cast(node) or _depends_on_identity(node) or _is_printed_unfolded(node):
            return False
        if not self._mutable and (any_mutable(node.inputs()) or any_mutable(node.outputs())):
            return False
        if has_side_effects(node) or is_nondeterministic(node):
            return False
        return all(is_only_read(value) for value in (*node.inputs(), *node.outputs())) or self._is_immutable(
            node
        )

    def _is_immutable(self, node: Node) -> bool:
        """Return whether no node writes to inputs or outputs of `node`, and whether no output escapes."""
        if any(map(is_directly_written, node.outputs())):  # decides most cases without alias analysis
            return False
        if self._aliases is None:
            self._aliases = self._graph.analysis(AliasDb)
        aliases = self._aliases
        if aliases.has_writers(node):
            return False
        if self._shares_results or _aliases_inputs(node):
            return True
        return not any(map(aliases.escapes, node.outputs()))

    def _fold(self, node: Node) -> None:
        results = evaluate(node, [constant_value(value) for value in node.inputs()])
        if results is NOT_EVALUATED or not optimization_allowed("constant_propagation"):
            return
        for output, result in zip(node.outputs(), results, strict=True):
            if _is_too_large(result):
                continue
            with self._graph.inserting_before(node):
                constant = self._graph.try_insert_constant(result)
            if constant is None:
                continue  # the value cannot be a constant of a graph
            if result is None or output.type().kind() not in _REFINED_TYPES:
                constant.set_type(output.type())
            update("constant_propagation", "Folding %{} to {}", output.debug_name(), result)
            output.replace_all_uses_with(constant)
            self.changed = True

    # -- simplification of ifs -------------------------------------------------------------------------

    def _visit_if(self, node: Node) -> None:
        """Fold an `if` with a constant condition (dead branch elimination), or else visit its branches."""
        condition = constant_value(node.input())
        if condition is not NOT_CONSTANT and optimization_allowed("constant_propagation"):
            branch = node.blocks()[0 if condition else 1]
            self.visit_block(branch)
            update("constant_propagation", "Folding if on constant {}", condition)
            inline_block_before(branch, node)
            for output, value in zip(node.outputs(), branch.outputs(), strict=True):
                output.replace_all_uses_with(value)
            node.destroy()
            self.changed = True
            return
        for inner in node.blocks():
            self.visit_block(inner)
        self._remove_equal_outputs(node)

    def _remove_equal_outputs(self, node: Node) -> None:
        """Replace outputs of an `if` that are the same value, or equal constants, in both branches."""
        then_block, else_block = node.blocks()
        i = 0
        while i < len(node.outputs()):
            value = self._common_value(node, then_block.outputs()[i], else_block.outputs()[i])
            if value is None:
                i += 1
                continue
            node.outputs()[i].replace_all_uses_with(value)
            node.erase_output(i)
            then_block.erase_output(i)
            else_block.erase_output(i)
            self.changed = True

    def _common_value(self, node: Node, on_true: Value, on_false: Value) -> Value | None:
        if on_true is on_false:
            return on_true
        first, second = on_true.node(), on_false.node()
        if not same_constant(first, second) or on_true.type().mutable:
            return None
        with self._graph.inserting_before(node):
            return self._graph.insert_constant(constant_value(on_true), type=on_true.type())

    # -- simplification of loops -----------------------------------------------------------------------

    def _visit_loop(self, node: Node) -> None:
        trips, condition = (constant_value(value) for value in node.inputs()[:LOOP_INPUTS])
        never_runs = (trips is not NOT_CONSTANT and trips < 1) or condition is False
        if never_runs and optimization_allowed("constant_propagation"):
            for output, initial in zip(node.outputs(), node.inputs()[LOOP_INPUTS:], strict=True):
                output.replace_all_uses_with(initial)
            node.destroy()
            self.changed = True
            return
        self.visit_block(node.blocks()[0])
        self._remove_unchanged_carried(node)

    def _remove_unchanged_carried(self, node: Node) -> None:
        body = node.blocks()[0]
        for i in reversed(range(len(node.outputs()))):
            carried = body.inputs()[i + BODY_INPUTS]
            if body.outputs()[i + 1] is carried:
                initial = node.inputs()[i + LOOP_INPUTS]
                node.outputs()[i].replace_all_uses_with(initial)
                carried.replace_all_uses_with(initial)
                remove_carried(node, i)
                self.changed = True


def _aliases_inputs(node: Node) -> bool:
    """Return whether all node outputs alias inputs, or elements of inputs."""
    if node.kind() in ("prim::TupleIndex", "prim::TupleUnpack", "prim::ListUnpack"):
        return True
    schema = node.schema()
    return schema is not None and all(result.alias is not None for result in schema.returns)


def _is_printed_unfolded(node: Node) -> bool:
    """Return whether `node` constructs a named tuple or has varargs (`format`). PyTorch folds neither."""
    if node.kind() == "prim::TupleConstruct":
        return getattr(node.output().type(), "name", None) is not None
    schema = node.schema()
    return schema is not None and schema.is_vararg


def same_constant(first: Node, second: Node) -> bool:
    """Return whether two nodes are constants of the same type and value."""
    if first.kind() != "prim::Constant" or second.kind() != "prim::Constant":
        return False
    return constant_key(first) == constant_key(second)


def constant_key(node: Node) -> tuple[Any, ...]:
    """Return a hashable key of a constant. Constants with equal keys are interchangeable.

    Different keys are given to -0.0 and 0.0, and to 1 and True. Different list objects have different keys,
    even if their elements are equal.
    """
    type = node.output().type()
    names = node.attribute_names()
    if not names:
        return (type,)
    if isinstance(type, EnumType):  # as in PyTorch, constants of equal enum members are not merged
        return (type, id(node))
    return (
        type,
        *[(name, node.kind_of(name), _value_key(node.get(name))) for name in names],
    )


def list_key(node: Node) -> tuple[Any, ...] | None:
    """Return a hashable key for a constant list of numbers or strings, or None for other constants."""
    value = node.get("value")
    if not isinstance(value, list) or any(not isinstance(x, (bool, int, float, str)) for x in value):
        return None
    return (node.output().type(), *map(_value_key, value))


def _value_key(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return (type(value), value)
    if isinstance(value, (float, complex)):
        return (type(value), repr(value))
    if isinstance(value, tuple):
        return tuple(_value_key(item) for item in value)
    if is_tensor(value) and not isinstance(value, ParsedTensor):
        return _TensorElements(value)
    return id(value)  # keys distinguish functions and lists by identity


class _TensorElements:
    """Hashable key of a tensor. Keys compare elements, dtype, device and `is_wrapped_number`."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __hash__(self) -> int:
        is_wrapped_number = getattr(self.tensor, "is_wrapped_number", False)
        return hash((self.tensor.dtype.code, tuple(self.tensor.shape), is_wrapped_number))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _TensorElements) or hash(self) != hash(other):
            return False
        return self.tensor is other.tensor or (
            self.tensor.device == other.tensor.device and bool(self.tensor.equal(other.tensor))
        )


def _depends_on_identity(node: Node) -> bool:
    """Return whether the result of `node` depends on the identity of objects, which folding would change."""
    return node.kind() in IDENTITY and any_mutable(node.inputs())


def _is_wrong_cast(node: Node) -> bool:
    """Return whether `node` casts its input to a type that the input cannot have.

    Unreachable branches may contain such casts.
    """
    return node.kind() == "prim::unchecked_cast" and not node.input().type().is_subtype_of(
        node.output().type()
    )


def _is_too_large(value: Any) -> bool:
    numel = getattr(value, "numel", None)
    return callable(numel) and numel() > _MAX_TENSOR_ELEMENTS
