from typing import Any

from ts import devices
from ts._core.tensor.tensor import Tensor

def operator(name: str) -> Any: ...
def to_copy(
    x: Tensor,
    dtype: int | None = None,
    device: devices.device | None = None,
    non_blocking: bool = False,
    memory_format: int | None = None,
) -> Tensor: ...
