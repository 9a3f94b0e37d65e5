from typing import Any

from ts._core.tensor import Tensor

def part(x: Tensor, index: Any) -> Tensor | None: ...
