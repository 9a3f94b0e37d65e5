"""Dependency analysis of source files in an archive: the operators and definitions that a file references.

Input: the syntax of a definition. Output: its references. Each line shows source and its reference:

    torch.relu(x)                   Dependency("operator", "aten::relu", range)
    ops.quantized.linear(x, w)      Dependency("operator", "quantized::linear", range)
    __torch__.net.Mode.FAST         Dependency("name", "__torch__.net.Mode.FAST", range)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ts.frontend.schema_matching import candidates
from ts.frontend.source_ranges import Ranges
from ts.frontend.sugared_values.builtin_functions import builtin_functions
from ts.ir.source import SourceRange


class Dependency(NamedTuple):
    """Reference to a name, with the source range of the reference."""

    kind: str  # "operator" for the name of an operator, "name" for the name of a definition
    name: str
    range: SourceRange


def find_dependencies(definition: ast.AST, ranges: Ranges) -> Iterator[Dependency]:
    """Yield the operators and definitions that a definition refers to."""
    pending: list[ast.AST] = [definition]
    while pending:
        node = pending.pop()
        names = _dotted(node)
        root = names[0] if len(names) > 1 else ""
        if root == "torch" and len(names) == 2:
            yield Dependency("operator", f"aten::{names[1]}", ranges.of(node))
        elif root == "ops" and len(names) == 3:
            yield Dependency("operator", f"{names[1]}::{names[2]}", ranges.of(node))
        elif root in ("__torch__", "torch"):
            yield Dependency("name", ".".join(names), ranges.of(node))
        else:
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def is_operator(name: str) -> bool:
    """Return whether an operator called `name` exists."""
    return bool(candidates(name) or builtin_functions(name))


def _dotted(node: ast.AST) -> list[str]:
    """Split a dotted name `a.b.c` into its parts. Return an empty list for other expressions."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if names and isinstance(node, ast.Name) else []
