"""Desugaring of while loops, for loops and comprehensions to `prim::Loop` nodes.

Statements (left) become nodes (right):

    while c: ...     prim::Loop with a block for the body and a block for c (convert_to_ssa joins the blocks)
    for x in xs      prim::Loop over aten::len(xs), where x is aten::__getitem__(xs, %trip)
    for x in (a, b)  no loop: the body is emitted for each element
    [f(x) for ...]   a loop with a separate scope, which appends to a list
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence

from ts.errors import CompilationError
from ts.frontend.ir_emitter import statements
from ts.frontend.ir_emitter.conditionals import to_bool
from ts.frontend.ir_emitter.emitter import Emitter, expression, statement
from ts.frontend.literal_types import cast_to_hint, hinted_types, select_literal_type
from ts.frontend.schema_matching import emit_builtin_call
from ts.frontend.scope import Scope
from ts.frontend.sugared_values.sugared import SimpleValue, SugaredValue
from ts.ir.source import SourceRange
from ts.ir.types import INT, TENSOR, DictType, ListType, Type, unify_list
from ts.ir.value import Value

_MAX_TRIP_COUNT = sys.maxsize


@statement(ast.While)
def emit_while(em: Emitter, node: ast.While) -> None:
    """Emit a `while` statement as `prim::Loop`. The condition is evaluated again after each iteration."""
    _loop(em, em.range(node), None, None, node.test, lambda: em.statements(node.body))


@statement(ast.For)
def emit_for(em: Emitter, node: ast.For) -> None:
    """Emit a `for` statement as `prim::Loop`, or by static loop unrolling over tuples and modules."""
    range = em.range(node)
    iterable = em.sugared(node.iter).iter(em, range)
    statements.check_targets(em, [node.target])
    for_each(em, range, iterable, node.target, lambda: em.statements(node.body))


def for_each(
    em: Emitter, range: SourceRange, iterable: SugaredValue, target: ast.expr, body: Callable[[], None]
) -> None:
    """Emit a loop over an iterable, or one copy of the body per element if the iterable is unrolled."""
    if not iterable.unrolled:
        _loop(em, range, iterable, target, None, body)
        return
    saved, em.loop = em.loop, "unrolled"
    for i in _count(iterable.static_len() or 0):
        index = em.number(i, range)
        element = iterable.getitem(em, range, index)
        statements.assign_each(em, [target], [element], em.range(target), 1)
        body()
        if em.scope.block in em.exits:
            break
    em.loop = saved


def _count(length: int) -> Sequence[int]:
    return range(length)


def _loop(
    em: Emitter,
    range: SourceRange,
    iterable: SugaredValue | None,
    target: ast.expr | None,
    test: ast.expr | None,
    body: Callable[[], None],
) -> None:
    count = em.number(_MAX_TRIP_COUNT, range) if iterable is None else iterable.len(em, range)
    node = em.insert("prim::Loop", (), 0, range)
    body_block = node.add_block()
    condition_block = node.add_block()
    scope = em.scope
    em.scope = Scope(em.graph, condition_block, scope)
    em.scope.inserts_all = True
    if test is not None:
        with em.graph.inserting_before(condition_block):
            if em.lines:
                em.mark("line")
            proceed = to_bool(em, em.range(test), em.expr(test))
    else:
        with em.graph.inserting_before(node):
            proceed = em.constant(True, range)
    condition_block.register_output(proceed)
    scope.merge(em.scope)
    em.scope = scope
    node.add_input(count)
    iteration = body_block.add_input(type=INT)
    saved, em.loop = em.loop, "loop"
    with em.in_block(body_block):
        if iterable is not None and target is not None:
            element = iterable.getitem(em, range, iteration).as_value(em, range)
            statements.assign_each(em, [target], [SimpleValue(element)], range, 1)
        body()
    em.loop = saved


# ---- comprehensions --------------------------------------------------------------------------------


@expression(ast.ListComp, ast.GeneratorExp)
def emit_list_comprehension(em: Emitter, node: ast.ListComp | ast.GeneratorExp, hint: Type | None) -> Value:
    """Emit a comprehension with one generator as a loop that appends to a list."""
    generator = node.generators[0]
    return list_comprehension(em, em.range(node), generator.iter, generator.target, node.elt, hint)


def list_comprehension(
    em: Emitter, range: SourceRange, iterable: ast.expr, target: ast.expr, elt: ast.expr, hint: Type | None
) -> Value:
    """Emit a list comprehension as a loop with a separate scope, which appends to a list."""
    options = hinted_types(hint, ListType, range)
    list_type = options[0] if len(options) == 1 else None
    result = em.insert("prim::ListConstruct").output().set_type(list_type or ListType(TENSOR))

    def body() -> None:
        nonlocal list_type
        element = em.expr(elt, list_type.elem if list_type is not None and options else None)
        type = element.type()
        if list_type is None:  # `hint` contains no list type or several: use the type of the element
            inferred_type = ListType(type)
            holds: Callable[[ListType], bool] = lambda option: type.is_subtype_of(option.elem)  # noqa: E731
            list_type = (
                select_literal_type(hint, options, inferred_type, holds, range) if options else inferred_type
            )
            result.set_type(list_type)
        elif not type.is_subtype_of(list_type.elem):
            unified = type if options else unify_list([list_type.elem, type], default_to_union=True) or type
            raise CompilationError(
                f"List type annotation `{list_type.repr_str}` did not match the types of the given list "
                f"elements, which were unified to {unified.repr_str}",
                range,
            )
        emit_builtin_call(range, em.graph, "aten::append", [element], {}, result)

    _comprehension(em, range, iterable, target, body)
    return result


@expression(ast.DictComp)
def emit_dict_comprehension(em: Emitter, node: ast.DictComp, hint: Type | None) -> Value:
    """Emit a dict comprehension as a loop.

    The result has the dict type in `hint`. If `hint` has no dict type or several, the first item determines
    the type.
    """
    range = em.range(node)
    options = hinted_types(hint, DictType, range)
    dict_type = options[0] if len(options) == 1 else None
    result = em.insert("prim::DictConstruct").output().set_type(dict_type or DictType(INT, TENSOR))

    def body() -> None:
        nonlocal dict_type
        key = em.expr(node.key)
        value = em.expr(node.value)
        if dict_type is None:  # `hint` contains no dict type or several: use the types of the first item
            inferred_type = DictType(key.type(), value.type())
            holds: Callable[[DictType], bool] = inferred_type.is_subtype_of
            dict_type = (
                select_literal_type(hint, options, inferred_type, holds, range) if options else inferred_type
            )
            result.set_type(dict_type)
        emit_builtin_call(range, em.graph, "aten::_set_item", [result, key, value])

    generator = node.generators[0]
    _comprehension(em, range, generator.iter, generator.target, body)
    return cast_to_hint(em, result, hint)


def _comprehension(
    em: Emitter, range: SourceRange, iterable: ast.expr, target: ast.expr, body: Callable[[], None]
) -> None:
    node = em.insert("prim::ComprehensionScope", (), 0, range)
    with em.in_block(node.add_block()):
        for_each(em, range, em.sugared(iterable).iter(em, range), target, body)
