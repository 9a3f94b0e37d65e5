from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

Sizes = Sequence[int]

class InputLayout:
    plane: int
    def __init__(
        self, sizes: Sizes, strides: Sizes, firsts: Sizes, lengths: Sizes, residues: Sequence[Sizes]
    ) -> None: ...

class SubConvolution:
    tap_layout: bytes
    def __init__(
        self,
        taps: Sequence[tuple[int, Sizes]],
        row_q: NDArray[Any],
        row_offset: NDArray[Any],
        row: int,
        output_stride: int,
        plane: Sequence[tuple[int, int, Sequence[int]]] | None = None,
    ) -> None: ...
