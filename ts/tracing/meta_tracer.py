"""Base tracer of fake tensors: answers queries of metadata without executing operators.

Subclasses define the evaluation of operators. `ts.export.tracer` records operators. The previews of control
flow and `ts.fake` do not record them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ts._core.dispatch.overloads import overloads
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import TracingScope
from ts._core.thread.tracer_protocol import TracerProtocol
from ts.tracing.indexing import RecordedIndexing


class MetaTracer(TracerProtocol):
    """Base class of tracers whose tensors have concrete sizes."""

    indexing = RecordedIndexing()

    def unrecorded(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call `function(*args)` without tracing."""
        with TracingScope(None):
            return function(*args)

    def size(self, x: Tensor, dim: Any = None) -> Any:
        """Return `x.size(dim)` without recording."""
        return self.unrecorded(x.size) if dim is None else self.unrecorded(x.size, dim)

    def shape(self, x: Tensor) -> Any:
        """Return `x.shape` without recording."""
        return self.unrecorded(lambda: x.shape)

    def numel(self, x: Tensor) -> Any:
        """Return `x.numel()` without recording."""
        return self.unrecorded(x.numel)

    def as_meta(self, x: Any) -> Any:
        """Return the fake tensor for a tensor of the program, or any other value unchanged."""
        raise NotImplementedError

    def get(self, x: Tensor, index: Any) -> Any:
        """Return `x[index]`."""
        return self.indexing.get(self.as_meta(x), index)

    def put(self, x: Tensor, index: Any, value: Any) -> None:
        """Assign `x[index] = value`."""
        self.indexing.put(self.as_meta(x), index, value)

    def iterate(self, x: Tensor) -> Iterator[Tensor]:
        """Return an iterator over `x[0]`, `x[1]`, ..."""
        return iter(overloads("unbind")(x, 0))

    def forward_of(self, module: Any) -> Callable[..., Any]:
        """Return the `forward` method of a module."""
        return module.forward  # type: ignore[no-any-return]
