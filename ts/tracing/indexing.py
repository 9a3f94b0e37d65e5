"""Indexing in traces: `x[...]` and `x[...] = value` as recorded operators.

The trace records the calls on the right instead of the expressions on the left:

    x[0, 1:]                 x.select(0, 0).slice(dim=0, start=1, end=maxint, step=1)
    x[mask] = y              x.index_put_((mask,), y)

An index or bound may be a one-element integer tensor, such as a size in a trace. The recorded operators
then read the tensor instead of its current number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts import dtypes
from ts._core.dispatch.overloads import overloads
from ts._core.tensor import factories
from ts._core.tensor.indexing import Indexing
from ts._core.tensor.subscripts import BOOL_ITEM, INTEGER, TENSOR
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer


class RecordedIndexing(Indexing):
    """Evaluation of subscripts by operators that a tracer records.

    If `skips_whole_slices`, slices that select a whole dimension are not recorded.

    `to_number` converts a 0-dimensional tensor, used as an index or bound, to a number. With this function,
    the omitted bounds of a slice with a symbolic bound are None.

    `differs` returns True if a 0-dimensional index tensor has a different value for each batch element of
    `vmap`. The tensor must then be passed to `aten::index`.
    """

    def __init__(
        self,
        skips_whole_slices: bool = True,
        to_number: Callable[[Tensor], Any] | None = None,
        differs: Callable[[Tensor], bool] | None = None,
    ) -> None:
        self.skips_whole_slices = skips_whole_slices
        self.to_number = to_number
        self.differs = differs

    def assigned_tensor(self, value: Any, x: Tensor) -> Tensor:
        """Return a tensor itself, or the constant of a number."""
        if isinstance(value, Tensor):
            return value
        return _constant(lambda: factories.tensor(value, dtype=x.dtype, device=x.device), None)

    def put_elements(self, x: Tensor, view: Tensor, indices: list[Tensor | None], source: Tensor) -> None:
        """Record `aten::index_put_`."""
        overloads("index_put_")(view, indices, source, False)

    def integer(self, item: Any) -> Any:
        """Return the int of an object with a method `__index__`. A symbolic number is returned unchanged."""
        return item if isinstance(item, SymNumber) else super().integer(item)

    def index_constant(self, create: Callable[[], Tensor]) -> Tensor:
        """Record the index tensor of a list, range or array as a constant."""
        return _constant(create, "index")

    def tensor_item(self, item: Tensor) -> Any:
        """Return the tensor itself, because its elements may differ between calls of the trace."""
        return item

    def kind_of(self, item: Any) -> int:
        """Return the kind of an index tensor or of a symbol in a subscript."""
        kind = super().kind_of(item)
        if kind == TENSOR:  # a mask without dimensions selects the whole tensor or nothing
            return BOOL_ITEM
        if kind == INTEGER or item.ndim or item.dtype.category > dtypes.INTEGRAL:
            return kind
        return kind if self.differs is not None and self.differs(item) else INTEGER

    def basic_view(self, x: Tensor, steps: list[tuple[int, int, int, Any]], skip_whole: bool) -> Tensor:
        """Return the view that all items except index tensors select, computed by recorded operators."""
        return self.view_by_operators(x, steps, skip_whole)

    def index_tensor(self, item: Any, x: Tensor) -> Tensor:
        """Return the tensor for a tensor or bool in a subscript. A mask without dimensions becomes 1-d."""
        if isinstance(item, Tensor):
            return overloads("unsqueeze")(item, 0) if self.kind_of(item) == BOOL_ITEM else item  # type: ignore[no-any-return]
        return super().index_tensor(item, x)

    def position(self, item: Any, length: Any, at: int) -> Any:
        """Check the range of an index and return the index.

        Without `to_number`, an integer tensor is returned unchanged.
        """
        if isinstance(item, Tensor):
            return item if self.to_number is None else self.to_number(item)
        return super().position(item, length, at)

    def bounds(self, item: slice) -> tuple[Any, Any, Any]:
        """Return start, end and step of a slice. Omitted bounds of a slice with a symbolic bound are None."""
        start, end, step = super().bounds(item)
        if self.to_number is not None and (isinstance(start, SymNumber) or isinstance(end, SymNumber)):
            return None if item.start is None else start, None if item.stop is None else end, step
        return start, end, step

    def bound(self, bound: Any) -> Any:
        """Return a bound of a slice: an int or a symbolic number.

        Without `to_number`, an integer tensor is returned unchanged.
        """
        if isinstance(bound, Tensor) and bound.dtype.category <= dtypes.INTEGRAL:
            return bound if self.to_number is None else self.to_number(bound)
        return bound if isinstance(bound, SymNumber) else super().bound(bound)


def _constant(create: Callable[[], Tensor], function: str | None) -> Tensor:
    """Record the tensor that `create` creates as a constant of the trace.

    `function` is the name of the constructor in the tracer's warning, or None for no warning.
    """
    tracer = current_tracer()
    constant = tracer.unrecorded(create)
    literal = tracer.literal(constant)
    if literal is None and function is not None:
        tracer.record_constructed(constant, function)
    return constant if literal is None else literal  # type: ignore[no-any-return]
