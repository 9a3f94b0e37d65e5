"""Peephole optimizations (algebraic simplification) of nodes with known results or simpler equivalents.

    %b : int = aten::mul(%a, %one)                      =>    %a
    %c : bool = aten::__isnot__(%a, %none)              =>    true, as an int is never None
    %n : int = aten::len(prim::ListConstruct(%a, %b))   =>    2, if the list has no writers (by
                                                              `peephole_list_idioms`)
    %p : bool = prim::If(%q) -> true, false             =>    %q

All rules are exact: `x + 0.0` remains (it maps -0.0 to 0.0), while `x * 1.0` and `x - 0.0` become x.
Rules are functions by node kind in `_RULES`; each returns the replacement of the node's only output, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ts.analysis.alias import AliasDb
from ts.analysis.mutation import is_directly_written
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import BOOL, INT, Type
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import NOT_CONSTANT, constant_value
from ts.passes.peephole_list_idioms import RULES as LIST_RULES
from ts.passes.peephole_types import (
    TYPE_QUERIES,
    count_of_sizes,
    input_of_noop_conjugation,
    input_of_noop_conversion,
    same_type,
    static_property,
    static_requires_grad,
)


def peephole(graph: Graph, disable_shape_peepholes: bool = False) -> bool:
    """Apply the rules until no rule matches, then eliminate dead code.

    `disable_shape_peepholes` disables the rules that use tensor types.
    """
    changed = simplify(graph, not disable_shape_peepholes, folds_conv_dims=True)
    return changed and (eliminate_dead_code(graph) or True)


def simplify(graph: Graph, by_types: bool = True, folds_conv_dims: bool = False) -> bool:
    """Apply the rules until no rule matches; `dce` removes the dead nodes later.

    `by_types` enables the rules that use tensor types. `folds_conv_dims` replaces `aten::dim` of the result
    of a convolution by the rank of results for batched inputs, as PyTorch does.
    """
    changed = False
    rewriter = _Rewriter(graph, by_types)
    while rewriter.visit(graph.block()) or (folds_conv_dims and _fold_conv_dims(rewriter)):
        changed = True
        rewriter = _Rewriter(graph, by_types)
    return changed


_CONV_DIMS: Final = {"aten::conv1d": 3, "aten::conv2d": 4, "aten::conv3d": 5}


def _fold_conv_dims(rewriter: _Rewriter) -> bool:
    """Replace `aten::dim` of a convolution result by a constant, unless a node writes to the result."""
    changed = False
    for node in rewriter.graph.find_all_nodes("aten::dim"):
        dims = _CONV_DIMS.get(node.input().node().kind())
        if dims is not None and node.has_uses() and not rewriter.is_written(node.input()):
            changed |= rewriter.replace(node, [rewriter.constant(node, dims)])
    return changed


class _Rewriter:
    def __init__(self, graph: Graph, by_types: bool = True) -> None:
        self.graph = graph
        self.by_types = by_types
        self._aliases: AliasDb | None = None

    def visit(self, block: Block) -> bool:
        changed = False
        for node in block.nodes():
            kind = node.kind()
            if kind == "prim::Constant":
                continue
            for inner in node.blocks():
                changed |= self.visit(inner)
            if kind == "prim::If":
                changed |= _simplify_if_outputs(self, node)
                continue
            list_rule = LIST_RULES.get(kind)
            if list_rule is not None and node.has_uses():
                changed |= self.replace(node, list_rule(node, self.is_written))
            rule = _RULES.get(kind)
            if rule is None or not node.has_uses():
                continue
            replacement = rule(self, node)
            if replacement is not None:
                changed |= self.replace(node, [replacement])
        return changed

    def replace(self, node: Node, results: list[Value] | None) -> bool:
        """Replace the outputs of `node` by `results`, unless `results` is None."""
        if results is None or not optimization_allowed("peephole"):
            return False
        update("peephole", "Replacing {}", node)
        for output, result in zip(node.outputs(), results, strict=True):
            output.replace_all_uses_with(result)
        return True

    def constant(self, node: Node, value: Any) -> Value:
        """Insert a constant before `node`."""
        with self.graph.inserting_before(node):
            return self.graph.insert_constant(value)

    def call(self, node: Node, kind: str, inputs: list[Value], type: Type) -> Value:
        """Insert an operator call before `node`, with the metadata of `node`."""
        call = self.graph.create(kind, inputs, 1)
        call.copy_metadata(node)
        call.insert_before(node)
        return call.output().set_type(type)

    def is_written(self, value: Value) -> bool:
        if is_directly_written(value):
            return True
        if self._aliases is None:
            self._aliases = AliasDb(self.graph)
        return self._aliases.has_direct_writers(value)


# -- rules ---------------------------------------------------------------------------------------------


def _kind(value: Value) -> str:
    return value.type().kind()


def _is_number(value: Value, expected: int) -> bool:
    constant = constant_value(value)
    return constant is not NOT_CONSTANT and isinstance(constant, (int, float)) and constant == expected


def _same_number_type(node: Node) -> bool:
    """Return whether both operands and the result are ints, or all are floats."""
    kind = _kind(node.output())
    return kind in ("IntType", "FloatType") and all(_kind(value) == kind for value in node.inputs()[:2])


def _move_constant_right(node: Node) -> None:
    """Move the constant operand of a commutative operator to the right.

    There are instructions for a constant right operand, but not for a constant left operand.
    """
    left, right = (constant_value(value) for value in node.inputs())
    if left is not NOT_CONSTANT and right is NOT_CONSTANT:
        node.permute_inputs((1, 0))


def _multiply(_: _Rewriter, node: Node) -> Value | None:
    if not _same_number_type(node):
        return None
    _move_constant_right(node)
    left, right = node.inputs()[:2]
    return left if _is_number(right, 1) else None


def _add(_: _Rewriter, node: Node) -> Value | None:
    if not _same_number_type(node) or _kind(node.output()) != "IntType":
        return None  # not an identity for floats, because -0.0 + 0.0 is 0.0
    _move_constant_right(node)
    left, right = node.inputs()[:2]
    return left if _is_number(right, 0) else None


def _subtract(_: _Rewriter, node: Node) -> Value | None:
    if not _same_number_type(node):
        return None
    left, right = node.inputs()[:2]
    zero = constant_value(right)
    # x - 0.0 is always x, but x - -0.0 is x + 0.0, which is not x if x is -0.0.
    return left if _is_number(right, 0) and str(zero) in ("0", "0.0") else None


def _divide(_: _Rewriter, node: Node) -> Value | None:
    left, right = node.inputs()[:2]
    return left if _same_number_type(node) and _is_number(right, 1) else None


def _floor_divide(_: _Rewriter, node: Node) -> Value | None:
    left, right = node.inputs()[:2]
    is_int = _same_number_type(node) and _kind(node.output()) == "IntType"
    return left if is_int and _is_number(right, 1) else None


def _identity(_: _Rewriter, node: Node) -> Value | None:
    """Return the input of a conversion to the type that the input already has."""
    value = node.inputs()[0]
    return value if value.type() == node.output().type() else None


def _fold_number_conversion(rewriter: _Rewriter, node: Node) -> Value | None:
    """Return the number that a conversion returns unchanged; its input may be a tensor of this number."""
    (value,) = node.inputs()
    producer = value.node()
    if producer.kind() == "prim::NumToTensor" and producer.input().type() == node.output().type():
        return producer.input()
    return _identity(rewriter, node)


def _unwrap(_: _Rewriter, node: Node) -> Value | None:
    value = node.inputs()[0]
    return value if value.type().isSubtypeOf(node.output().type()) else None


def _not(rewriter: _Rewriter, node: Node) -> Value | None:
    operand = node.input()
    negated = operand.node()
    kind = negated.kind()
    if _kind(operand) != "BoolType":
        return None
    if kind == "aten::__not__" and _kind(negated.input()) == "BoolType":
        return negated.input()
    if kind not in _COMPLEMENTS:
        return None
    kinds = [_kind(value) for value in negated.inputs()]
    ordered = kind in ("aten::lt", "aten::le", "aten::gt", "aten::ge")
    comparable_kinds = (
        ("IntType",) if ordered else ("IntType", "FloatType", "BoolType", "StringType")
    )  # ordered float comparisons have no complement, because all are false for NaN
    if operand.use_count() == 1 and all(kind in comparable_kinds for kind in kinds):
        return rewriter.call(node, _COMPLEMENTS[kind], negated.inputs(), BOOL)
    return None


_COMPLEMENTS: Final = {
    "aten::eq": "aten::ne",
    "aten::ne": "aten::eq",
    "aten::lt": "aten::ge",
    "aten::ge": "aten::lt",
    "aten::gt": "aten::le",
    "aten::le": "aten::gt",
    "aten::__is__": "aten::__isnot__",
    "aten::__isnot__": "aten::__is__",
}


def _and(_: _Rewriter, node: Node) -> Value | None:
    return _neutral(node, True)


def _or(_: _Rewriter, node: Node) -> Value | None:
    return _neutral(node, False)


def _neutral(node: Node, neutral: bool) -> Value | None:
    if any(_kind(value) != "BoolType" for value in node.inputs()):
        return None
    left, right = node.inputs()
    for value, other in ((left, right), (right, left)):
        constant = constant_value(value)
        if constant is not NOT_CONSTANT:
            return other if constant is neutral else value
    return None


def _is_none(rewriter: _Rewriter, node: Node) -> Value | None:
    """Fold `x is None` for types that are always or never None."""
    left, right = node.inputs()
    if _kind(right) != "NoneType":
        left, right = right, left
    if _kind(right) != "NoneType":
        return None
    negated = node.kind() == "aten::__isnot__"
    if _kind(left) == "NoneType":
        return rewriter.constant(node, not negated)
    if _kind(left) in _MAY_BE_NONE:
        return None
    return rewriter.constant(node, negated)


def _attribute(rewriter: _Rewriter, node: Node) -> Value | None:
    """Replace an attribute of type None, such as an absent bias, by the constant None."""
    return rewriter.constant(node, None) if _kind(node.output()) == "NoneType" else None


_MAY_BE_NONE: Final = frozenset({"OptionalType", "AnyType", "UnionType", "VarType", "NumberType"})


def _derive_index(rewriter: _Rewriter, node: Node) -> Value | None:
    """Simplify the i-th number of range(start, _, step) for step 1: start + i."""
    index, start, step = node.inputs()
    if not _is_number(step, 1):
        return None
    if _is_number(start, 0):
        return index
    return rewriter.call(node, "aten::add", [index, start], INT)


def _fold_by_type(rewriter: _Rewriter, node: Node) -> Value | None:
    value = static_property(node) if rewriter.by_types else NOT_CONSTANT
    return None if value is NOT_CONSTANT else rewriter.constant(node, value)


def _count_of_sizes(rewriter: _Rewriter, node: Node) -> Value | None:
    count = count_of_sizes(node) if rewriter.by_types else None
    if count is None or rewriter.is_written(node.input()):
        return None
    return rewriter.constant(node, count)


def _fold_requires_grad(rewriter: _Rewriter, node: Node) -> Value | None:
    requires_grad = static_requires_grad(node) if rewriter.by_types else None
    if requires_grad is None or rewriter.is_written(node.input()):
        return None
    return rewriter.constant(node, requires_grad)


def _simplify_if_outputs(rewriter: _Rewriter, node: Node) -> bool:
    """Replace outputs of an `if` that always equal its condition, or the negation of its condition."""
    changed = False
    then_block, else_block = node.blocks()
    for output, on_true, on_false in zip(
        node.outputs(), then_block.outputs(), else_block.outputs(), strict=True
    ):
        if _kind(output) != "BoolType" or not output.has_uses():
            continue
        values = constant_value(on_true), constant_value(on_false)
        if values not in ((True, False), (False, True)) or not optimization_allowed("peephole"):
            continue
        if values == (True, False):
            output.replace_all_uses_with(node.input())
        else:
            negation = rewriter.graph.create("aten::__not__", (node.input(),), 1)
            negation.copy_metadata(node)
            negation.insert_before(node)
            output.replace_all_uses_with(negation.output().set_type(BOOL))
        changed = True
    return changed


def _fold_real(rewriter: _Rewriter, node: Node) -> Value | None:
    return input_of_noop_conjugation(node) if rewriter.by_types else None


def _transpose(_: _Rewriter, node: Node) -> Value | None:
    """Return the original matrix of a double transpose."""
    inner = node.input().node()
    return inner.input() if inner.kind() == "aten::t" else None


_RULES: Final[dict[str, Callable[[_Rewriter, Node], Value | None]]] = {
    "aten::mul": _multiply,
    "aten::add": _add,
    "aten::sub": _subtract,
    "aten::div": _divide,
    "aten::floordiv": _floor_divide,
    "aten::Int": _fold_number_conversion,
    "aten::Float": _fold_number_conversion,
    "aten::Bool": _fold_number_conversion,
    "aten::str": _identity,
    "prim::unchecked_cast": _identity,
    "aten::_unwrap_optional": _unwrap,
    "prim::unchecked_unwrap_optional": _unwrap,
    "aten::__not__": _not,
    "aten::__and__": _and,
    "aten::__or__": _or,
    "aten::__is__": _is_none,
    "aten::__isnot__": _is_none,
    "aten::__derive_index": _derive_index,
    "aten::t": _transpose,
    "prim::GetAttr": _attribute,
    "aten::len": _count_of_sizes,
    "prim::requires_grad": _fold_requires_grad,
    "aten::to": lambda rewriter, node: input_of_noop_conversion(node) if rewriter.by_types else None,
    "aten::type_as": lambda rewriter, node: same_type(node) if rewriter.by_types else None,
    **dict.fromkeys(("aten::conj", "aten::real", "aten::resolve_conj"), _fold_real),
    **dict.fromkeys(TYPE_QUERIES, _fold_by_type),
}
