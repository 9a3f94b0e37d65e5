"""Nested function definitions, supported in source strings.

A nested function is checked for errors, then discarded, because programs cannot call it. Example:

    def f(x):
        y = torch.tanh(x)
        def backward(grad):
            return grad * (1 - y * y)
        return y

As in PyTorch, live functions must not contain nested functions.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ts.errors import CompilationError
from ts.frontend.ir_emitter.emitter import Emitter, statement
from ts.frontend.schema_matching import Actual
from ts.frontend.signatures import signature
from ts.frontend.sugared_values.sugared import Kwargs, SugaredValue
from ts.ir.source import SourceRange
from ts.ir.value import Value


class ClosureValue(SugaredValue):
    """Sugared value of a nested function, which scripts cannot call."""

    kind = "closure"

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Raise CompilationError: a closure is valid only as an argument of `fork` and similar forms."""
        raise CompilationError(
            "a closure cannot be used as a value; define the function outside and pass values as arguments",
            range,
        )

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Raise CompilationError: scripts cannot call a nested function, as in PyTorch."""
        raise CompilationError(
            "cannot call a closure; define the function outside and pass values as arguments", range
        )


@statement(ast.FunctionDef)
def emit_closure(em: Emitter, node: ast.FunctionDef) -> None:
    """Emit a nested function into a temporary block to check it, then discard the block."""
    if em.parsed.printed:
        from ts.frontend.serialized_names import emit_task

        emit_task(em, node)
        return
    inner = em.parsed.inner(node)
    parameters, returns = signature(inner)
    saved = em.declared_return, em.merged_return, em.merged_return_at, em.loop
    em.declared_return, em.merged_return, em.loop = returns, None, None
    loads = em.scope.loaded.count()
    closure = em.insert("prim::Closure")
    block = closure.add_block()
    with em.in_block(block) as scope:
        for parameter in parameters:
            scope.types[parameter.name] = parameter.type
        em.statements(node.body)
    em.declared_return, em.merged_return, em.merged_return_at, em.loop = saved
    em.exits.discard(block)
    closure.destroy()
    em.scope.loaded.discard_after(loads)
    em.scope.set(em.range(node), node.name, ClosureValue())
