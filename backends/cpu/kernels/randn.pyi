from typing import Any

from numpy.typing import NDArray

from .mt19937 import MersenneTwister

def block_normals(stream: MersenneTwister, n: int, double_: bool, narrow: bool) -> NDArray[Any]: ...
