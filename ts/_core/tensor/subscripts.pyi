from collections.abc import Callable, Iterable
from typing import Any

OTHER: int
INTEGER: int
SLICE: int
NEW_DIM: int
ELLIPSIS: int
BOOL_ITEM: int
TENSOR: int

def parse_subscript(
    items: Iterable[Any], ndim: int | None, kind_of: Callable[[Any], int]
) -> list[tuple[int, int, int, Any]]: ...
