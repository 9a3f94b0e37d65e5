"""Emission of expressions with graph values: names, constants, operators, literals.

Expressions (left) become nodes (right):

    a + b            aten::add, or a call of `__add__` for an object
    "%d" % n         aten::percentFormat
    -1               the constant -1
    [a, b]           prim::ListConstruct
    (a, b)           prim::TupleConstruct
    {k: v}           prim::DictConstruct
    f"{n} of {m}"    aten::format("{} of {}", %n, %m)
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from ts.errors import CompilationError
from ts.frontend import hints
from ts.frontend.annotations import dict_type
from ts.frontend.ir_emitter.conditionals import condition
from ts.frontend.ir_emitter.emitter import Emitter, expression, sugared
from ts.frontend.ir_emitter.operators import BINARY, MAGIC
from ts.frontend.literal_types import cast_to_hint, hinted_types, require_single_type, select_literal_type
from ts.frontend.schema_matching import construct_list, construct_tuple, emit_builtin_call, unpack_tuple
from ts.frontend.sugared_values.classes import call_operator_method, to_printable
from ts.frontend.sugared_values.sugared import SugaredValue
from ts.ir.types import (
    COMPLEX,
    FLOAT,
    INT,
    OBJECT_TYPES,
    STR,
    TENSOR,
    ClassType,
    DictType,
    ListType,
    TupleType,
    Type,
    unify_list,
)
from ts.ir.value import Value


@sugared(ast.Name)
def emit_name(em: Emitter, node: ast.Name, n_binders: int, hint: Type | None) -> SugaredValue:
    """Resolve a name as a local variable, then as a name of the enclosing Python scopes."""
    if node.id == "Ellipsis" and not em.scope.is_defined(node.id):
        return em.sugared(ast.copy_location(ast.Constant(...), node))
    value = em.scope.find(node.id) or em.lookup(node.id, em.range(node))
    assert value is not None
    return value


@sugared(ast.Attribute)
def emit_attribute(em: Emitter, node: ast.Attribute, n_binders: int, hint: Type | None) -> SugaredValue:
    """Resolve `value.attr`.

    In printed source, `torch.add` denotes the operator even if a tensor variable is named `torch`. A variable
    with the name of a module has precedence only if it is an object or if `attr` is `tolist`.
    """
    base = em.sugared(node.value)
    if (
        em.parsed.printed
        and base.simple is not None
        and isinstance(node.value, ast.Name)
        and node.attr != "tolist"
    ):
        module = em.lookup_printed(node.value.id)
        if module is not None and not isinstance(base.simple.type(), OBJECT_TYPES):
            base = module
    return base.attr(em, em.range(node), node.attr)


_MAX_NUMBER_BITS = 4096  # ints with at least so many bits are abbreviated in error messages


@expression(ast.Constant)
def emit_constant(em: Emitter, node: ast.Constant, hint: Type | None) -> Value:
    """Emit a literal. Raise CompilationError for an int that does not fit in 64 bits."""
    value = node.value
    if type(value) in (int, float, complex):
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            rendered = str(value) if value.bit_length() < _MAX_NUMBER_BITS else f"{value:#x}"[:20] + "..."
            raise CompilationError(
                f"Integral constant out of range (must fit in a signed 64 bit integer): {rendered}",
                em.range(node),
            )
        return em.number(value, em.range(node))  # type: ignore[arg-type]
    if value is ...:
        message = "Cannot emit expr for: (dots); ... is only supported as an index of a tensor"
        raise CompilationError(message, em.range(node))
    return em.constant(value, em.range(node))


# ---- unary and binary operators --------------------------------------------------------------------


@expression(ast.BinOp)
def emit_binary(em: Emitter, node: ast.BinOp, hint: Type | None) -> Value:
    """Emit a binary operator, including `%` as string formatting and operators that classes define."""
    range = em.range(node)
    operator = BINARY[type(node.op)]
    # `%` with a string as left operand is string formatting. To get the type, emit this operand once more, as
    # PyTorch does.
    if isinstance(node.op, ast.Mod) and em.emit_again(lambda: em.expr(node.left)).type() is STR:
        left, right = em.expr(node.left), to_printable(em, range, em.expr(node.right))
        if isinstance(node.right, ast.Tuple) and any(
            isinstance(elem, ClassType) for elem in right.type().contained_types()
        ):
            right = em.tuple([to_printable(em, range, item) for item in right.node().inputs()])
        return em.insert("aten::percentFormat", (left, right), 1, range).output().set_type(STR)
    left = em.expr(node.left)
    right = em.expr(node.right)
    if (
        isinstance(node.op, ast.Add)
        and isinstance(left.type(), TupleType)
        and isinstance(right.type(), TupleType)
    ):
        return construct_tuple(em.graph, unpack_tuple(em.graph, left) + unpack_tuple(em.graph, right))
    if isinstance(node.op, ast.Div) and COMPLEX in (left.type(), right.type()):
        # Convert a real operand to complex. In PyTorch, the quotient has the wrong type float.
        left, right = (
            emit_builtin_call(range, em.graph, "aten::Complex", [v]) if v.type() in (INT, FLOAT) else v
            for v in (left, right)
        )
    value = call_operator_method(em, range, MAGIC[type(node.op)], (left, right))
    return value or emit_builtin_call(range, em.graph, operator, [left, right])


@expression(ast.UnaryOp)
def emit_unary(em: Emitter, node: ast.UnaryOp, hint: Type | None) -> Value:
    """Emit `not`, `-` or `~`. A negated literal becomes one constant."""
    if isinstance(node.op, ast.Not):
        return condition(em, node).value
    operator = "aten::neg" if isinstance(node.op, ast.USub) else "aten::bitwise_not"
    range = em.range(node)
    if operator == "aten::neg" and isinstance(node.operand, ast.Constant) and node.operand.value == 1 << 63:
        # `1 << 63` does not fit in 64 bits, but its negation, the minimum of int, does
        return em.constant(-(1 << 63), range)
    # In source text, unlike in a Python function, the sign is a part of the literal: emit only one constant.
    if operator == "aten::neg" and em.parsed.function is None:
        match node.operand:
            case ast.Constant(value=int() | float() | complex() as literal) if not isinstance(literal, bool):
                return em.number(-literal, em.range(node.operand))
    operand = em.expr(node.operand)
    method_result = call_operator_method(em, range, MAGIC[type(node.op)], (operand,))
    if method_result is not None:
        return method_result
    value = emit_builtin_call(range, em.graph, operator, [operand])
    if operator == "aten::neg" and value.node().kind() == operator:
        constant = value.node().input().to_ivalue()
        if type(constant) in (int, float, complex):
            negated = -constant
            if isinstance(negated, int) and negated >= 1 << 63:
                negated -= 1 << 64
            return em.constant(negated, range)
    return value


# ---- literals of containers and f-strings ----------------------------------------------------------


def emit_values(em: Emitter, nodes: Sequence[ast.expr], hint: Type | None = None) -> list[Value]:
    """Emit expressions and return their values. `*x` is replaced by the elements of `x`."""
    values = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            range = em.range(node)
            entries = em.sugared(node.value).as_tuple(em, range)
            values += [entry.as_value(em, range) for entry in entries]
        else:
            values.append(em.expr(node, hint))
    return values


def _common_type(
    em: Emitter, node: ast.expr, values: Sequence[Value], warns: bool, key: Type | None = None
) -> Type:
    """Return the common type of list elements or dict values. If there is none, return a Union.

    With `warns`, issue a warning for a Union. `key` is the key type of a dict.
    """
    types = [value.type() for value in values]
    common = unify_list(types)
    if common is not None:
        return common
    union = unify_list(types, default_to_union=True)
    assert union is not None
    if warns:
        range = em.range(node)
        kind, subject, pronoun, typed_as = "List", "List consists", "it", union.annotation_str
        if key is not None:
            kind, subject, pronoun = "Dict", "Dict values consist", "the dict"
            typed_as = f"Dict[{key.annotation_str}, {typed_as}]"
        em.warned = True
        warnings.warn_explicit(
            f"{subject} of heterogeneous types, which means that {pronoun} has been typed as containing "
            f"{typed_as}. "
            f"To use any of the values in this {kind}, it will be necessary to add "
            "an `assert isinstance` statement before first use to trigger type refinement.\n"
            + range.highlight(),
            UserWarning,
            range.source.filename or "<string>",
            range.line,
        )
    return union


@expression(ast.Tuple)
def emit_tuple(em: Emitter, node: ast.Tuple, hint: Type | None) -> Value:
    """Emit a tuple display, with starred elements unpacked."""
    return construct_tuple(em.graph, emit_values(em, node.elts))


@expression(ast.List)
def emit_list(em: Emitter, node: ast.List, hint: Type | None) -> Value:
    """Emit a list display with the element type of `hint`.

    An empty list without hint is a `List[Tensor]`.
    """
    range = em.range(node)
    options = hinted_types(hint, ListType, range)
    values = emit_values(em, node.elts)
    if not values:
        if not options:
            # If the empty list is an argument of a call, it gets the list type of the parameter later.
            # Otherwise, it becomes a list of tensors.
            return em.insert("prim::EmptyListLiteral").output().set_type(ListType(TENSOR))
        elem = require_single_type(hint, options, range).elem
    else:
        elem = _element_type(em, node, values, hint, options)
    return cast_to_hint(em, construct_list(em.graph, elem, values), hint)


def _element_type(
    em: Emitter, node: ast.List, values: Sequence[Value], hint: Type | None, options: Sequence[ListType]
) -> Type:
    """Return the element type of a list literal. Raise CompilationError if the hint has no fitting list type.

    `options` are the list types in the type hint `hint`.
    """

    def holds(option: ListType) -> bool:
        return all(value.type().is_subtype_of(option.elem) for value in values)

    if len(options) == 1 and holds(options[0]):
        return options[0].elem
    elem = _common_type(em, node, values, not options)
    if len(options) == 1:
        raise CompilationError(
            f"List type annotation `{options[0].repr_str}` did not match the types of the given "
            f"list elements, which were unified to {elem.repr_str}",
            em.range(node),
        )
    return select_literal_type(hint, options, ListType(elem), holds, em.range(node)).elem if options else elem


@expression(ast.Dict)
def emit_dict(em: Emitter, node: ast.Dict, hint: Type | None) -> Value:
    """Emit a dict display with the type of `hint`. An empty dict without hint is a `Dict[str, Tensor]`."""
    range = em.range(node)
    options = hinted_types(hint, DictType, range)
    inner = options[0].value if len(options) == 1 else None
    keys: list[Value] = []
    values: list[Value] = []
    for key, value in zip(node.keys, node.values, strict=True):
        assert key is not None  # the parser has already rejected `**` in dict literals
        keys.append(em.expr(key))
        values.append(em.expr(value, inner))
    if not keys:
        type: Type = require_single_type(hint, options, range) if options else DictType(STR, TENSOR)
    else:
        type = _dict_type(em, node, keys, values, hint, options)
    pairs = [operand for pair in zip(keys, values, strict=True) for operand in pair]
    output = em.insert("prim::DictConstruct", pairs).output().set_type(type)
    return cast_to_hint(em, output, hint)


def _dict_type(
    em: Emitter,
    node: ast.Dict,
    keys: Sequence[Value],
    values: Sequence[Value],
    hint: Type | None,
    options: Sequence[DictType],
) -> Type:
    """Return the type of a non-empty dict literal. Raise CompilationError if no dict type of the hint fits.

    `options` are the dict types in the type hint `hint`.
    """
    range = em.range(node)

    def all_of(checked: Sequence[Value], type: Type) -> bool:
        return all(value.type().is_subtype_of(type) for value in checked)

    def holds(option: DictType) -> bool:
        return all_of(keys, option.key) and all_of(values, option.value)

    if len(options) == 1:
        (hinted_type,) = options
        for key in keys:
            if not key.type().is_subtype_of(hinted_type.key):
                raise CompilationError(
                    f"Type annotation was inferred to be {hinted_type.repr_str}"
                    f"but the type of keys given by the dict literal is {key.type().repr_str}",
                    range,
                )
        if not holds(hinted_type):
            value_type = _common_type(em, node, values, False)
            raise CompilationError(
                f"Type annotation was inferred to be `{hinted_type.repr_str}`, "
                f"but the type of values given by the dict literal is {value_type.repr_str}",
                range,
                hints.conversion(value_type, hinted_type.value),
            )
        return hinted_type
    key_type = keys[0].type()
    for key_node, key in zip(node.keys, keys, strict=True):
        if key_node is not None and not key.type().is_subtype_of(key_type):
            raise CompilationError(
                "Dict keys must contain only a single type. Expected: "
                f"{key_type.repr_str} but found {key.type().repr_str} instead",
                em.range(key_node),
            )
    inferred_type = dict_type(key_type, _common_type(em, node, values, not options, key_type), range)
    return select_literal_type(hint, options, inferred_type, holds, range) if options else inferred_type


@expression(ast.JoinedStr)
def emit_formatted_string(em: Emitter, node: ast.JoinedStr, hint: Type | None) -> Value:
    """Emit an f-string (string interpolation) as `aten::format`, with `{}` in its format for each value."""
    format_string = ""
    value_nodes = []
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue):
            format_string += "{}"
            value_nodes.append(piece.value)
        else:
            assert isinstance(piece, ast.Constant)
            format_string += str(piece.value).replace("{", "{{").replace("}", "}}")
    range = em.parsed.ranges.token(node)
    template = em.constant(format_string, range)
    values = [to_printable(em, em.range(piece), em.expr(piece)) for piece in value_nodes]
    return emit_builtin_call(range, em.graph, "aten::format", values, {}, template)
