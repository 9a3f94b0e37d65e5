from typing import Any

from numpy.typing import NDArray

def weighted_sums(
    x: NDArray[Any], out: NDArray[Any], axis: int, index: NDArray[Any], weight: NDArray[Any]
) -> None: ...
def weighted_bytes(
    x: NDArray[Any],
    out: NDArray[Any],
    axis: int,
    index: NDArray[Any],
    weight: NDArray[Any],
    fraction_bits: int,
) -> None: ...
def weighted_picks(x: NDArray[Any], out: NDArray[Any], index: NDArray[Any], weight: NDArray[Any]) -> None: ...
