"""Python's own parser, one thread at a time.

In: text.  Out: the tree, or the SyntaxError that `ast.parse` raises.

    module("def f(): ...")             ast.Module
    expression("List[int]")            ast.expr
    function_type("(int) -> int")      ast.FunctionType

Before 3.11.8 and 3.12.2, Python counts how deep the trees of all threads are in one place, and where a
second thread begins a tree before the first is through, that ends in a SystemError.
"""

from __future__ import annotations

import ast
import os
import threading

_parser = threading.Lock()  # inside of which no other is taken
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_parser._at_fork_reinit)  # type: ignore[attr-defined]


def module(text: str) -> ast.Module:
    """Parse source text to the tree of a module."""
    with _parser:
        return ast.parse(text)


def expression(text: str) -> ast.expr:
    """Parse one expression."""
    with _parser:
        return ast.parse(text, mode="eval").body


def function_type(text: str) -> ast.FunctionType:
    """Parse the text of a `# type:` comment as a function type."""
    with _parser:
        return ast.parse(text, mode="func_type")
