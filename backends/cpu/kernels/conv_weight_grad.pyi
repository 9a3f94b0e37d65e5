from typing import Any

from numpy.typing import NDArray

from ts.backends.cpu.kernels.conv import InputLayout, SubConvolution

def correlate_weights(
    conv_input: NDArray[Any],
    other: NDArray[Any],
    out: NDArray[Any],
    source: InputLayout,
    phase: SubConvolution,
    groups: int,
) -> None: ...
