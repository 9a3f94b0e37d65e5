from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")

def carried() -> Any: ...
def carry(x: Any) -> None: ...

class ThreadContextSnapshot:
    def run(self, work: Callable[[], _T]) -> _T: ...
