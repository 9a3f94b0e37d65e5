from typing import Any

from numpy.typing import NDArray

def multiply(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], alpha: float, beta: float) -> bool: ...
