"""Types of the Python function of the kernels for masks."""

from typing import Any

from numpy.typing import NDArray

def select_contiguous(mask: Any, x: Any, y: Any) -> NDArray[Any] | None: ...
