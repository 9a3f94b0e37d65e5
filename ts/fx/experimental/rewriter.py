"""RewritingTracer: rewrites `assert` and annotated assignments to calls, which can be traced.

A statement (left) becomes a call (right):

    assert x.dim() == 2, "a matrix"           torch._assert(x.dim() == 2, "a matrix")
    y: Tensor = x + 1                         y = annotate(x + 1, Tensor)
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ts.frontend.function_source import source_of_function
from ts.fx.graph import Graph
from ts.fx.tracer import Tracer
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = ["AST_Rewriter", "RewritingTracer"]


class AST_Rewriter(ast.NodeTransformer):
    """Syntax tree transformer that converts `assert` and annotated assignments to function calls."""

    def rewrite(self, fn: FunctionType) -> FunctionType:
        """Return a copy of `fn`, with calls instead of `assert` statements and annotated assignments."""
        tree = ast.parse(source_of_function(inspect.unwrap(fn)).dedented)  # type: ignore[arg-type]
        code = compile(ast.fix_missing_locations(self.visit(tree)), "", "exec")
        names = copy.copy(fn.__globals__)
        before = set(names)
        exec(code, names)
        new = set(names) - before
        if len(new) != 1:
            raise AssertionError(f"Expected 1 new key, got {len(new)}")
        rewritten_function = names[new.pop()]
        result = FunctionType(
            rewritten_function.__code__,
            fn.__globals__,
            rewritten_function.__name__,
            rewritten_function.__defaults__,
            rewritten_function.__closure__,
        )
        functools.update_wrapper(result, rewritten_function)
        result.__kwdefaults__ = copy.copy(rewritten_function.__kwdefaults__)
        return result

    def visit_Assert(self, node: ast.Assert) -> Any:
        """Convert `assert` to the call `torch._assert(test, message)`."""
        call = ast.parse("torch._assert()", mode="eval").body
        assert isinstance(call, ast.Call)
        call.args = [node.test, node.msg or ast.Constant(value="")]
        return ast.copy_location(ast.Expr(call), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Convert an annotated assignment to `target = annotate(value, annotation)`."""
        call = ast.Call(ast.Name("annotate", ast.Load()), [node.value, node.annotation], [])  # type: ignore[list-item]
        return ast.copy_location(ast.Assign([node.target], call), node)


class RewritingTracer(Tracer):
    """Tracer that rewrites the source of a function or module before it traces it."""

    def trace(self, root: Module | Callable[..., Any], concrete_args: Any = None) -> Graph:
        """Trace a module or function after rewriting its source."""
        return super().trace(_rewrite(root), concrete_args)


def _rewrite(root: Any) -> Any:
    if not isinstance(root, Module):
        return AST_Rewriter().rewrite(root)

    class RewrittenModule(Module):
        def __init__(self, orig: Module) -> None:
            super().__init__()
            for name, value in orig.__dict__.items():
                self.__dict__[name] = copy.copy(_rewrite(value) if isinstance(value, Module) else value)

    RewrittenModule.forward = AST_Rewriter().rewrite(root.forward)  # type: ignore[method-assign, arg-type]
    return RewrittenModule(root)


__getattr__ = names_for(__name__)
