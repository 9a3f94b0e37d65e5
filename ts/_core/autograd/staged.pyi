from collections.abc import Callable
from typing import Any

class StagedRun:
    def __init__(
        self, roots: list[list[Any]], keep: bool, add: Callable[[Any, Any, bool], None]
    ) -> None: ...
    def resume(self, root: int, gradients: list[Any]) -> None: ...

def reach(roots: list[list[Any]], kind: type[Any]) -> dict[Any, int]: ...
