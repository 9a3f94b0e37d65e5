from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

class Table:
    def __init__(
        self,
        sizes: Sequence[int],
        begin: Sequence[NDArray[Any]],
        stop: Sequence[NDArray[Any]],
        dilation: Sequence[int],
    ) -> None: ...
    def output_size(self) -> tuple[int, int, int]: ...

def max_of_windows(table: Table, x: NDArray[Any], out: NDArray[Any], index: NDArray[Any] | None) -> None: ...
def mean_of_windows(table: Table, x: NDArray[Any], out: NDArray[Any], divisor: NDArray[Any]) -> None: ...
