"""Operators used only by scripts, for conversions between tensors, numbers and devices.

Each line shows Python code and its operator:

    n: int = int(x)              aten::Int.Tensor
    if x.sum() > 0:              aten::Bool.Tensor
    torch.tensor([1, 2])         aten::tensor
    torch.device("cpu")          aten::device
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ts import devices, dtypes
from ts._core.dispatch import autocast
from ts._core.tensor import size_guards
from ts._core.tensor.factories import host_array
from ts._core.thread import context
from ts.backends.cpu import get_cpu_capability
from ts.ops import common
from ts.ops.registry import op, order
from ts.ops.shape_functions import ITEM, new_float, new_number, new_whole_number

Array = common.Array


def _check_only(self: Array, to: str) -> None:
    if not size_guards.equal(self.size, 1):
        raise RuntimeError(f"a Tensor with {self.size} elements cannot be converted to {to}")


def _only_element(self: Array, to: str) -> Any:
    _check_only(self, to)
    return self.item()


def _check_no_dimension(self: Array) -> None:
    if self.ndim != 0:
        raise RuntimeError("Cannot input a tensor of dimension other than 0 as a scalar argument")


def _implicit_element(self: Array) -> Any:
    """Convert a 0-dim tensor implicitly to a number. Raise an error for tensors with dimensions."""
    _check_no_dimension(self)
    return self.item()


def _check_truth(self: Array) -> None:
    if not size_guards.equal(self.size, 1):
        description = "no values" if size_guards.known_zero(self.size) else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {description} is ambiguous")


def truth(self: Array) -> bool:
    """Return the truth value of a one-element tensor."""
    _check_truth(self)
    return bool(self.item())


_ITEM, _IMPLICIT = ITEM.after(partial(_check_only, to="Scalar")), ITEM.after(_check_no_dimension)
_TRUTH = ITEM.after(_check_truth)


@op(
    "aten::IntImplicit(Tensor a) -> int", where="", shape=_IMPLICIT.unless(new_whole_number),
    reads_number="int", element_role="conversion",
)  # fmt: skip
def _int_implicit(xp: Any, a: Array) -> int:
    value = _implicit_element(a)
    if a.dtype.kind not in "iu":
        kind = dtypes.from_numpy_dtype(a.dtype).type_name
        raise RuntimeError(f"Cannot input a tensor of type {kind} as an integral argument")
    return int(value)


@op(
    "aten::FloatImplicit(Tensor a) -> float", where="", shape=_IMPLICIT.unless(new_float),
    reads_number="float", element_role="conversion",
)  # fmt: skip
def _float_implicit(xp: Any, a: Array) -> float:
    return float(_implicit_element(a))


@op(
    "aten::ScalarImplicit(Tensor a) -> Scalar", where="", shape=_IMPLICIT.unless(new_number),
    reads_number="any",
)  # fmt: skip
def _scalar_implicit(xp: Any, a: Array) -> Any:
    value = _implicit_element(a)
    return float(value) if isinstance(value, np.floating) else value


@op(
    "aten::Int.Tensor(Tensor a) -> int", where="", loop="to_int", shape=_ITEM.unless(new_whole_number),
    reads_number="int", element_role="conversion",
)  # fmt: skip
def _int(xp: Any, a: Array) -> int:
    return int(_only_element(a, "Scalar"))


@op(
    "aten::Float.Tensor(Tensor a) -> float", where="", loop="to_float", shape=_ITEM.unless(new_float),
    reads_number="float", element_role="conversion",
)  # fmt: skip
def _float(xp: Any, a: Array) -> float:
    return float(_only_element(a, "Scalar"))


@op("aten::ComplexImplicit(Tensor a) -> complex", where="", shape=_IMPLICIT)
def _complex(xp: Any, a: Array) -> complex:
    return complex(_implicit_element(a))


@op(
    "aten::Bool.Tensor(Tensor a) -> bool", where="", loop="to_bool", shape=_TRUTH, reads_number="bool",
    element_role="conversion",
)  # fmt: skip
def _bool(xp: Any, a: Array) -> bool:
    return truth(a)


@op(
    "aten::item(Tensor self) -> Scalar", where="", loop="item", shape=_ITEM.unless(new_number),
    reads_number="any", element_role="conversion",
)  # fmt: skip
def _item(xp: Any, self: Array) -> Any:
    value = _only_element(self, "Scalar")
    return float(value) if isinstance(value, np.floating) else value


@op("aten::_local_scalar_dense(Tensor self) -> Scalar", where="", shape=ITEM.unless(new_number))
def _first_item(xp: Any, self: Array) -> Any:
    """Return the first element of a tensor as a number, or raise RuntimeError for an empty tensor."""
    if not self.size:
        raise RuntimeError("expected a Tensor with at least one element")
    return _item(xp, self.reshape(-1)[:1])


@op("aten::_list_to_tensor(int[] self) -> Tensor", where="")
def _list_to_tensor(xp: Any, self: Sequence[int]) -> Array:
    return xp.asarray(np.asarray(self, dtype=common.INT64).astype(common.INT32))


@op("aten::_tensor_to_list(Tensor self) -> int[]", where="", shape=ITEM)
def _tensor_to_list(xp: Any, self: Array) -> list[int]:
    if self.size and self.dtype != common.INT32:
        raise RuntimeError(f"expected scalar type Int but found {common.NAME_OF[self.dtype]}")
    numbers: list[int] = self.reshape(-1).tolist()
    return numbers


@op("prim::NumToTensor.Scalar(Scalar a) -> Tensor")
@op("prim::NumToTensor.bool(bool a) -> Tensor")
def _number_to_tensor(xp: Any, a: Any) -> Array:
    return xp.asarray(a)


@op("aten::device(str a) -> Device", where="")
@op("aten::device.with_index(str type, int index) -> Device", where="")
def _device_named(xp: Any, type: str, index: int | None = None) -> devices.device:
    return devices.device(type, index)


_TENSOR_OPTIONS = "*, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor"
_AS_TENSOR_OPTIONS = "*, ScalarType? dtype=None, Device? device=None) -> Tensor"


@op(f"aten::tensor.bool(bool t, {_TENSOR_OPTIONS}", where="", loop="tensor_of_number", element_role="store")
@op(f"aten::tensor.float(float t, {_TENSOR_OPTIONS}", where="", loop="tensor_of_number", element_role="store")
@op(f"aten::tensor.int(int t, {_TENSOR_OPTIONS}", where="", loop="tensor_of_number", element_role="store")
@op(f"aten::tensor.complex(complex t, {_TENSOR_OPTIONS}", where="", element_role="store")
@op(f"aten::tensor(t[] data, {_TENSOR_OPTIONS}", where="", element_role="store")
@op(f"aten::as_tensor.bool(bool t, {_AS_TENSOR_OPTIONS}", where="")
@op(f"aten::as_tensor.float(float t, {_AS_TENSOR_OPTIONS}", where="")
@op(f"aten::as_tensor.int(int t, {_AS_TENSOR_OPTIONS}", where="")
@op(f"aten::as_tensor.complex(complex t, {_AS_TENSOR_OPTIONS}", where="")
@op(f"aten::as_tensor.list(t[] data, {_AS_TENSOR_OPTIONS}", where="")
def _tensor(
    xp: Any, data: Any, dtype: int | None = None, device: Any = None, requires_grad: bool = False
) -> Array:
    return xp.asarray(host_array(data, None if dtype is None else dtypes.BY_CODE[dtype]))


@op("aten::is_grad_enabled() -> bool", where="", side_effect=True)
def _is_grad_enabled(xp: Any) -> bool:
    return context.is_grad_enabled()


@op("aten::set_grad_enabled(bool val) -> ()", where="", side_effect=True)
def _set_grad_enabled(xp: Any, val: bool) -> None:
    context.set_grad_enabled(val)


@op("aten::get_autocast_dtype(str device_type) -> ScalarType", where="", side_effect=True)
def _autocast_dtype(xp: Any, device_type: str) -> int:
    """Return the code of autocast's lower-precision dtype for a device type."""
    return autocast.lower_dtype(autocast.backend_index(device_type)).code


@op("prim::EnterAutocast(str device, ScalarType dtype, bool enabled) -> int[]", side_effect=True)
def _enter_autocast(xp: Any, device: str, dtype: int, enabled: bool) -> list[int]:
    """Begin an autocast block, and return the previous state, which `prim::ExitAutocast` restores."""
    is_cached = autocast.is_cache_enabled()
    return autocast.enter(autocast.backend_index(device), dtypes.BY_CODE[dtype], enabled, is_cached)


@op("prim::ExitAutocast(str device, int[] before) -> ()", side_effect=True)
def _exit_autocast(xp: Any, device: str, before: list[int]) -> None:
    """End an autocast block: restore the state `before` that `_enter_autocast` returned."""
    autocast.leave(autocast.backend_index(device), before)


@op("aten::_get_cpu_capability() -> str", where="")
def _cpu_capability(xp: Any) -> str:
    return str(get_cpu_capability())


# Order in which PyTorch tries the overloads of operators written in C, where it differs from their
# declaration order.
order("aten::__contains__", "int_list str_list str int bool float complex Tensor")
order("aten::__getitem__", "t str")
order("aten::Complex", "Scalar Tensor_Tensor")
order("aten::count", "-")
order("aten::len", "t Tensor str Dict_str Dict_int Dict_bool Dict_float Dict_complex Dict_Tensor")
order("aten::sorted", "int float Tensor")
