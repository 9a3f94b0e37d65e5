# Types of the Python arguments that operators accept, for type checkers only: one alias per schema type. The
# aliases differ from the names of builtins, because dtypes and methods hide those names (`ts.bool`, `x.int`).

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from ts._core.tensor.tensor import Tensor
from ts.devices import device
from ts.dtypes import dtype, layout, memory_format

PyInt: TypeAlias = int
PyFloat: TypeAlias = float
PyComplex: TypeAlias = complex
Bool: TypeAlias = bool
Str: TypeAlias = str
Int: TypeAlias = int | np.integer[Any]
Float: TypeAlias = float | np.floating[Any] | np.integer[Any]
Number: TypeAlias = int | float | complex | np.number[Any] | np.bool_
Real: TypeAlias = int | float  # type of the result of `item()`
Ints: TypeAlias = Sequence[Int]
Floats: TypeAlias = Sequence[Float]
Bools: TypeAlias = Sequence[Bool]
Numbers: TypeAlias = Sequence[Number]
Tensors: TypeAlias = Sequence[Tensor]
OptionalTensors: TypeAlias = Sequence[Tensor | None]
DType: TypeAlias = dtype | type[bool] | type[int] | type[float] | type[complex]
Layout: TypeAlias = layout
MemoryFormat: TypeAlias = memory_format
Device: TypeAlias = device | str | int
Operand: TypeAlias = Tensor | Number | np.ndarray[Any, Any]  # type of `y` in `x + y`
_Index: TypeAlias = Int | slice | EllipsisType | Tensor | np.ndarray[Any, Any] | list[Any] | range | None
Index: TypeAlias = _Index | tuple[_Index, ...]
