"""Size, the shape of a tensor.

    >>> Size((2, 3)), Size((2, 3)).numel(), Size((2, 3))[1:]
    (torch.Size([2, 3]), 6, torch.Size([3]))
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Self


class Size(tuple[int, ...]):
    """Shape of a tensor: a tuple with the `repr` of `torch.Size`."""

    __slots__ = ()

    def __new__(cls, iterable: Iterable[Any] = ()) -> Self:
        items = tuple(iterable)
        for i, item in enumerate(items):
            dtype = getattr(item, "dtype", None)
            if not hasattr(item, "__index__") or getattr(dtype, "is_floating_point", False):
                raise TypeError(
                    f"torch.Size() takes an iterable of 'int' (item {i} is '{type(item).__name__}')"
                )
        return tuple.__new__(cls, items)  # During tracing, the items may be tensors instead of ints.

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def numel(self) -> int:
        """Return the product of the sizes, which is the number of elements."""
        return math.prod(self)

    def __add__(self, other: object) -> Any:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: object) -> Any:
        return Size(tuple.__add__(tuple(other), self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __getitem__(self, i: Any) -> Any:
        item = tuple.__getitem__(self, i)
        return Size(item) if isinstance(i, slice) else item

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)
