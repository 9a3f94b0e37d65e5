from typing import Any

from ts._core.tensor.tensor import Tensor

def from_scalars(data: Any, scalar_type: int) -> Tensor | None: ...
