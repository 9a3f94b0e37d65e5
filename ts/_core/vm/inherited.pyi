from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

class Inherited:
    def run(self, work: Callable[[], _T]) -> _T: ...
