"""Operators that scripts need and eager code has as methods: a tensor as a number, its sizes, its properties.

In: an array; out: a number, a list of ints, a device.

    n: int = int(x)         aten::Int.Tensor          x.shape     aten::size
    if x.sum() > 0:         aten::Bool.Tensor         x.dtype     prim::dtype
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ts import devices, dtypes
from ts._core.construct import host_array
from ts.ops import random, rules
from ts.ops.registry import op

Array = rules.Array


def _only_element(self: Array, to: str) -> Any:
    if self.size != 1:
        raise RuntimeError(f"a Tensor with {self.size} elements cannot be converted to {to}")
    return self.item()


@op("aten::Int.Tensor(Tensor a) -> int", where="")
@op("aten::IntImplicit(Tensor a) -> int", where="")
def _int(xp: Any, a: Array) -> int:
    return int(_only_element(a, "Scalar"))


@op("aten::Float.Tensor(Tensor a) -> float", where="")
@op("aten::FloatImplicit(Tensor a) -> float", where="")
def _float(xp: Any, a: Array) -> float:
    return float(_only_element(a, "Scalar"))


@op("aten::ComplexImplicit(Tensor a) -> complex", where="")
def _complex(xp: Any, a: Array) -> complex:
    return complex(_only_element(a, "Scalar"))


@op("aten::Bool.Tensor(Tensor a) -> bool", where="")
def _bool(xp: Any, a: Array) -> bool:
    if a.size != 1:
        what = "more than one value" if a.size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
    return bool(a.item())


@op("aten::item(Tensor self) -> Scalar", where="")
@op("aten::ScalarImplicit(Tensor a) -> Scalar", where="")
def _item(xp: Any, self: Array) -> Any:
    value = _only_element(self, "Scalar")
    return float(value) if isinstance(value, np.floating) else value


@op("prim::NumToTensor.Scalar(Scalar a) -> Tensor", where="")
@op("prim::NumToTensor.bool(bool a) -> Tensor", where="")
def _number_to_tensor(xp: Any, a: Any) -> Array:
    return xp.asarray(a)


@op("aten::size.int(Tensor self, int dim) -> int", where="")
def _size_of(xp: Any, self: Array, dim: int) -> int:
    return int(self.shape[rules.wrap_dim(dim, self.ndim)])


@op("aten::size(Tensor self) -> int[]", where="")
def _size(xp: Any, self: Array) -> list[int]:
    return list(self.shape)


@op("aten::stride(Tensor self) -> int[]", where="")
def _stride(xp: Any, self: Array) -> list[int]:
    return [s // self.itemsize for s in self.strides]


@op("aten::stride.int(Tensor self, int dim) -> int", where="")
def _stride_of(xp: Any, self: Array, dim: int) -> int:
    return int(self.strides[rules.wrap_dim(dim, self.ndim)] // self.itemsize)


@op("aten::len.Tensor(Tensor t) -> int", where="")
def _len(xp: Any, t: Array) -> int:
    if t.ndim == 0:
        raise TypeError("len() of a 0-d tensor")
    return int(t.shape[0])


@op("aten::dim(Tensor self) -> int", where="")
def _dim(xp: Any, self: Array) -> int:
    return int(self.ndim)


@op("aten::element_size(Tensor self) -> int", where="")
@op("prim::itemsize(Tensor a) -> int", where="")
def _itemsize(xp: Any, a: Array) -> int:
    return int(a.itemsize)


@op("prim::nbytes(Tensor a) -> int", where="")
def _nbytes(xp: Any, a: Array) -> int:
    return int(a.nbytes)


@op("prim::dtype(Tensor a) -> int", where="")
def _dtype(xp: Any, a: Array) -> int:
    return dtypes.from_numpy_dtype(a.dtype).code


@op("prim::device(Tensor a) -> Device", where="")
def _device(xp: Any, a: Array) -> devices.device:
    where = getattr(a, "device", "cpu")
    return devices.device(where) if isinstance(where, str) else devices.device("cuda", where.id)


@op("aten::device(str a) -> Device", where="")
def _device_named(xp: Any, a: str) -> devices.device:
    return devices.device(a)


@op("prim::is_cuda(Tensor a) -> bool", where="")
def _is_cuda(xp: Any, a: Array) -> bool:
    return _device(xp, a).type == "cuda"


@op("prim::is_cpu(Tensor a) -> bool", where="")
def _is_cpu(xp: Any, a: Array) -> bool:
    return _device(xp, a).type == "cpu"


@op("prim::requires_grad(Tensor a) -> bool", where="")
def _requires_grad(xp: Any, a: Array) -> bool:
    return False


@op("prim::layout(Tensor a) -> Layout", where="")
def _layout(xp: Any, a: Array) -> int:
    return dtypes.strided.code


@op("aten::manual_seed(int seed) -> ()", where="")
def _manual_seed(xp: Any, seed: int) -> None:
    random.manual_seed(seed)


@op("prim::data(Tensor(a) a) -> Tensor(a)", where="")
def _data(xp: Any, a: Array) -> Array:
    return a


@op(
    "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    where="",
)
def _to_dtype(
    xp: Any,
    self: Array,
    dtype: int,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: int | None = None,
) -> Array:
    result = rules.cast(xp, self, dtypes.BY_CODE[dtype].numpy_dtype)
    return result.copy() if copy and result is self else result


@op(
    "aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    where="",
)
def _to_other(
    xp: Any,
    self: Array,
    other: Array,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: int | None = None,
) -> Array:
    result = rules.cast(xp, self, other.dtype)
    return result.copy() if copy and result is self else result


_TENSOR_OPTIONS = "*, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor"
_AS_TENSOR_OPTIONS = "*, ScalarType? dtype=None, Device? device=None) -> Tensor"


@op(f"aten::tensor.bool(bool t, {_TENSOR_OPTIONS}", where="")
@op(f"aten::tensor.float(float t, {_TENSOR_OPTIONS}", where="")
@op(f"aten::tensor.int(int t, {_TENSOR_OPTIONS}", where="")
@op(f"aten::tensor.complex(complex t, {_TENSOR_OPTIONS}", where="")
@op(f"aten::tensor(t[] data, {_TENSOR_OPTIONS}", where="")
@op(f"aten::as_tensor.bool(bool t, {_AS_TENSOR_OPTIONS}", where="")
@op(f"aten::as_tensor.float(float t, {_AS_TENSOR_OPTIONS}", where="")
@op(f"aten::as_tensor.int(int t, {_AS_TENSOR_OPTIONS}", where="")
@op(f"aten::as_tensor.complex(complex t, {_AS_TENSOR_OPTIONS}", where="")
@op(f"aten::as_tensor.list(t[] data, {_AS_TENSOR_OPTIONS}", where="")
def _tensor(
    xp: Any, data: Any, dtype: int | None = None, device: Any = None, requires_grad: bool = False
) -> Array:
    return xp.asarray(host_array(data, None if dtype is None else dtypes.BY_CODE[dtype]))
