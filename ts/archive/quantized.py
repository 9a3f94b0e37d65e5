"""Quantized tensors and packed parameters in archives, and their dequantization when they are read.

The pickles of quantized values have these contents:

    torch._utils._rebuild_qtensor(storage, 0, (2, 3), (3, 1), (torch.per_tensor_affine, 0.1, 10), False, ...)
    __torch__.torch.classes.quantized.LinearPackedParamsBase, (weight, bias)

The reader converts the first line to a float32 tensor whose values are on the quantization grid
(`ts.ops.quantizer`). It converts the second line to an object of `ts.ops.packed_params`.

Files are untrusted. Therefore, scales must be finite and positive, and their number must equal the size of
the quantized axis.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ts._core.tensor.factories import from_numpy
from ts._core.tensor.strides import contiguous
from ts._core.tensor.tensor import Tensor
from ts.archive.storages import QUANTIZED, Storage, TensorStorageRef, view
from ts.archive.unpickler import Global
from ts.errors import ArchiveError
from ts.ops.packed_params import CLASSES, Packed
from ts.ops.quantizer import (
    QUINT2X4,
    QUINT4X2,
    QuantizationParams,
    checked_grid,
    from_integers,
    grid_of,
    to_integers,
)

REBUILD: Final = "torch._utils._rebuild_qtensor"
# dtype with several elements per byte -> bits per element. The size of storages of these dtypes is counted in
# bytes.
_BITS: Final = {QUINT4X2: 4, QUINT2X4: 2}
SCHEMES: Final = {
    "torch.per_tensor_affine": False,
    "torch.per_channel_affine": True,
    "torch.per_channel_affine_float_qparams": True,
}

_STORAGES: Final = {type.quantized: name for name, type in QUANTIZED.items()}

DeviceMap = Callable[[Tensor, str], Tensor]


def tensor(
    map_to_device: DeviceMap, storage: Any, offset: Any, size: Any, stride: Any, parameters: Any, *rest: Any
) -> Tensor:
    """Dequantize the integers of a storage reference, and move the result with `map_to_device`."""
    if not isinstance(storage, Storage) or storage.quantized is None:
        raise ArchiveError("expected a storage of integers for a quantized tensor")
    integers = _integers(storage, offset, size, stride)
    try:
        grid = _grid(parameters, storage.quantized, integers.shape)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ArchiveError(f"invalid quantization parameters: {error}") from error
    return map_to_device(from_integers(integers, grid), storage.location)


def _integers(storage: Storage, offset: Any, size: Any, stride: Any) -> NDArray[Any]:
    bits = _BITS.get(storage.quantized or 0)
    if bits is None:
        return view(storage, offset, size, stride)
    unpacked = np.stack([storage.elements >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)], -1)
    return view(Storage(unpacked.reshape(-1), storage.location), offset, size, stride)


def _grid(parameters: Any, dtype: int, shape: tuple[int, ...]) -> QuantizationParams:
    scheme, scale, zero_point, *rest = parameters
    name = scheme.name if isinstance(scheme, Global) else ""
    if f"torch.{name}" not in SCHEMES:
        raise ValueError(f"unknown quantization scheme {name!r}")
    if not SCHEMES[f"torch.{name}"]:
        if type(scale) is not float or type(zero_point) is not int:
            raise ValueError("the scale must be a float and the zero point an int")
        return checked_grid(scale, zero_point, dtype)
    (axis,) = rest
    if type(axis) is not int or not 0 <= axis < len(shape):
        raise ValueError(f"axis {axis!r} is out of range for {len(shape)} dimensions")
    for x in (scale, zero_point):
        if not isinstance(x, Tensor) or x.shape != (shape[axis],):
            raise ValueError(f"expected {shape[axis]} scales and zero points")
    if not (np.isfinite(scale.array) & (scale.array > 0)).all() or not np.isfinite(zero_point.array).all():
        raise ValueError("scales must be positive and finite, zero points finite")
    return checked_grid(scale, zero_point, dtype, axis)


def scheme(grid: QuantizationParams) -> str:
    """Return the name of the quantization scheme in `torch`, such as `per_tensor_affine`."""
    if grid.axis < 0:
        return "per_tensor_affine"
    floats = grid.zero_point.is_floating_point()
    return "per_channel_affine_float_qparams" if floats else "per_channel_affine"


def make_storage_ref(
    x: Tensor, of: Callable[[Tensor], TensorStorageRef], references: list[object]
) -> TensorStorageRef:
    """Return the storage reference of the integers of quantized tensor `x`.

    `of` computes the storage reference of a tensor. The tensor of integers is appended to `references`. It
    thus stays alive, and no other tensor gets its address.
    """
    grid = grid_of(x)
    assert grid is not None
    integers = to_integers(x, grid)
    bits = _BITS.get(grid.dtype)
    if bits is not None:
        n = integers.contiguous().array.reshape(-1)
        n = np.pad(n, (0, -len(n) % (8 // bits))).reshape(-1, 8 // bits)
        integers = from_numpy(np.bitwise_or.reduce(n << np.arange(0, 8, bits, dtype=np.uint8), -1))
    references.append(integers)
    storage_ref = of(integers)._replace(storage=_STORAGES[grid.dtype])
    size = tuple(x.shape)
    return storage_ref if bits is None else storage_ref._replace(size=size, stride=contiguous(size))


def custom_class(name: str) -> Global | None:
    """Return the unpickling rules of a C++ class of PyTorch, or None for other names."""
    cls = CLASSES.get(name)
    return None if cls is None else Global(name, new=partial(_create_packed, cls), build=_set_packed_state)


def _create_packed(cls: type[Packed]) -> Packed:
    return cls.__new__(cls)


def _set_packed_state(instance: Packed, state: Any) -> None:
    vars(instance).update(vars(instance.from_state(state)))
