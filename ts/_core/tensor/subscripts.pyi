from typing import Any

from ts._core.tensor.tensor import Tensor

def part(x: Tensor, index: Any) -> Tensor | None: ...
