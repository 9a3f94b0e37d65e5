"""Conversions and copies of tensors, such as dtype conversion, device transfer and memory formats.

Calls and their results are:

    to(x, (float64,), {})               x.to(float64)
    copied(x, channels_last)            a dense copy in a memory format
    to_device(x, device("cuda"))        a copy on the device, or x if it is already there
    cast_elements(array, bfloat16)      a converted array, with PyTorch's rounding
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from ts import devices, dtypes
from ts._core.tensor import size_guards, storage, strides
from ts._core.tensor.overlap import check
from ts._core.tensor.python_operators import operator, to_copy
from ts._core.tensor.tensor import Tensor, backend_of, wrap_array
from ts._core.tensor.tensor_metadata import view_of, written
from ts._core.tensor.torch_function_lookup import MISSING, torch_function_result
from ts._core.tensor.type_names import type_text
from ts._core.thread.context import current_tracer
from ts._core.thread.warnings import warn


def converted_array(array: Any, numpy_dtype: Any, copy: bool = False) -> Any:
    """Convert an array to another dtype. Values out of range convert as in C, without a warning."""
    if array.dtype == numpy_dtype:
        return array.copy() if copy else array
    if _holds_all(array.dtype, numpy_dtype):
        return array.astype(numpy_dtype)
    with np.errstate(all="ignore"):
        return cast_elements(array, numpy_dtype)


def cast_elements(array: Any, numpy_dtype: Any) -> Any:
    """Convert the elements of an array like `astype`, with PyTorch's rounding.

    As in PyTorch, doubles are converted to 16-bit floats through float32.  Bools are converted to bfloat16
    through uint8, because ml_dtypes would read their bytes as numbers.
    """
    if isinstance(array, np.ndarray) and (dtypes.is_narrow(array.dtype) or dtypes.is_narrow(numpy_dtype)):
        if array.dtype == numpy_dtype:
            return array.copy()
        from ts._core.tensor import narrow_casts

        array = narrow_casts.decode(array)
        if dtypes.is_narrow(numpy_dtype):
            return narrow_casts.encode(array, np.dtype(numpy_dtype))
    if array.dtype.kind == "c":
        target = dtypes.from_numpy_dtype(numpy_dtype)
        array = array if target.is_complex or target is dtypes.bool_ else array.real
    if array.dtype == np.float64 and (numpy_dtype == np.float16 or dtypes.is_bfloat16(numpy_dtype)):
        array = array.astype(np.float32)
    if array.dtype == np.bool_ and dtypes.is_bfloat16(numpy_dtype):
        array = array.astype(np.uint8)
    return array.astype(numpy_dtype)


def _warn_of_narrow_complex(d: dtypes.dtype, requested: Any) -> None:
    if d.is_complex and d.is_narrow:
        warn(f"{d.type_name} support is experimental and many operators don't support it yet.")


dtypes.for_each_dtype(_warn_of_narrow_complex)


@cache
def _holds_all(dtype: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Return whether NumPy's conversion of `dtype` to `target` agrees with PyTorch's and cannot overflow."""
    if dtype.kind == "b" and dtypes.is_bfloat16(target):
        return False  # `ml_dtypes` converts the bytes of bools like numbers
    if dtypes.is_narrow(dtype) or dtypes.is_narrow(target):
        return False  # NumPy converts these dtypes differently from PyTorch
    return np.can_cast(dtype, target, "safe") or (dtype.kind in "biu" and np.dtype(target).name in _WIDE)


_WIDE: Final = ("float32", "float64", "complex64", "complex128")  # integers cannot overflow in these dtypes


def converted(x: Tensor, dtype: dtypes.dtype) -> Tensor:
    """Return `x` converted to `dtype`, or `x` itself if it has this dtype."""
    return x if x.dtype is dtype else copied(x, None, dtype)


def copied(x: Tensor, memory_format: Any, dtype: dtypes.dtype | None = None) -> Tensor:
    """Return a dense copy of `x`, with its dimension order or in the given memory format."""
    if isinstance(x.array, np.ndarray):
        return _copied(x, memory_format, dtype)
    with backend_of(x.device.type).on(x.device_index):
        return _copied(x, memory_format, dtype)


def _copied(x: Tensor, memory_format: Any, dtype: dtypes.dtype | None) -> Tensor:
    numpy_dtype = x.array.dtype if dtype is None else dtype.numpy_dtype
    if memory_format is None or memory_format is dtypes.preserve_format:
        if x.array.flags.c_contiguous:
            return wrap_array(converted_array(x.array, numpy_dtype, copy=True))
        steps = strides.preserve_format_strides(x.shape, x.stride())
    else:
        steps = strides.of_format(x.shape, memory_format)
    result = empty_strided(x.array, steps, numpy_dtype)
    if not x.is_meta:
        result[...] = converted_array(x.array, numpy_dtype)
    return wrap_array(result)


def empty_strided(like: Any, steps: Sequence[int], numpy_dtype: Any) -> Any:
    """Return an uninitialized array with the shape and device of `like`. `steps` are dense strides."""
    kind = np if isinstance(like, np.ndarray) else backend_of(wrap_array(like).device.type).xp
    item = np.dtype(numpy_dtype).itemsize
    result = kind.empty(like.size, dtype=numpy_dtype)
    return storage.strided(result, like.shape, [step * item for step in steps], 0)


def expanded(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Return `x` expanded to a shape, without a copy."""
    check_broadcast(shape, x)
    result: Tensor = view_of(x, np.broadcast_to(x.array, tuple(shape)))
    return result


class Conversion(NamedTuple):
    """Arguments of `Tensor.to`. For `x.to(other)`, they contain the device and dtype of `other`."""

    device: devices.device | None
    dtype: dtypes.dtype | None
    non_blocking: bool
    copy: bool | None  # None if not given
    memory_format: dtypes.memory_format | None

    @property
    def overload(self) -> str:
        """Overload of `aten::to` that PyTorch calls, or "" if PyTorch returns the tensor without a call."""
        if self.dtype is not None:
            return "dtype" if self.device is None else "device"
        is_needed = self.device is not None or self.copy or self.memory_format is not None
        return "dtype_layout" if is_needed else ""

    def call(self, x: Tensor) -> Tensor:
        """Return `x.to(...)` by a call of the operator, which the tracer of the thread receives."""
        convert: Callable[..., Tensor] = operator("to")
        options = self.non_blocking, bool(self.copy), self.memory_format
        match self.overload:
            case "device":
                return convert(x, self.device, self.dtype, *options)
            case "dtype":
                return convert(x, self.dtype, *options)
            case "dtype_layout":
                device = x.device if self.device is None else self.device
                named = dict(zip(("non_blocking", "copy", "memory_format"), options, strict=True))
                return convert(x, dtype=x.dtype, layout=x.layout, device=device, **named)
        return x


_DEVICE_AND_DTYPE: Final = frozenset(("device", "dtype"))
_OPTIONS: Final = ("non_blocking", "copy", "memory_format")
_OF_DEVICE: Final = ("device", "dtype", *_OPTIONS)
_OF_DTYPE: Final = ("dtype", *_OPTIONS)
_OF_TENSOR: Final = ("tensor", *_OPTIONS)
_OPTIONS_TEXT: Final = (
    "bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None"
)
_EXPECTED_TEXT: Final = f"""
 * (torch.device device = None, torch.dtype dtype = None, {_OPTIONS_TEXT})
 * (torch.dtype dtype, {_OPTIONS_TEXT})
 * (Tensor tensor, {_OPTIONS_TEXT})
"""


_PYTHON_NUMBERS: Final = (bool, int, float, complex)  # classes that `Tensor.to` accepts as dtypes
# name of a parameter of `Tensor.to` -> classes of valid values
_CLASSES: Final[dict[str, Any]] = {
    "device": (devices.device, str, int, type(None)),
    "dtype": (dtypes.dtype, type, type(None)),
    "tensor": Tensor,
    "non_blocking": bool,
    "copy": bool,
    "memory_format": (dtypes.memory_format, type(None)),
}


def parse_conversion(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Conversion:
    """Return the arguments of `Tensor.to` or `Module.to`.

    Raise TypeError if no signature accepts them. `memory_format` is a keyword argument.
    """
    if not args and kwargs.keys() <= _DEVICE_AND_DTYPE:  # the usual keywords need no general check of classes
        device, dtype = kwargs.get("device"), kwargs.get("dtype")
        if type(device) is devices.device and type(dtype) is dtypes.dtype:
            return Conversion(devices.as_device(device), dtype, False, None, None)
        if device is None and type(dtype) is dtypes.dtype:
            return Conversion(None, dtype, False, None, None)
    first = args[0] if args else None
    names: tuple[str, ...]
    if isinstance(first, Tensor) or (not args and "tensor" in kwargs):
        names = _OF_TENSOR
    else:
        names = _OF_DTYPE if isinstance(first, (dtypes.dtype, type)) else _OF_DEVICE
    arguments = dict(zip(names, args, strict=False))
    is_valid = len(args) < len(names)
    if kwargs:
        is_valid = is_valid and kwargs.keys() <= set(names) - arguments.keys()
        arguments.update(kwargs)
    for name, x in arguments.items() if is_valid else ():
        is_valid = is_valid and isinstance(x, _CLASSES[name])
    device, dtype = arguments.get("device"), arguments.get("dtype")
    if not is_valid or type(device) is bool or (type(dtype) is type and dtype not in _PYTHON_NUMBERS):
        raise _invalid_arguments_error(args, kwargs)
    if names is _OF_TENSOR:
        device, dtype = arguments["tensor"].device, arguments["tensor"].dtype
    return Conversion(
        None if device is None else devices.as_device(device),
        None if dtype is None else dtypes.as_dtype(dtype),
        arguments.get("non_blocking", False),
        arguments.get("copy"),
        arguments.get("memory_format"),
    )


def _invalid_arguments_error(args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
    """Return PyTorch's error for arguments that no signature of `to` accepts."""
    if len(args) > len(_OF_DEVICE) - 1:
        return TypeError(f"to() takes from 0 to 4 positional arguments but {len(args)} were given")
    named = [f"{name}={type_text(x)}" for name, x in sorted(kwargs.items())]
    argument_types = ", ".join([type_text(x) for x in args] + named) + ("" if args or not named else ", ")
    return TypeError(
        f"to() received an invalid combination of arguments - got ({argument_types}), "
        f"but expected one of:{_EXPECTED_TEXT}"
    )


def to(x: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """Implement `x.to(dtype)`, `x.to(device, dtype)` and `x.to(other)`, with keyword options."""
    try:
        conversion = parse_conversion(args, kwargs)
    except TypeError:
        others = [a for a in (*args, *kwargs.values()) if not isinstance(a, Tensor)]
        overridden = torch_function_result(others, Tensor.to, (x, *args), kwargs)
        if overridden is MISSING:
            raise
        return overridden  # type: ignore[no-any-return]
    return convert_tensor(x, *conversion) if current_tracer() is None else conversion.call(x)


def own_format(x: Tensor) -> dtypes.memory_format:
    """Return a channels-last format if this is the only memory format of `x`, else `contiguous_format`."""
    if not x.array.flags.c_contiguous:
        for last in (dtypes.channels_last, dtypes.channels_last_3d):
            if strides.has_format(x.shape, x.stride(), last):
                return last
    return dtypes.contiguous_format


def convert_tensor(
    x: Tensor,
    device: devices.device | None,
    dtype: dtypes.dtype | None,
    non_blocking: Any = False,
    copy: Any = False,
    memory_format: Any = None,
) -> Tensor:
    """Convert `x` to a device, dtype or memory format.

    If nothing changes and `copy` is not set, return `x` itself.
    """
    keeps = memory_format is None or memory_format is dtypes.preserve_format
    stays = (device is None or is_on(x, device)) and (dtype is None or x.dtype is dtype)
    if stays and not copy and (keeps or own_format(x) is memory_format):
        return x
    layout = None if memory_format is None else memory_format.code
    return to_copy(x, None if dtype is None else dtype.code, device, bool(non_blocking), layout)


def ensure_copy(x: Tensor, target: Tensor, dtype: dtypes.dtype, memory_format: Any) -> Tensor:
    """Return a copy of `x` with the given dtype and memory format.

    `target` has the elements of `x` on the device of the result. If `target` is already such a copy, return
    `target` itself, otherwise a converted copy of `target`.
    """
    keeps = memory_format is None or memory_format is dtypes.preserve_format
    if target is not x and target.dtype is dtype and (keeps or own_format(target) is memory_format):
        return target
    return copied(target, memory_format, dtype)


def is_on(x: Tensor, device: devices.device) -> bool:
    """Return whether a tensor is on `device`. A CUDA device without an index means the current device."""
    here = x.device
    if here == device or (here.type == device.type and here.index is None):
        return True
    if here.type != device.type or device.index is not None:
        return False
    return bool(here.index == backend_of(device.type).current_device())


def to_device(x: Tensor, device: devices.device, non_blocking: bool = False) -> Tensor:
    """Return `x` moved to `device`, or `x` itself if it is there. `non_blocking` allows an async copy."""
    if is_on(x, device):
        return x
    here = x.device
    if x.layout is not dtypes.strided:
        raise NotImplementedError(
            f"sparse tensors are only supported on the CPU, not on '{device}': use Tensor.to_dense() first"
        )
    if x.dtype.is_narrow and device.type not in ("cpu", "meta"):
        raise NotImplementedError(f"tensors of {x.dtype} are only supported on the CPU, not on '{device}'")
    later: dict[str, Any] = {"non_blocking": True} if non_blocking else {}
    if device.type == "cpu":
        return wrap_array(backend_of(here.type).to_host(x.array, **later))
    backend = backend_of(device.type)
    device_index = backend.current_device() if device.index is None else device.index
    if here.type == device.type:
        return wrap_array(backend.move(x.array, device_index))
    if device.type == "meta":
        return wrap_array(backend.new_like(x.array))
    return wrap_array(backend.from_host(x._host(), device_index, **later))


def copy_into(x: Tensor, src: Tensor, non_blocking: bool = False) -> None:
    """Copy `src` to `x`.

    The elements are converted to the dtype and device of `x` and broadcast to its shape.
    """
    if src is x:
        written(x)
        return
    if x.shape != src.shape or any(type(n) is not int for n in x.shape):
        _check_copied(x.shape, src.shape)
    if x.is_meta:
        return
    # A copy to the CPU waits for the elements, which are read immediately below.
    source = to_device(src, x.device, non_blocking and x.device.type != "cpu").array
    check(x.array, [source])
    if isinstance(x.array, np.ndarray):
        x.array[...] = converted_array(source, x.array.dtype)
    else:
        with backend_of(x.device.type).on(x.device_index):
            x.array[...] = converted_array(source, x.array.dtype)
    written(x)


def _check_copied(target: Sequence[int], source: Sequence[int]) -> None:
    """Raise PyTorch's RuntimeError unless a tensor of shape `source` can be copied to shape `target`."""
    rank = max(len(target), len(source))
    for i, (m, n) in enumerate(zip(reversed(target), reversed(source), strict=False), 1):
        if not size_guards.known_one(n) and not size_guards.equal(m, n) and 1 not in (m, n):
            raise RuntimeError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton "
                f"dimension {rank - i}"
            )
    broadcast_shape = size_guards.broadcast(target, source)
    if not size_guards.equal_shapes(broadcast_shape, target):
        raise RuntimeError(
            f"output with shape {list(target)} doesn't match the broadcast shape {list(broadcast_shape)}"
        )


def check_broadcast(target: Sequence[int], x: Tensor) -> None:
    """Raise PyTorch's RuntimeError unless `x` can be expanded to shape `target`."""
    shape = x.shape
    if len(shape) > len(target):
        raise RuntimeError(
            f"expand({x.type()}{{{list(shape)}}}, size={list(target)}): the number of sizes provided "
            f"({len(target)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    lead = len(target) - len(shape)
    for i, length in reversed(list(enumerate(shape))):
        if length not in (1, target[lead + i]):
            raise RuntimeError(
                f"The expanded size of the tensor ({target[lead + i]}) must match the existing size "
                f"({length}) at non-singleton dimension {lead + i}.  Target sizes: {list(target)}.  "
                f"Tensor sizes: {list(shape)}"
            )
