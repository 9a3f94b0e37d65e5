"""Policy for loading untrusted code: compilation limits and allowed operators.

    policy = LoadPolicy(ts.limits(seconds=1), {"aten::add", "aten::mul.Tensor", "aten::_*"})
    with policy.within(): ...            for reading the file and compiling its code
    policy.admit(graph)                  CompilationError for a graph with another operator

A name without an overload allows all overloads of the operator. Names may contain wildcards (`*`, `?`).
Operators of the language itself (`prim::If`, `prim::TupleUnpack`) are always allowed, except remote calls
(`prim::rpc_*`), which must be listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from ts.errors import CompilationError

if TYPE_CHECKING:
    from ts.ir.graph import Graph
    from ts.ir.source import SourceRange

_LANGUAGE_CLASSES: Final = "prim::"
_REMOTE: Final = "prim::rpc_"  # prefix of remote calls, which are allowed only if listed


class LoadPolicy:
    """Resource limits and allowed operators. The default is no limits and all operators."""

    def __init__(
        self,
        limits: AbstractContextManager[Any] | None = None,
        allowed_ops: Iterable[str] | None = None,
    ) -> None:
        if limits is not None and not isinstance(limits, AbstractContextManager):
            raise TypeError(f"limits: {limits!r} is not a result of ts.limits(...)")
        self.limits = limits
        self.restricted = allowed_ops is not None
        self._patterns: tuple[str, ...] = ()
        self._is_allowed_by_key: dict[str, bool] = {}
        if allowed_ops is not None:
            self._patterns = (allowed_ops,) if isinstance(allowed_ops, str) else tuple(allowed_ops)
            for pattern in self._patterns:
                if not isinstance(pattern, str):
                    raise TypeError(f"allowed_ops: {pattern!r} is not the name of an operator")

    def within(self) -> AbstractContextManager[Any]:
        """Return the resource limits as a context manager to enter while the file is processed."""
        return nullcontext() if self.limits is None else self.limits

    def allows(self, key: str) -> bool:
        """Return whether the policy allows an operator, given by name and overload (`aten::add.Tensor`)."""
        is_builtin = key.startswith(_LANGUAGE_CLASSES) and not key.startswith(_REMOTE)
        if not self.restricted or is_builtin:
            return True
        is_allowed = self._is_allowed_by_key.get(key)
        if is_allowed is None:
            name = key.partition(".")[0]
            is_allowed = any(fnmatchcase(key, p) or fnmatchcase(name, p) for p in self._patterns)
            self._is_allowed_by_key[key] = is_allowed
        return is_allowed

    def admit(self, graph: Graph, range: SourceRange | None = None) -> None:
        """Raise CompilationError at `range`, or the node's range, if the graph uses a disallowed operator."""
        if not self.restricted:
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
                raise CompilationError(message, range or node.range)


UNRESTRICTED: Final = LoadPolicy()
