"""Conversions of dtype and device, and other tensor-level operators.

The kernels receive and return tensors instead of arrays (record field `tensor_kernel`). They can therefore
move data to the backend of another device. The arguments of `to` select the overload. For example,
`x.to("cpu")` calls `aten::to.prim_Device`, and `x.to(y)` calls `aten::to.other`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ts import backends, devices, dtypes
from ts._core.late_binding import resolve
from ts._core.tensor import conversions
from ts._core.tensor.tensor import Tensor, wrap_array
from ts._core.tensor.tensor_metadata import detached, is_inference
from ts.devices import Stream
from ts.ops import common
from ts.ops.operator_record import OperatorRecord, OutRecord
from ts.ops.out_variants import COPIED, OPTIONS
from ts.ops.registry import add, op
from ts.ops.storage_ops import clone_kernel

_TO_END = "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"
_TO_END_PRIM = "bool non_blocking=False, bool copy=False) -> Tensor(b|a)"
_SCRIPT: dict[str, Any] = {"where": "", "tensor_kernel": True}
_TO: dict[str, Any] = {**_SCRIPT, "copies_sizes": True, "self_if_possible": True}
# PyTorch records these overloads for calls of `Tensor.to`
_TO_METHOD: dict[str, Any] = {**_TO, "asserts_metadata": True}


def _dtype_of(code: int) -> dtypes.dtype:
    dtype = dtypes.BY_CODE.get(code)
    if dtype is None:
        raise RuntimeError(f"{code} is not the code of a dtype")
    return dtype


def _convert(
    x: Tensor,
    device: devices.device | None,
    dtype: int | None,
    copy: bool,
    memory_format: int | None = None,
    non_blocking: bool = False,
) -> Tensor:
    """Return `x` converted to a device, dtype code or memory format code, or `x` itself if nothing changes.

    If `copy` is True, always return a copy.
    """
    target_dtype = None if dtype is None else _dtype_of(dtype)
    layout = None if memory_format is None else dtypes.MEMORY_FORMATS[memory_format]
    return conversions.convert_tensor(x, device, target_dtype, non_blocking, copy, layout)


_TO_COPY = (
    f"aten::_to_copy(Tensor self, *, {OPTIONS}, bool non_blocking=False, MemoryFormat? memory_format=None)"
    " -> Tensor"
)


@op(_TO_COPY, tensor_kernel=True)
def _to_copy(
    self: Tensor,
    dtype: int | None,
    layout: int | None,
    device: Any,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: int | None,
) -> Tensor:
    if self.layout is not dtypes.strided:
        return _copied_sparse(self, dtype, layout, device)
    target_dtype = self.dtype if dtype is None else _dtype_of(dtype)
    layout_of = None if memory_format is None else dtypes.MEMORY_FORMATS[memory_format]
    on_device = self
    if device is not None:
        # A conversion after an asynchronous copy to the CPU would read elements that have not arrived.
        converts = target_dtype is not self.dtype or layout_of not in (None, dtypes.preserve_format)
        waits = converts and devices.as_device(device).type == "cpu"
        on_device = conversions.to_device(self, device, non_blocking and not waits)
    return conversions.ensure_copy(self, on_device, target_dtype, layout_of)


def _copied_sparse(self: Tensor, dtype: int | None, layout: int | None, device: Any) -> Tensor:
    from ts.ops.sparse_kernels.conversions import to_copy

    source = conversions.to_device(self, devices.CPU if device is None else devices.as_device(device))
    return wrap_array(to_copy(None, np, source.array, dtype, layout))


def _copy(xp: Any, self: Any, dtype: int, *options: Any) -> Any:
    """Return a copy of `self` in `dtype`.

    The device in `options` is ignored, because the `out=` tensor already has a device.
    """
    return clone_kernel(xp, common.cast(xp, self, common.dtype_from(dtype)), options[-1])


add(OutRecord(OperatorRecord(_TO_COPY, _copy, "to", **COPIED), "out"))


@op(f"aten::to.device(Tensor(a) self, Device device, ScalarType dtype, {_TO_END}", **_TO_METHOD)
def _to_device(
    self: Tensor, device: Any, dtype: int, non_blocking: bool, copy: bool, memory_format: int | None
) -> Tensor:
    return _convert(self, device, dtype, copy, memory_format, non_blocking)


@op(f"aten::to.dtype(Tensor(a) self, ScalarType dtype, {_TO_END}", converts=True, **_TO_METHOD)
def _to_dtype(self: Tensor, dtype: int, non_blocking: bool, copy: bool, memory_format: int | None) -> Tensor:
    return _convert(self, None, dtype, copy, memory_format)


@op(f"aten::to.other(Tensor(a) self, Tensor other, {_TO_END}", converts=True, **_TO)
def _to_other(
    self: Tensor, other: Tensor, non_blocking: bool, copy: bool, memory_format: int | None
) -> Tensor:
    return _convert(self, other.device, other.dtype.code, copy, memory_format, non_blocking)


@op(
    "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
    f"Device? device=None, bool? pin_memory=None, {_TO_END}",
    **_TO_METHOD,
)
def _to_options(
    self: Tensor,
    dtype: int | None,
    layout: int | None,
    device: Any,
    pin_memory: bool | None,
    non_blocking: bool,
    copy: bool,
    memory_format: int | None,
) -> Tensor:
    return _convert(self, device, dtype, copy, memory_format, non_blocking)


@op(f"aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, {_TO_END_PRIM}", **_TO)
def _to_prim_device(self: Tensor, device: Any, dtype: int | None, non_blocking: bool, copy: bool) -> Tensor:
    return _convert(self, device, dtype, copy, None, non_blocking)


@op(f"aten::to.prim_dtype(Tensor(a) self, int? dtype=None, {_TO_END_PRIM}", **_TO)
def _to_prim_dtype(self: Tensor, dtype: int | None, non_blocking: bool, copy: bool) -> Tensor:
    return _convert(self, None, dtype, copy)


@op(f"aten::to.prim_other(Tensor(a) self, {_TO_END_PRIM}", **_TO)
def _to_prim_other(self: Tensor, non_blocking: bool, copy: bool) -> Tensor:
    return _convert(self, None, None, copy)


@op("aten::cpu(Tensor(a) self) -> Tensor(b|a)", **_SCRIPT)
def _cpu(self: Tensor) -> Tensor:
    return _convert(self, devices.CPU, None, False)


@op("aten::cuda(Tensor(a) self) -> Tensor(b|a)", **_SCRIPT)
def _cuda(self: Tensor) -> Tensor:
    return _convert(self, devices.device("cuda"), None, False)


@op("aten::_pin_memory(Tensor self, Device? device=None) -> Tensor", tensor_kernel=True)
@op("aten::pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)", where="m", tensor_kernel=True)
def _pin_memory(self: Tensor, device: Any = None) -> Tensor:
    if "cuda" not in backends.available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    if not self.is_cpu:
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    pinned = backends.get("cuda").pin(self.array)
    return self if pinned is self.array else wrap_array(pinned)


@op("aten::is_pinned(Tensor self, Device? device=None) -> bool", where="m", tensor_kernel=True)
def _is_pinned(self: Tensor, device: Any = None) -> bool:
    return bool(self.is_cpu and "cuda" in backends.available() and backends.get("cuda").is_pinned(self.array))


@op("prim::data(Tensor(a) a) -> Tensor(a)", **_SCRIPT)
@op("aten::data(Tensor self) -> Tensor", **_SCRIPT)
def _data(self: Tensor) -> Tensor:
    return self.data


@op("aten::set_data(Tensor(a!) self, Tensor new_data) -> ()", **_SCRIPT)
def _set_data(self: Tensor, new_data: Tensor) -> None:
    self.data = new_data


@op("aten::detach(Tensor(a) self) -> Tensor(a)", tensor_kernel=True, copies_sizes=True, detaches=True)
def _detach(self: Tensor) -> Tensor:
    return detached(self)


@op(
    "aten::detach_(Tensor(a!) self) -> Tensor(a!)",
    tensor_kernel=True,
    traced_as="aten::detach",
    detaches=True,
)
def _detach_in_place(self: Tensor) -> Tensor:
    if self._base is not None:
        raise RuntimeError(resolve("batched_tensor").CANNOT_DETACH_VIEW)
    if self.requires_grad:
        from ts._core.autograd.history import forget

        forget(self)
    return self


@op("aten::requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)", **_SCRIPT)
def _requires_grad(self: Tensor, requires_grad: bool) -> Tensor:
    return self.requires_grad_(requires_grad)


@op("aten::_make_dual(Tensor(a) primal, Tensor tangent, int level) -> Tensor(a)", tensor_kernel=True)
@op("aten::_make_dual_copy(Tensor primal, Tensor tangent, int level) -> Tensor", tensor_kernel=True)
def _make_dual(primal: Tensor, tangent: Tensor, level: int) -> Tensor:
    """Raise PyTorch's error for an invalid level of forward-mode differentiation.

    The function `make_dual` of `ts` does not call this operator, so that no level exists.
    """
    raise RuntimeError(
        "Trying to access a forward AD level with an invalid index. This index was either not created or is "
        "already deleted."
    )


@op(
    "aten::_unpack_dual(Tensor(a) dual, int level) -> (Tensor(a) primal, Tensor tangent)",
    tensor_kernel=True,
)  # fmt: skip
def _unpack_dual(dual: Tensor, level: int) -> tuple[Tensor, None]:
    """Return a view of `dual`, and None as its tangent."""
    return dual.view_as(dual), None


@op("aten::record_stream(Tensor(a!) self, Stream s) -> ()", where="m", tensor_kernel=True)
def _record_stream(self: Tensor, s: Stream) -> None:
    """Declare that a stream uses the memory of a GPU tensor, so that it is reused after this use.

    Raise NotImplementedError for a CPU tensor.
    """
    if self.device.type == "cpu":
        raise NotImplementedError(
            "Could not run 'aten::record_stream' with arguments from the 'CPU' backend. "
            "'aten::record_stream' is only available for these backends: [CUDA]."
        )
    backends.get(self.device.type).record_stream(self.array, s)


# These queries return False for every tensor of `ts`.
@op("aten::_is_zerotensor(Tensor self) -> bool", where="fm", tensor_kernel=True)
@op("aten::is_conj(Tensor self) -> bool", tensor_kernel=True)
@op("aten::is_neg(Tensor self) -> bool", tensor_kernel=True)
@op("aten::is_distributed(Tensor self) -> bool", tensor_kernel=True)
def _is_not(self: Tensor) -> bool:
    return False


@op("aten::is_inference(Tensor self) -> bool", tensor_kernel=True)
def _is_inference(self: Tensor) -> bool:
    return is_inference(self)


@op("aten::_has_compatible_shallow_copy_type(Tensor self, Tensor from) -> bool", tensor_kernel=True)
def _could_be_set(self: Tensor, source: Tensor) -> bool:
    """Return True, because the types of two tensors are always compatible for `self.data = source`."""
    return True


# ------------------------------------------------------------- operators with a dtype or device in their name


def _cast(dtype: dtypes.dtype) -> Callable[..., Tensor]:
    return lambda self, non_blocking=False: _convert(self, None, dtype.code, False, None, non_blocking)


for _dtype in (
    dtypes.uint8, dtypes.int8, dtypes.float64, dtypes.float32, dtypes.float16, dtypes.int32, dtypes.int64,
    dtypes.int16,
):  # fmt: skip
    _name = f"aten::_cast_{_dtype.type_name}"
    op(f"{_name}(Tensor self, bool non_blocking=False) -> Tensor", tensor_kernel=True)(_cast(_dtype))


@op(
    "aten::as_tensor(Tensor(a) data, *, ScalarType? dtype=None, Device? device=None) -> Tensor(b|a)",
    order="bool float int complex - list",
    **_SCRIPT,
)
def _as_tensor(data: Tensor, dtype: int | None, device: Any) -> Tensor:
    return _convert(data, device, dtype, False)


@op("aten::_to_cpu(Tensor[] tensors) -> Tensor[]", tensor_kernel=True)
def _to_cpu(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [_convert(x, devices.CPU, None, False) for x in tensors]


@op(
    "aten::_autocast_to_full_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled) -> Tensor(a)",
    where="m",
    tensor_kernel=True,
)
def _to_full_precision(self: Tensor, cuda_enabled: bool, cpu_enabled: bool) -> Tensor:
    enabled = cpu_enabled if self.is_cpu else cuda_enabled
    narrow = self.dtype in (dtypes.float16, dtypes.bfloat16)
    return _convert(self, None, dtypes.float32.code, False) if enabled and narrow else self


@op(
    "aten::_autocast_to_reduced_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled, ScalarType "
    "cuda_dtype, ScalarType cpu_dtype) -> Tensor(a)",
    where="m",
    tensor_kernel=True,
)
def _to_reduced_precision(
    self: Tensor, cuda_enabled: bool, cpu_enabled: bool, cuda_dtype: int, cpu_dtype: int
) -> Tensor:
    enabled, dtype = (cpu_enabled, cpu_dtype) if self.is_cpu else (cuda_enabled, cuda_dtype)
    return _convert(self, None, dtype, False) if enabled and self.dtype == dtypes.float32 else self
