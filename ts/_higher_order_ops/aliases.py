"""Alias tracking of the tensors that share memory, derived from the schemas of executed operators.

Schemas are necessary because tensors of the meta device have no memory addresses to compare. In the example,
the first call makes `y` a view of `x`, and the second call writes to `y`:

    shared = Aliases()
    shared.record_operator(aten::view, [x, [6]], y)         shared.root(y) is now shared.root(x)
    shared.record_operator(aten::add_, [y, 1, 1], y)        shared.written is now [shared.root(x)]
"""

from __future__ import annotations

from typing import Any, Final

from ts._core.tensor.tensor import Tensor
from ts.ops.registry import field_by_name
from ts.tracing.meta_execution import tensors_in

_VIEW_IF_POSSIBLE: Final = field_by_name("view_if_possible")
_SELF_IF_POSSIBLE: Final = field_by_name("self_if_possible")


class Aliases:
    """Record of the tensors that share memory or are written during one execution of a function."""

    def __init__(self) -> None:
        # id of a tensor -> id of the tensor whose memory it shares
        self._roots: dict[int, int] = {}
        self._references: list[Tensor] = []  # keeps tensors alive, so that their ids remain unique
        self.written: list[int] = []

    def root(self, x: Tensor) -> int:
        """Return an id that is equal for all tensors that share the memory of `x`."""
        return self._roots.get(id(x), id(x))

    def join(self, x: Tensor, other: Tensor) -> None:
        """Record that `x` shares the memory of `other`."""
        if x is not other:
            self._references += [x, other]
            self._roots[id(x)] = self.root(other)

    def mark_separate(self, x: Tensor) -> None:
        """Record that `x` shares memory with no tensor recorded so far."""
        self._roots.pop(id(x), None)

    def record_operator(self, op: Any, values: list[Any], result: Any) -> None:
        """Record the arguments that the operator `op` writes, and the results that alias arguments."""
        source: Tensor | None = None
        for argument, value in zip(op.schema.arguments, values, strict=True):
            if argument.alias is None:
                continue
            for x in tensors_in([value]):
                if argument.is_write and self.root(x) not in self.written:
                    self._references.append(x)
                    self.written.append(self.root(x))
                source = x if source is None else source
        if source is None:
            return
        aliasing = [r.alias is not None for r in op.schema.returns]
        results = (result,) if len(aliasing) == 1 else result or ()
        for is_alias, output in zip(aliasing, results, strict=True):
            for y in tensors_in([output]) if is_alias else ():
                if _is_view(op, source, y):
                    self.join(y, source)


def _is_view(op: Any, source: Tensor, y: Tensor) -> bool:
    """Return whether `y`, a result of an operator that may return views of `source`, is such a view."""
    if _SELF_IF_POSSIBLE[op.name]:
        return y.array is source.array
    return not _VIEW_IF_POSSIBLE[op.name] or (
        source.is_contiguous() and source.dtype is y.dtype and source.numel() == y.numel()
    )
