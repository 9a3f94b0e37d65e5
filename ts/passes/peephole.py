"""Peephole optimizations (algebraic simplification) of nodes with known results or simpler equivalents.

The pass replaces each node on the left by the value on the right:

    %b : int = aten::mul(%a, %one)                      =>    %a
    %c : bool = aten::__isnot__(%a, %none)              =>    true, as an int is never None
    %n : int = aten::len(prim::ListConstruct(%a, %b))   =>    2, if nothing writes to the list
    %p : bool = prim::If(%q) -> true, false             =>    %q

All rules are exact. `x * 1.0` and `x - 0.0` become x. `x + 0.0` remains, because its result is 0.0 if x is
-0.0. The rules are `_RULES`, `peephole_list_idioms.LIST_RULES` and `peephole_types.TYPE_RULES`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ts._core.builtin_ops import properties
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import BOOL
from ts.ops.registry import field_by_name
from ts.passes.constant_propagation import fold_constants
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_utils import NOT_CONSTANT, constant_value
from ts.passes.peephole_list_idioms import LIST_RULES
from ts.passes.peephole_types import TYPE_RULES
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def peephole(graph: Graph, disable_shape_peepholes: bool = False) -> bool:
    """Apply the rules until no rule matches, then eliminate dead code.

    `disable_shape_peepholes` disables the rules that use tensor types.
    """
    changed = (_EXACT if disable_shape_peepholes else _ALL).apply(graph)
    return changed and (eliminate_dead_code(graph) or True)


def simplify(graph: Graph, folds_conv_dims: bool = False) -> bool:
    """Apply the rules until no rule matches. `dce` removes the dead nodes later.

    `folds_conv_dims` replaces `aten::dim` of a convolution's result by a constant, as PyTorch does. The
    constant is wrong for inputs without a batch dimension.
    """
    return (_ALL if folds_conv_dims else _SIMPLIFY).apply(graph)


def simplify_and_fold_constants(graph: Graph) -> bool:
    """Apply the rules of `simplify` to each node and fold constants, in one traversal in program order."""
    return fold_constants(graph, _SIMPLIFY)


# -- functions of the rules ----------------------------------------------------------------------------

_MAY_BE_NONE: Final = frozenset({"OptionalType", "AnyType", "UnionType", "VarType", "NumberType"})
_SPATIAL_DIMS: Final = field_by_name("spatial_dims")
_COMPLEMENT: Final = field_by_name("complement")


def _kind(value: Value) -> str:
    return value.type().kind()


def _has_number_type(node: Node) -> bool:
    """Return whether both operands and the result are ints, or all are floats."""
    kind = _kind(node.output())
    return kind in ("IntType", "FloatType") and all(_kind(value) == kind for value in node.inputs()[:2])


def _has_int_type(node: Node) -> bool:
    return _has_number_type(node) and _kind(node.output()) == "IntType"


def _subtracts_positive_zero(node: Node) -> bool:
    """Return whether `node` subtracts 0 or 0.0, but not -0.0. The difference x - -0.0 is 0.0 if x is -0.0."""
    return _has_number_type(node) and str(constant_value(node.input(1))) in ("0", "0.0")


def _has_bool_operands(node: Node) -> bool:
    return all(_kind(value) == "BoolType" for value in node.inputs())


def _move_constant_right(_: Rewriter, node: Node) -> None:
    """Move the constant operand of a commutative operator to the right, so that the other rules match.

    Bytecode instructions also support constant operands only on the right. PyTorch's pass does not move
    operands, so the rule reports no change.
    """
    if _has_int_type(node) or (node.kind() == "aten::mul" and _has_number_type(node)):
        left, right = (constant_value(value) for value in node.inputs())
        if left is not NOT_CONSTANT and right is NOT_CONSTANT:
            node.permute_inputs((1, 0))


def _identity(_: Rewriter, node: Node) -> Value | None:
    """Return the input of a conversion that keeps the type, or None for other conversions."""
    value = node.inputs()[0]
    return value if value.type() == node.output().type() else None


def _fold_number_conversion(rewriter: Rewriter, node: Node) -> Value | None:
    """Return the number that conversion `node` would return unchanged, or None if it changes its input.

    The number is the input, or `n` if the input is the result of `prim::NumToTensor(n)`.
    """
    (value,) = node.inputs()
    producer = value.node()
    if producer.kind() == "prim::NumToTensor" and producer.input().type().isSubtypeOf(node.output().type()):
        return producer.input()
    return _identity(rewriter, node)


def _unwrap(_: Rewriter, node: Node) -> Value | None:
    value = node.inputs()[0]
    return value if value.type().isSubtypeOf(node.output().type()) else None


def _negates_bool_negation(node: Node) -> bool:
    return _has_bool_operands(node) and _has_bool_operands(node.input().node())


def _negate_comparison(rewriter: Rewriter, node: Node) -> Value | None:
    """Replace the negation of a comparison by the complementary comparison.

    No other node may read the negated comparison.
    """
    comparison = node.input().node()
    kind = comparison.kind()
    complement = properties.COMPLEMENTS.get(kind) or _COMPLEMENT[kind]
    if _kind(node.input()) != "BoolType" or not complement:
        return None
    kinds = [_kind(value) for value in comparison.inputs()]
    ordered = kind in properties.names_with("ordering")
    comparable_kinds = (
        ("IntType",) if ordered else ("IntType", "FloatType", "BoolType", "StringType")
    )  # ordered float comparisons have no complement, because all are false for NaN
    if node.input().use_count() == 1 and all(kind in comparable_kinds for kind in kinds):
        return rewriter.call(node, complement, comparison.inputs(), BOOL)
    return None


def _fold_logical(neutral: bool, _: Rewriter, node: Node) -> Value | None:
    """Fold a logical operator with a constant operand.

    The operator is `and` if `neutral` is True, and `or` if `neutral` is False.
    """
    if not _has_bool_operands(node):
        return None
    left, right = node.inputs()
    for value, other in ((left, right), (right, left)):
        constant = constant_value(value)
        if constant is not NOT_CONSTANT:
            return other if constant is neutral else value
    return None


def _is_none(rewriter: Rewriter, node: Node) -> Value | None:
    """Fold `x is None` for types that are always or never None."""
    left, right = node.inputs()
    if _kind(right) != "NoneType":
        left, right = right, left
    if _kind(right) != "NoneType" or _kind(left) in _MAY_BE_NONE:
        return None
    return rewriter.constant(node, (_kind(left) == "NoneType") == (node.kind() == "aten::__is__"))


def _fold_none_attribute(rewriter: Rewriter, node: Node) -> Value | None:
    """Replace an attribute of type None, such as an absent bias, by the constant None."""
    return rewriter.constant(node, None) if _kind(node.output()) == "NoneType" else None


def _fold_conv_dim(rewriter: Rewriter, node: Node) -> Value | None:
    """Replace `aten::dim` of a convolution result by a constant, unless a node writes to the result."""
    spatial_dims = _SPATIAL_DIMS[node.input().node().kind()]
    if not spatial_dims or rewriter.is_written(node.input()):
        return None
    return rewriter.constant(node, spatial_dims + 2)


def _simplify_if_outputs(rewriter: Rewriter, node: Node) -> list[Value] | None:
    """Replace outputs of an `if` that always equal its condition, or the negation of its condition."""
    results = list(node.outputs())
    for i, output in enumerate(results):
        if _kind(output) != "BoolType" or not output.has_uses():
            continue
        values = tuple(constant_value(block.outputs()[i]) for block in node.blocks())
        if values == (True, False):
            results[i] = node.input()
        elif values == (False, True):
            results[i] = rewriter.call(node, "aten::__not__", (node.input(),), BOOL)
    return None if results == list(node.outputs()) else results


_RULES: Final = (
    Rule("aten::mul aten::add", _move_constant_right),
    Rule("aten::mul(x, 1)", "x", _has_number_type),
    Rule("aten::add(x, 0)", "x", _has_int_type),  # not for floats, because -0.0 + 0.0 is 0.0
    Rule("aten::sub(x, 0)", "x", _subtracts_positive_zero),
    Rule("aten::div(x, 1)", "x", _has_number_type),
    Rule("aten::floordiv(x, 1)", "x", _has_int_type),
    Rule(
        "aten::Int aten::Float aten::Bool aten::IntImplicit aten::FloatImplicit aten::ScalarImplicit",
        _fold_number_conversion,
    ),
    Rule("aten::str prim::unchecked_cast", _identity),
    Rule("aten::_unwrap_optional prim::unchecked_unwrap_optional", _unwrap),
    Rule("aten::__not__(aten::__not__(x))", "x", _negates_bool_negation),
    Rule("aten::__not__", _negate_comparison),
    Rule("aten::__and__", partial(_fold_logical, True)),
    Rule("aten::__or__", partial(_fold_logical, False)),
    Rule("aten::__is__ aten::__isnot__", _is_none),
    Rule("aten::__derive_index(i, 0, 1)", "i"),
    Rule("aten::__derive_index(i, start, 1)", "aten::add(i, start)"),
    Rule("aten::t(aten::t(x))", "x"),
    Rule("prim::GetAttr", _fold_none_attribute),
    Rule("prim::If", _simplify_if_outputs),
)

_EXACT: Final = RuleSet("peephole", *LIST_RULES, *_RULES, leaves_dead_nodes=True)
_SIMPLIFY: Final = RuleSet("peephole", *LIST_RULES, *_RULES, *TYPE_RULES, leaves_dead_nodes=True)
_ALL: Final = RuleSet(
    "peephole",
    *LIST_RULES,
    *_RULES,
    *TYPE_RULES,
    Rule("aten::dim", _fold_conv_dim),
    leaves_dead_nodes=True,
)
