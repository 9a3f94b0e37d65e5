from ts._core.tensor.tensor import Tensor

class Layer:
    level: int
    inner: Tensor
    def __init__(self, level: int, inner: Tensor) -> None: ...
    def check_elements(self) -> None: ...
