from typing import Any

from numpy.typing import NDArray

from ts.backends.cpu.kernels.conv_layout import InputLayout, SubConvolution

def correlate(
    input: NDArray[Any],
    weight: NDArray[Any],
    bias: NDArray[Any] | None,
    out: NDArray[Any],
    source: InputLayout,
    phases: list[SubConvolution],
    groups: int,
    transposed: bool,
) -> None: ...
