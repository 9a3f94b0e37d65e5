from collections.abc import Callable
from typing import Any

from ts._core.dispatch.operator import Operator

class ForeachKernel:
    def __init__(
        self,
        find: Callable[[str], Operator | None],
        key: str,
        parameters: tuple[Any, ...],
        returns_results: bool,
    ) -> None: ...
    def run(self, *args: Any) -> Any: ...
