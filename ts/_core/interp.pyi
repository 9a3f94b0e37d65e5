from collections.abc import Iterable
from typing import Any

from ts._core.code import Code
from ts._core.meter import pop_limits as pop_limits
from ts._core.meter import push_limits as push_limits

class Function:
    name: str
    declaration: str
    arguments: tuple[tuple[Any, ...], ...]
    def __init__(
        self, name: str, arguments: Iterable[tuple[Any, ...]] = ..., declaration: str = ...
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _prepare(self) -> Code: ...
    @property
    def compiled_code(self) -> Code: ...
