"""Sandbox policy for loading untrusted code, with compile-time limits and an allowlist of operators.

Example:

    policy = LoadPolicy(ts.limits(seconds=1), {"aten::add", "aten::mul.Tensor", "aten::_*"})
    with policy.within(): ...            limits the reading of a file and the compilation of its code
    policy.admit(graph)                  raises CompilationError for a graph with another operator

A name without an overload allows all overloads of the operator. Names may contain wildcards (`*`, `?`).

Operators of the language itself, such as `prim::If`, are always allowed. Remote calls (`prim::rpc_*`) must be
listed. Operators that write files (`aten::save`) must be listed without wildcards.

`UNRESTRICTED`, the policy of a program's own code, allows all operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from ts._core.builtin_ops.properties import names_with
from ts.errors import CompilationError

if TYPE_CHECKING:
    from ts.ir.graph import Graph
    from ts.ir.source import SourceRange

_LANGUAGE_CLASSES: Final = "prim::"
_REMOTE: Final = "prim::rpc_"  # prefix of remote calls, which are allowed only if listed


FILE_WRITERS: Final = names_with("writes_files")  # names of the operators that write files


class LoadPolicy:
    """Resource limits and allowed operators. By default, all operators except `FILE_WRITERS` are allowed."""

    def __init__(
        self,
        limits: AbstractContextManager[Any] | None = None,
        allowed_ops: Iterable[str] | None = None,
        is_trusted: bool = False,
    ) -> None:
        """Set the limits and the allowed operators. `is_trusted` allows operators that write files."""
        if limits is not None and not isinstance(limits, AbstractContextManager):
            raise TypeError(f"limits: {limits!r} is not a result of ts.limits(...)")
        self.limits = limits
        self.is_trusted = is_trusted
        self.restricted = allowed_ops is not None
        self._patterns: tuple[str, ...] = ()
        self._is_allowed_by_key: dict[str, bool] = {}
        if allowed_ops is not None:
            patterns: tuple[Any, ...] = (allowed_ops,) if isinstance(allowed_ops, str) else tuple(allowed_ops)
            for pattern in patterns:
                if not isinstance(pattern, str):
                    raise TypeError(f"allowed_ops: {pattern!r} is not the name of an operator")
            self._patterns = patterns

    def within(self) -> AbstractContextManager[Any]:
        """Return a context manager that applies the resource limits while a file is loaded."""
        return nullcontext() if self.limits is None else self.limits

    def allows(self, key: str) -> bool:
        """Return whether the policy allows an operator, given by name and overload (`aten::add.Tensor`)."""
        name = key.partition(".")[0]
        if name in FILE_WRITERS and not self.is_trusted:
            return key in self._patterns or name in self._patterns
        is_builtin = key.startswith(_LANGUAGE_CLASSES) and not key.startswith(_REMOTE)
        if not self.restricted or is_builtin:
            return True
        is_allowed = self._is_allowed_by_key.get(key)
        if is_allowed is None:
            is_allowed = any(fnmatchcase(key, p) or fnmatchcase(name, p) for p in self._patterns)
            self._is_allowed_by_key[key] = is_allowed
        return is_allowed

    def admit(self, graph: Graph, range: SourceRange | None = None) -> None:
        """Raise CompilationError if a node of `graph` calls an operator that the policy does not allow.

        The error has the source location `range`, or the location of the node if `range` is None.
        """
        if not self.restricted:
            self._admit_file_access(graph, range)
            return
        from ts.passes.preserve_raising_code import graph_to_execute

        for node in graph_to_execute(graph).all_nodes():
            if node.has_attribute("Subgraph"):
                self.admit(node.get("Subgraph"), range)
            schema = node.schema()
            if schema is None and not node.kind().startswith(_REMOTE):
                continue
            key = node.kind() if schema is None else schema.key
            if not self.allows(key):
                message = f"the archive uses {key}, which is not among the allowed operators"
                if schema is not None and schema.name in FILE_WRITERS:
                    message = _file_access_message(key)
                raise CompilationError(message, range or node.range)

    def _admit_file_access(self, graph: Graph, range: SourceRange | None) -> None:
        """Raise CompilationError if a graph contains an operator that writes files and is not allowed."""
        if self.is_trusted:
            return
        denied = {kind for kind in graph.kinds() if not self.allows(kind)}
        for node in graph.all_nodes():
            if node.has_attribute("Subgraph"):
                self._admit_file_access(node.get("Subgraph"), range)
            elif node.kind() in denied:
                raise CompilationError(_file_access_message(node.kind()), range or node.range)


def _file_access_message(operator: str) -> str:
    return (
        f"the archive uses {operator}, which writes files; to allow it for an archive from a trusted source, "
        f'list it by name: ts.jit.load(path, allowed_ops=["*", "{operator}"])'
    )


DEFAULT: Final = LoadPolicy()  # policy for archives: no limits, and all operators but `FILE_WRITERS`
UNRESTRICTED: Final = LoadPolicy(is_trusted=True)  # policy for code of the program itself
