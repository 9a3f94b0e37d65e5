"""Emission of calls and special forms.

The emitter usually emits the callee and the arguments, then runs the method `call` of the callee. A special
form inspects the syntax of its arguments instead. Special forms (left) and their emission (right):

    range, zip, enumerate     iterables for loops
    list(xs), dict(xs)        aten::list, or a comprehension
    annotate(List[int], [])   the second argument, converted to the type
    fork(f, x)                a closure with the call f(x), started as a separate task
    rpc_async(to, f, (x,))    a call in another process (`rpc_calls`)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import Final

from ts.errors import CompilationError
from ts.frontend.ir_emitter import conditionals, loops
from ts.frontend.ir_emitter.emitter import Emitter, sugared
from ts.frontend.ir_emitter.expressions import emit_values
from ts.frontend.ir_emitter.rpc_calls import emit_remote_call
from ts.frontend.literal_types import hinted_types, require_single_type
from ts.frontend.schema_matching import (
    Actual,
    construct_list,
    construct_tuple,
    convert_to_type,
    emit_builtin_call,
    emit_builtin_statement,
)
from ts.frontend.sugared_values.iterables import IterableTree, RangeValue, ReversedValue, SliceValue
from ts.frontend.sugared_values.python_objects import PythonModule
from ts.frontend.sugared_values.sugared import BuiltinFunction, SimpleValue, SpecialForm, SugaredValue
from ts.ir.node import Node
from ts.ir.source import SourceRange
from ts.ir.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    STR,
    TENSOR,
    ClassType,
    DictType,
    FutureType,
    ListType,
    OptionalType,
    StringType,
    TupleType,
    Type,
)  # fmt: skip
from ts.ir.value import Value
from ts.ops.rpc_ops import FORMS

_FormEmitter = Callable[[Emitter, ast.Call, SpecialForm, Type | None], SugaredValue]


@sugared(ast.Call)
def emit_call(em: Emitter, node: ast.Call, n_binders: int, hint: Type | None) -> SugaredValue:
    """Emit a special form such as `isinstance`. For other calls, run method `call` of the sugared callee."""
    em.calling = node
    callee = em.callee(node.func)
    range = em.range(node.func)
    if isinstance(callee, SpecialForm):
        return _FORM_EMITTERS[callee.form](em, node, callee, hint)
    if isinstance(callee, BuiltinFunction) and callee.name == "aten::len" and len(node.args) == 1:
        return SimpleValue(em.sugared(node.args[0]).len(em, range))
    args, kwargs = _arguments(em, node.args, node.keywords)
    return callee.call(em, range, args, kwargs, n_binders)


def _arguments(
    em: Emitter, positional: Sequence[ast.expr], keywords: Sequence[ast.keyword]
) -> tuple[list[Actual], dict[str, Actual]]:
    """Emit the arguments of a call, and return the positional and the keyword arguments."""
    args: list[Actual] = list(emit_values(em, positional))
    kwargs: dict[str, Actual] = {}
    for keyword in keywords:
        assert keyword.arg is not None  # the parser has already rejected `**kwargs` in calls
        kwargs[keyword.arg] = em.expr(keyword.value)
    return args, kwargs


def _check_count(em: Emitter, node: ast.Call, name: str, min_count: int, max_count: int) -> None:
    count = len(node.args)
    if node.keywords:
        raise CompilationError(f"{name} takes no keyword arguments", em.range(node))
    if not min_count <= count <= max_count:
        expected = f"exactly {min_count}" if min_count == max_count else f"{min_count} to {max_count}"
        raise CompilationError(f"{name} expected {expected} arguments but found {count}", em.range(node))


def _simple(value: Value) -> SugaredValue:
    return SimpleValue(value)


# ---- `range`, `zip` and other iterables ------------------------------------------------------------


def _range(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    return RangeValue(em, em.range(node), emit_values(em, node.args))


def _enumerate(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    range = em.range(node)
    for keyword in node.keywords:
        if keyword.arg != "start":
            raise CompilationError(f"enumerate expected kwarg name 'start', got '{keyword.arg}'", range)
    args = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not args:
        raise CompilationError("enumerate expected at least 1 arguments, got 0", range)
    if len(args) > 2:
        raise CompilationError(f"enumerate expected at most 2 arguments, got {len(args)}", range)
    bounds = [em.expr(args[1])] if len(args) == 2 else []
    bounds.append(em.number(sys.maxsize, range))
    iterable = em.sugared(args[0]).iter(em, range)
    count = RangeValue(em, range, bounds, iterable.static_len())
    return IterableTree([count, iterable], range)


def _zip(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    range = em.range(node)
    if not node.args:
        raise CompilationError("zip expected at least 1 arguments, got 0", range)
    return IterableTree([em.sugared(arg).iter(em, range) for arg in node.args], range)


def _reversed(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    _check_count(em, node, "reversed", 1, 1)
    range = em.range(node)
    iterable = em.sugared(node.args[0]).iter(em, range)
    if isinstance(iterable, IterableTree | ReversedValue):
        raise CompilationError(f"'{iterable.kind}' object is not reversible; convert it to a list", range)
    return ReversedValue(em, range, iterable)


def _slice(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    count = len(node.args)
    if node.keywords:
        raise CompilationError("slice takes no keyword arguments", em.range(node))
    if not 1 <= count <= 3:
        raise CompilationError(
            f"slice accepts exactly 1, 2 or 3 arguments, got: {count}", em.range(node.func)
        )
    bounds = [em.expr(arg) for arg in node.args]
    bounds_or_none = [None if bound.type() is NONE else bound for bound in bounds]
    start, stop, step = (None, bounds_or_none[0], None) if count == 1 else (*bounds_or_none, None)[:3]
    constant_step = 1 if step is None else step.to_ivalue()
    # Omitted bounds mean 0 and the maximum int only if the step is not negative. Otherwise, they stay None.
    if not (isinstance(constant_step, int) and constant_step < 0):
        range = em.range(node)
        start = start or em.constant(0, range)
        stop = stop or em.constant(sys.maxsize, range)
        step = step or em.constant(1, range)
    return SliceValue(start, stop, step)


# ---- constructors of containers --------------------------------------------------------------------


def _tuple(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    _check_count(em, node, "tuple", 1, 1)
    range = em.range(node)
    items = em.sugared(node.args[0]).as_tuple(em, range)
    return _simple(construct_tuple(em.graph, [item.as_value(em, range) for item in items]))


def _names(
    em: Emitter, node: ast.Call, iterable: SugaredValue, range: SourceRange
) -> tuple[ast.Name, ast.Name]:
    """Assign `iterable` to a temporary variable, and create the name of a loop variable.

    Return the syntax nodes `ast.Name` of the temporary variable and of the loop variable.
    """
    source = ast.copy_location(ast.Name(em.temporary("$_iter"), ast.Load()), node)
    element = ast.copy_location(ast.Name(em.temporary("$_elem"), ast.Store()), node)
    em.scope.set(range, source.id, iterable)
    return source, element


def _list(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    range = em.range(node)
    if not node.args:
        options = hinted_types(hint, ListType, range)
        elem = require_single_type(hint, options, range).elem if options else TENSOR
        return _simple(construct_list(em.graph, elem, ()))
    _check_count(em, node, "list", 1, 1)
    iterable = em.sugared(node.args[0])
    value = iterable.simple
    if value is not None and isinstance(value.type(), ListType | StringType):
        return _simple(emit_builtin_call(range, em.graph, "aten::list", [value]))
    source, element = _names(em, node, iterable, range)
    return _simple(loops.list_comprehension(em, range, source, element, element, hint))


def _dict(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    """Emit `dict(...)` from a list of pairs, or as a copy of a dict to which keyword arguments are added.

    dict(a=1)        aten::dict([("a", 1)])         dict(d, a=1)     aten::dict(%d), then aten::_set_item
    """
    argument = node.args[0] if node.args else None
    if (argument is None and not node.keywords) or _is_empty_literal(argument):
        if node.keywords:
            return _simple(_dict_of_pairs(em, node, []))
        range = em.range(node)
        options = hinted_types(hint, DictType, range)
        type = require_single_type(hint, options, range) if options else DictType(STR, TENSOR)
        return _simple(em.insert("prim::DictConstruct").output().set_type(type))
    if isinstance(argument, ast.DictComp):
        inner = hint if isinstance(hint, DictType) else None
        return _simple(_with_keywords(em, node, em.expr(argument, inner)))
    if isinstance(argument, ast.Dict):
        pairs = [
            ast.copy_location(ast.Tuple([key, value], ast.Load()), key)
            for key, value in zip(argument.keys, argument.values, strict=True)
            if key is not None
        ]
        return _simple(_dict_of_pairs(em, node, pairs))
    if argument is None or (node.keywords and isinstance(argument, ast.List)):
        return _simple(_dict_of_pairs(em, node, [] if argument is None else argument.elts))
    if len(node.args) != 1:
        raise CompilationError(
            f"dict expected exactly 1 arguments but found {len(node.args)}", em.range(node)
        )
    range = em.range(node)
    iterable = em.sugared(argument)
    value = iterable.simple
    if value is not None and isinstance(value.type(), DictType):
        copy = emit_builtin_call(range, em.graph, "aten::dict", [value])
        return _simple(_with_keywords(em, node, copy))
    if node.keywords:
        raise CompilationError("dict takes no keyword arguments", range)
    if value is not None and isinstance(value.type(), ListType | TupleType):
        return _simple(emit_builtin_call(range, em.graph, "aten::dict", [value]))
    source, element = _names(em, node, iterable, range)
    pairs_list = loops.list_comprehension(em, range, source, element, element, None)
    return _simple(emit_builtin_call(range, em.graph, "aten::dict", [pairs_list]))


def _is_empty_literal(node: ast.expr | None) -> bool:
    return (isinstance(node, ast.Dict) and not node.values) or (isinstance(node, ast.List) and not node.elts)


def _dict_of_pairs(em: Emitter, node: ast.Call, pairs: Sequence[ast.expr]) -> Value:
    """Emit `dict([...])` for the list of `pairs`, followed by one pair for each keyword argument."""
    elements = list(pairs)
    for keyword in node.keywords:
        name = ast.copy_location(ast.Constant(keyword.arg), keyword.value)
        elements.append(ast.copy_location(ast.Tuple([name, keyword.value], ast.Load()), keyword.value))
    literal = ast.copy_location(ast.List(elements, ast.Load()), node)
    return emit_builtin_call(em.range(node), em.graph, "aten::dict", [em.expr(literal)])


def _with_keywords(em: Emitter, node: ast.Call, value: Value) -> Value:
    for keyword in node.keywords:
        range = em.range(keyword)
        key = em.constant(keyword.arg, range)
        emit_builtin_statement(range, em.graph, "aten::_set_item", [value, key, em.expr(keyword.value)])
    return value


# ---- annotate, fork and other special forms --------------------------------------------------------


def _annotate(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    _check_count(em, node, "annotate", 2, 2)
    type = em.type_of(node.args[0])
    value = convert_to_type(em.range(node), em.graph, type, em.expr(node.args[1], type), True)
    if not value.type().is_subtype_of(type):
        raise CompilationError(
            f"expected an expression of type {type.repr_str} but found {value.type().repr_str}",
            em.range(node.args[1]),
        )
    if isinstance(type, OptionalType) and value.type() is NONE:
        value = em.constant(None, None, type)
    return _simple(value)


def _fork(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    """Emit `fork(f, x, k=y)` as a closure that contains the call. `lift_closures` makes it a subgraph."""
    range = em.range(node)
    if not node.args:
        raise CompilationError("Expected at least one argument to fork()", range)
    callee = em.sugared(node.args[0])
    args, kwargs = _arguments(em, node.args[1:], node.keywords)
    closure = em.insert("prim::Closure", (), 1, range)
    with em.in_block(closure.add_block()) as scope:
        result = callee.call(em, range, args, kwargs, 1).as_value(em, range)
        scope.block.register_output(result)
    return _simple(emit_fork_closure(em, range, closure))


def emit_fork_closure(em: Emitter, range: SourceRange, closure: Node) -> Value:
    """Insert a `prim::forkClosure`, which starts `closure`, and return the future."""
    future = em.insert("prim::forkClosure", (closure.output(),), 1, range).output()
    return future.set_type(FutureType(closure.blocks()[0].outputs()[0].type()))


def _remote_call(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    return emit_remote_call(em, node, form.form)


def _unchecked_cast(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    _check_count(em, node, "unchecked_cast", 2, 2)
    type = em.type_of(node.args[0])
    cast = em.insert("prim::unchecked_cast", (em.expr(node.args[1]),), 1, em.range(node))
    cast.needs_type_check = True
    return _simple(cast.output().set_type(type))


def _uninitialized(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    _check_count(em, node, "uninitialized", 1, 1)
    type = em.type_of(node.args[0])
    uninitialized = em.insert("prim::Uninitialized", (), 1, em.range(node))
    uninitialized.needs_type_check = True
    return _simple(uninitialized.output().set_type(type))


def _new(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    _check_count(em, node, "__new__", 1, 1)
    type = em.type_of(node.args[0])
    if not isinstance(type, ClassType):
        message = f"__new__ requires a class, not {type.annotation_str}"
        raise CompilationError(message, em.range(node))
    return _simple(em.insert("prim::CreateObject", (), 1, em.range(node)).output().set_type(type))


def _isinstance(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    _check_count(em, node, "isinstance", 2, 2)
    return _simple(conditionals.isinstance_condition(em, node.args[0], node.args[1]).value)


def _getattr(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    _check_count(em, node, "getattr", 2, 3)
    base = em.sugared(node.args[0])
    name = _attribute_name(em, node, "getattr")
    if len(node.args) == 3 and not _has_attribute(em, node, base, name):
        return em.sugared(node.args[2])
    return base.attr(em, em.range(node), name)


def _hasattr(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    _check_count(em, node, "hasattr", 2, 2)
    base = em.sugared(node.args[0])
    name = _attribute_name(em, node, "hasattr")
    if isinstance(base, PythonModule):
        raise CompilationError(
            f"attribute lookup is not defined on python value of type '{type(base.module).__name__}'",
            em.range(node.args[0]),
        )
    has_attribute = _has_attribute(em, node, base, name)
    return _simple(em.constant(has_attribute, em.range(node)))


def _has_attribute(em: Emitter, node: ast.Call, base: SugaredValue, name: str) -> bool:
    if base.simple is not None and not isinstance(base.simple.type(), ClassType | TupleType):
        raise CompilationError(
            "hasattr's first argument must be an object or NamedTuple, "
            f"got {base.simple.type().repr_str} instead",
            em.range(node.args[0]),
        )
    type = None if base.simple is None else base.simple.type()
    if isinstance(type, TupleType) and type.fields is None:
        raise CompilationError(
            "hasattr's first argument must be a object or NamedTuple, but got a normal Tuple "
            f"{type.repr_str} instead",
            em.range(node.args[0]),
        )
    try:
        base.attr(em, em.range(node), name)
    except CompilationError as error:
        if error.has_caller:  # the attribute exists, but its function does not compile
            raise
        return False
    return True


def _attribute_name(em: Emitter, node: ast.Call, function: str) -> str:
    name = node.args[1]
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
        error_range = em.range(node) if function == "getattr" else em.range(name)
        raise CompilationError(f"{function}'s second argument must be a string literal", error_range)
    return name.value


_TOLIST_TYPES: Final = {INT: 0, FLOAT: 1, BOOL: 2, COMPLEX: 3}


def _tolist(em: Emitter, node: ast.Call, form: SpecialForm, hint: Type | None) -> SugaredValue:
    if hint is None:
        raise CompilationError("Expected type hint for result of tolist()", em.range(node))
    dim, elem = 0, hint
    while isinstance(elem, ListType):
        dim, elem = dim + 1, elem.elem
    if elem not in _TOLIST_TYPES:
        raise CompilationError(
            f"{elem.repr_str} is not one of the supported element types for tolist: "
            "int, float, complex, bool",
            em.range(node),
        )
    assert form.self_value is not None
    # As in PyTorch, insert a constant that no node uses, so that later values get the same numbers.
    em.constant(None)
    inputs = form.self_value, em.constant(dim), em.constant(_TOLIST_TYPES[elem])
    return _simple(em.insert("prim::tolist", inputs, 1, em.range(node)).output().set_type(hint))


_FORM_EMITTERS: Final[dict[str, _FormEmitter]] = {
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "reversed": _reversed,
    "slice": _slice,
    "tuple": _tuple,
    "list": _list,
    "dict": _dict,
    "annotate": _annotate,
    "fork": _fork,
    **dict.fromkeys(FORMS, _remote_call),
    "unchecked_cast": _unchecked_cast,
    "uninitialized": _uninitialized,
    "__new__": _new,
    "isinstance": _isinstance,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "tolist": _tolist,
}
