"""Python's parser, protected by a lock.

Each line shows a call and the class of its result:

    module("def f(): ...")             ast.Module
    expression("List[int]")            ast.expr
    function_type("(int) -> int")      ast.FunctionType

The lock is necessary before Python 3.11.8 and 3.12.2, where parsing in two threads can raise SystemError.
"""

from __future__ import annotations

import ast
import os
import threading

_parser = threading.Lock()  # cannot cause a deadlock: a thread that holds this lock acquires no other lock
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_parser._at_fork_reinit)  # type: ignore[attr-defined]


def module(source: str) -> ast.Module:
    """Parse source text to the tree of a module."""
    with _parser:
        return ast.parse(source)


def expression(source: str) -> ast.expr:
    """Parse one expression."""
    with _parser:
        return ast.parse(source, mode="eval").body


def function_type(source: str) -> ast.FunctionType:
    """Parse the text of a `# type:` comment as a function type."""
    with _parser:
        return ast.parse(source, mode="func_type")
