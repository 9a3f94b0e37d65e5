"""Types of hyperparameters: one number for all dimensions, or a tuple of one number per dimension.

Example, in which `by` is an int or a pair of ints:

    def pad(self, by: _size_2_t) -> None: ...
"""

from __future__ import annotations

from ts._core.tensor.tensor import Tensor

_size_any_t = int | tuple[int, ...]
_size_1_t = int | tuple[int]
_size_2_t = int | tuple[int, int]
_size_3_t = int | tuple[int, int, int]
_size_4_t = int | tuple[int, int, int, int]
_size_5_t = int | tuple[int, int, int, int, int]
_size_6_t = int | tuple[int, int, int, int, int, int]
_ratio_any_t = float | tuple[float, ...]
_ratio_2_t = float | tuple[float, float]
_ratio_3_t = float | tuple[float, float, float]
_tensor_list_t = Tensor | list[Tensor]
