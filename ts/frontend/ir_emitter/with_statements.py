"""Emission of `with` statements (context managers).

A statement (left) becomes nodes (right):

    with c as x, d:          %x = prim::Enter(%c)
        ...                  prim::Enter(%d)
                             ...
                             prim::Exit(%d)
                             prim::Exit(%c)

`prim::Exit` also runs after early exits (such as `return`) and exceptions. `passes/exit_transform.py` handles
early exits. For exceptions, the bytecode records the entered objects.
"""

from __future__ import annotations

import ast

from ts.errors import CompilationError, NotSupportedError
from ts.frontend.ignored_blocks import emit_ignored_block, is_ignored_block
from ts.frontend.ir_emitter.emitter import Emitter, statement
from ts.ir.types import ANY, ClassType, Type
from ts.ir.value import Value


@statement(ast.With)
def emit_with(em: Emitter, node: ast.With) -> None:
    """Emit `with` as `prim::Enter`, the body and `prim::Exit`, or as a call of an ignored block."""
    if em.parsed.function is not None and is_ignored_block(node):
        emit_ignored_block(em, node)
        return
    entered: list[Value] = []
    for item in node.items:
        context = em.expr(item.context_expr)
        enter = em.insert("prim::Enter", (context,))
        enter.output().set_type(_result_of_enter(em, item.context_expr, context.type()))
        entered.append(context)
        if item.optional_vars is None:
            continue
        if not isinstance(item.optional_vars, ast.Name):
            raise NotSupportedError(
                "the target of a with statement can only be a name; unpack it in the body",
                em.range(item.optional_vars),
            )
        em.scope.set(em.range(item.optional_vars), item.optional_vars.id, enter.output())
    em.statements(node.body)
    for context in reversed(entered):
        em.insert("prim::Exit", (context,))


def _result_of_enter(em: Emitter, item: ast.expr, type: Type) -> Type:
    """Check the `__enter__` and `__exit__` methods of a context manager of type `type`.

    Return the result type of `__enter__`.
    """
    range = em.range(item)
    if not isinstance(type, ClassType):
        raise CompilationError("With item expression must return an object", range)
    enter, leave = type.find_method("__enter__"), type.find_method("__exit__")
    if enter is None or leave is None:
        raise CompilationError(
            "Object returned by with item expression does not define __enter__ and __exit__ methods", range
        )
    if len(enter.schema.arguments) != 1 or len(enter.schema.returns) != 1:
        raise CompilationError("__enter__ must have only one argument and one return value", range)
    parameters = leave.schema.arguments
    if len(parameters) != 4:
        raise CompilationError("__exit__ must have four arguments", range)
    for i, parameter in enumerate(parameters[1:], 1):
        if parameter.type is not ANY:
            raise CompilationError(
                f"argument {i} of __exit__ must have Any type; TorchScript does not currently support "
                "passing exception type, value, or traceback to the __exit__ function.",
                range,
                "annotate all three with Any",
            )
    result: Type = enter.schema.returns[0].type
    return result
