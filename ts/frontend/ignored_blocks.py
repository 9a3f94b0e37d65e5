"""Blocks of a scripted function that run in Python.

A block is a `with` statement (left). It becomes a Python function, which the graph calls (right):

    with ts.jit.ignore_context_manager(a="inp:int", c="out:int"):      %c : int = ^ignored_block[]()(%a)
        c = len([i for i in range(a) if i > 2])

Names marked "inp" are the parameters of the function. Names marked "out" are its results. In source text,
which may be untrusted, the statement is an ordinary `with`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ts._core.late_binding import resolve
from ts.errors import CompilationError
from ts.ir.types import NONE, TupleType, Type

if TYPE_CHECKING:
    from ts.frontend.ir_emitter.emitter import Emitter

_NAMES = ("_IgnoreContextManager", "ignore_context_manager")
_FUNCTION = "ignored_block"


def is_ignored_block(node: ast.stmt) -> bool:
    """Return whether a statement is a block that runs in Python."""
    match node:
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=callee))]):
            return getattr(callee, "attr", getattr(callee, "id", "")) in _NAMES
    return False


def emit_ignored_block(em: Emitter, node: ast.With) -> None:
    """Emit a call of the block as a Python function, and assign its results."""
    inputs, outputs = _declared(em, node)
    types = list(outputs.values())
    returns = NONE if not types else types[0] if len(types) == 1 else TupleType(types)
    range = em.range(node.items[0].context_expr)
    arguments = [em.variable(name, range) for name in inputs]
    function = _function(em, node, list(inputs), list(outputs))
    function.__annotations__ = {**inputs, "return": returns}
    python_functions = resolve("python_functions")
    result = python_functions.PythonFunction(function).call(em, range, arguments, {}, len(outputs))
    results = [result] if len(outputs) == 1 else result.as_tuple(em, range) if outputs else []
    for name, value in zip(outputs, results, strict=True):
        em.scope.set(range, name, value)


def _declared(em: Emitter, node: ast.With) -> tuple[dict[str, Type], dict[str, Type]]:
    """Return the declared inputs and outputs of a block, as dicts from variable name to type."""
    call = node.items[0].context_expr
    assert isinstance(call, ast.Call)
    declared: dict[str, dict[str, Type]] = {"inp": {}, "out": {}}
    for keyword in call.keywords:
        match keyword.value:
            case ast.Constant(value=str(declaration)) if (
                declaration.partition(":")[0] in declared and keyword.arg
            ):
                kind, _, annotation = declaration.partition(":")
                quoted = ast.copy_location(ast.Constant(annotation), keyword.value)
                declared[kind][keyword.arg] = em.type_of(quoted)
            case _:
                raise CompilationError(
                    'declare the inputs of an ignored block as `name="inp:type"`, and its outputs as '
                    '`name="out:type"`',
                    em.range(keyword.value),
                )
    return declared["inp"], declared["out"]


def _function(em: Emitter, node: ast.With, inputs: list[str], outputs: list[str]) -> Callable[..., Any]:
    parameters = ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in inputs], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    loads: list[ast.expr] = [ast.Name(name, ast.Load()) for name in outputs]
    value = loads[0] if len(loads) == 1 else ast.Tuple(loads, ast.Load())
    body = [*node.body, ast.Return(value if loads else None)]
    definition = ast.FunctionDef(_FUNCTION, parameters, body, [])
    module = ast.fix_missing_locations(ast.Module([definition], []))
    names: dict[str, Any] = {}
    for scope in reversed(em.resolver.scopes):
        names.update(scope)
    exec(compile(module, em.parsed.source.filename or "<string>", "exec"), names)
    function: Callable[..., Any] = names[_FUNCTION]
    return function
