from typing import Any

from numpy.typing import NDArray

from ts.backends.cpu.kernels.conv import Phase, Source

def correlate_weights(
    seen: NDArray[Any], other: NDArray[Any], out: NDArray[Any], source: Source, phase: Phase, groups: int
) -> None: ...
