from typing import Any

from ts._core.tensor.tensor import Tensor

def of_numbers(data: Any, wanted: int) -> Tensor | None: ...
