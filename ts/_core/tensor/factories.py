"""Tensors from Python data: numbers, nested sequences and arrays.

Dtypes and shapes are inferred by PyTorch's rules. Calls and their results are:

    tensor([1, 2.5])            float32, the default dtype, because an element is a float
    tensor([[1, 2], [3]])       ValueError: expected sequence of length 2 at dim 1 (got 1)
    as_tensor(numpy_array)      shares memory with the array
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ts import devices, dtypes
from ts._core.tensor import conversions, literals
from ts._core.tensor.python_operators import operator
from ts._core.tensor.size import Size
from ts._core.tensor.tensor import Tensor, backend_of, wrap_array
from ts._core.tensor.tensor_metadata import layer_of
from ts._core.tensor.tensor_type import record_constructed
from ts._core.tensor.type_names import type_text
from ts._core.thread import deadline
from ts._core.thread.context import current_modes, current_tracer
from ts._core.value.int_range import checked_int, fits_64_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_DIMENSIONS = 64  # NumPy supports no arrays with more dimensions


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """Return a new tensor with a copy of `data`, like `torch.tensor`."""
    if (active := current_modes()) is not None:
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad, "pin_memory": pin_memory}
        return active.operator(tensor, (data,), _without_defaults(options))  # type: ignore[no-any-return]
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            stacklevel=2,
        )
    tracer = current_tracer()
    if tracer is not None:
        symbolic = tracer.tensor_of_symbols(data, dtype, device)
        if symbolic is not None:
            return symbolic.requires_grad_(True) if requires_grad else symbolic  # type: ignore[no-any-return]
    return new_copy(data, dtype, device, requires_grad, pin_memory, "tensor")


def new_copy(
    data: Any, dtype: Any, device: Any, requires_grad: bool, pin_memory: bool, function: str
) -> Tensor:
    """Return a leaf with a copy of `data`. An active tracer records it as a result of `function`."""
    tracer = current_tracer()
    copy = _tensor(data, dtype, device) if tracer is None else _traced_copy(data, dtype, device, function)
    if pin_memory:
        copy = wrap_array(backend_of("cuda").pin(copy.array))
    if requires_grad:
        copy.requires_grad_(True)
    return copy


def _traced_copy(data: Any, dtype: Any, device: Any, function: str) -> Tensor:
    """Return a copy of `data` that the active tracer records as a result of `function`."""
    _warn_constructed(function)
    if isinstance(data, Tensor):
        source = data.detach()
        return source.to(device or source.device, dtype or source.dtype, copy=True).detach()
    copy = _tensor(data, dtype, device)
    record_constructed(copy, function)
    return copy


def _without_defaults(options: dict[str, Any]) -> dict[str, Any]:
    """Return `options` without the values None and False, as a function mode receives them."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


def _warn_constructed(function: str) -> None:
    """Make an active tracer warn that the result of `function` becomes a constant of the trace."""
    tracer = current_tracer()
    if tracer is not None:
        tracer.warn_constructed(function)


def _tensor(data: Any, dtype: Any, device: Any) -> Tensor:
    target_dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if device is None or device is devices.CPU:
        result = literals.from_scalars(data, -1 if target_dtype is None else target_dtype.code)
        if result is not None:
            return result
    if isinstance(data, Tensor):
        if (layer := layer_of(data)) is not None and not data.requires_grad:
            layer.check_detach_in_place()
        source: Tensor = operator("clone")(data.detach())
        if target_dtype is None and device is None:
            return source
        return conversions.to(source, (device or data.device, target_dtype or data.dtype), {})
    return _on_device(host_array(data, target_dtype), device)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Convert `data` to a tensor. Share the memory of arrays and tensors if dtype and device match."""
    if (active := current_modes()) is not None:
        options = _without_defaults({"dtype": dtype, "device": device})
        return active.operator(as_tensor, (data,), options)  # type: ignore[no-any-return]
    _warn_constructed("as_tensor")
    if isinstance(data, np.ndarray):
        data = _shared(data)
        record_constructed(data, "array")
    tracer = current_tracer()
    if tracer is not None and (symbolic := tracer.tensor_of_symbols(data, dtype, device)) is not None:
        return symbolic  # type: ignore[no-any-return]
    if isinstance(data, Tensor):
        target_dtype = data.dtype if dtype is None else dtypes.as_dtype(dtype)
        return data.to(data.device if device is None else device, target_dtype)
    result = _tensor(data, dtype, device)
    record_constructed(result, "as_tensor")
    return result


def from_numpy(array: NDArray[Any]) -> Tensor:
    """Return a CPU tensor that shares the array's memory."""
    _warn_constructed("from_numpy")
    return shared_array(array)


def shared_array(array: NDArray[Any]) -> Tensor:
    """Return a CPU tensor that shares the array's memory. An active tracer records it."""
    result = _shared(array)
    record_constructed(result, "array")
    return result


def _shared(array: NDArray[Any]) -> Tensor:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_text(array)})")
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. "
            "Conversion between byte orders is currently not supported."
        )
    if dtypes.from_numpy_dtype(array.dtype).is_narrow:  # arrays of the user must not have such a dtype
        raise dtypes.no_dtype_of(array.dtype)
    if any(step < 0 for step in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are "
            "not currently supported. (You can probably work around this by making a copy of your array "
            " with array.copy().) "
        )
    if not array.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. "
            "This means writing to this tensor will result in undefined behavior. You may want to copy "
            "the array to protect its data or make it writable before converting it to a tensor.",
            stacklevel=3,
        )
    # Create a new array object for the tensor, because the caller may change the shape of the given array
    # object.
    return wrap_array(array.view(np.ndarray))


def host_array(data: Any, dtype: dtypes.dtype | None) -> NDArray[Any]:
    """Copy `data` to a new NumPy array with dtype `dtype`, or with the inferred dtype if it is None."""
    if isinstance(data, (np.ndarray, np.generic)) or (
        hasattr(data, "__array__") and not isinstance(data, Tensor)
    ):
        converted = np.asarray(data)
        if dtypes.from_numpy_dtype(converted.dtype).is_narrow:
            raise dtypes.no_dtype_of(converted.dtype)
        numpy_dtype = dtype.numpy_dtype if dtype else converted.dtype
        copied: NDArray[Any] = conversions.converted_array(converted, numpy_dtype, copy=True)
        return copied
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    shape = sequence_shape(data)
    deadline.charge(_ELEMENT * math.prod(shape))
    inferred = infer_dtype(data)
    result = np.empty(shape, (dtype or inferred).numpy_dtype)
    flat: list[Any] = []
    _flatten(data, shape, 0, flat)
    if len(flat) != result.size:
        raise ValueError("a sequence changed its length while it was read")
    _fill(result, flat, dtype or inferred, inferred)
    return result


def sequence_shape(data: Any) -> tuple[int, ...]:
    """Return the shape of nested sequences, determined by the first item at each depth."""
    shape: list[int] = []
    while _is_sequence(data) and not isinstance(data, Tensor):
        shape.append(len(data))
        if len(shape) > MAX_DIMENSIONS or isinstance(data, str):
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if len(data) == 0:
            break
        try:
            first = data[0]
        except (TypeError, KeyError, IndexError) as error:
            kind = type(data).__name__
            raise ValueError(f"could not determine the shape of object type '{kind}'") from error
        data = first
    return tuple(shape)


def infer_dtype(data: Any) -> dtypes.dtype:
    """Return the dtype that is inferred from the values in `data`."""
    kind = type(data)
    if kind is float:
        return dtypes.get_default_dtype()
    if kind is int:
        return dtypes.int64
    if kind is bool:
        return dtypes.bool_
    if isinstance(data, Tensor):
        return data.dtype
    if isinstance(data, (np.ndarray, np.generic)):
        return dtypes.from_numpy_dtype(data.dtype)
    if isinstance(data, complex):
        return dtypes.get_default_dtype().to_complex()
    if isinstance(data, str):
        raise TypeError(f"new(): invalid data type '{kind.__name__}'")
    if _is_sequence(data):
        if not len(data):
            return dtypes.get_default_dtype()
        deadline.charge(_SEQUENCE + _ITEM * len(data))
        items = _items(data)
        kinds = set(map(type, items))
        # If all items are Python numbers, the dtype depends only on their types, so one item of each type is
        # sufficient.
        items = items if not kinds <= _PLAIN else [k() for k in kinds]
        result = dtypes.get_default_dtype() if not items else infer_dtype(items[0])
        for item in items[1:]:
            if item is data:
                raise TypeError("new(): self-referential lists are incompatible")
            result = dtypes.promote(result, infer_dtype(item))
        return result
    if isinstance(data, (int, float)):
        return infer_dtype(int(data) if isinstance(data, int) else float(data))
    raise RuntimeError(f"Could not infer dtype of {kind.__name__}")


_PLAIN = {bool, int, float, complex}
_CHUNK_ELEMENTS = 1 << 14  # number of elements that are converted between two checks of the deadline
# Lower bounds of the times in ns that are charged to a time limit for writing a number, for reading an item
# and for reading a sequence.
_ELEMENT, _ITEM, _SEQUENCE = 10.0, 2.0, 100.0


def _is_sequence(data: Any) -> bool:
    if isinstance(data, (Tensor, np.ndarray)):
        return data.ndim > 0
    return (
        hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (dict, np.generic))
    )


def _items(data: Any) -> Sequence[Any]:
    """Return the items of a sequence: at most `len(data) + 1` items, because its iterator may be infinite."""
    return data if type(data) is list or type(data) is tuple else list(islice(data, len(data) + 1))


def _flatten(data: Any, shape: tuple[int, ...], depth: int, out: list[Any]) -> None:
    if depth == len(shape):
        if isinstance(data, Tensor):
            data = _escaped(data)
        elif isinstance(data, list | tuple):
            raise TypeError(f"'{type(data).__name__}' object cannot be interpreted as an integer")
        out.append(data)
        return
    if not _is_sequence(data):
        raise TypeError("not a sequence")
    deadline.charge(_SEQUENCE + _ITEM * len(data))
    items = _items(data)
    if len(items) != shape[depth]:
        raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(items)})")
    if depth + 1 == len(shape) and set(map(type, items)) <= _PLAIN:
        out.extend(items)
        return
    for item in items:
        _flatten(item, shape, depth + 1, out)


def _escaped(x: Tensor) -> Any:
    """Return the only element of a tensor in nested lists as a number.

    Notify an active tracer of this conversion.
    """
    if x.array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    recorder = current_tracer()
    if recorder is None:
        return x.item()
    value = x._element()
    recorder.record_escape(x, "float" if x.dtype.is_floating_point else "index", value)
    return value


def _fill(result: NDArray[Any], flat: list[Any], dtype: dtypes.dtype, inferred: dtypes.dtype) -> None:
    if inferred.is_complex and not dtype.is_complex and dtype is not dtypes.bool_:
        as_integer = "'complex' object cannot be interpreted as an integer"
        raise TypeError("must be real number, not complex" if dtype.is_floating_point else as_integer)
    target = result.reshape(-1)
    for start in range(0, len(flat), _CHUNK_ELEMENTS):
        piece = flat[start : start + _CHUNK_ELEMENTS]
        deadline.charge(_ELEMENT * len(piece))
        if dtype.category == dtypes.INTEGRAL and not _all_fit(piece, dtype):
            piece = [_checked_int(x, dtype) for x in piece]
        elif dtype is dtypes.bool_:
            piece = [bool(x) for x in piece]
        with np.errstate(over="ignore"):  # values out of range become infinite
            if dtype.is_narrow:
                wide = np.complex64 if dtype.is_complex else np.float64
                piece = conversions.cast_elements(np.array(piece, wide), dtype.numpy_dtype)
            target[start : start + len(piece)] = piece


def _all_fit(numbers: list[Any], dtype: dtypes.dtype) -> bool:
    """Return whether all numbers are ints or bools in the range of `dtype`."""
    if not set(map(type, numbers)) <= {int, bool}:
        return False
    limits = np.iinfo(dtype.numpy_dtype)
    fits: bool = limits.min <= min(numbers) and max(numbers) <= limits.max
    return fits


def _checked_int(x: Any, dtype: dtypes.dtype) -> int:
    try:
        value = int(x)
    except (ValueError, OverflowError):  # `x` is NaN or infinite, so `int(x)` fails
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow") from None
    limits = np.iinfo(dtype.numpy_dtype)
    if isinstance(x, float) and not -(2**63) <= x < 2**63 and dtype is not dtypes.uint64:
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    if (value > 2**63 - 1 and dtype is not dtypes.uint64) or value < -(2**63):
        raise ValueError("Overflow when unpacking long long")
    if value < 0 and not dtype.is_signed and value >= -int(limits.max):
        return value + int(limits.max) + 1  # negative numbers wrap around in unsigned dtypes, as in C
    if not limits.min <= value <= limits.max:
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    return value


def checked_number(value: Any, dtype: dtypes.dtype) -> Any:
    """Return `value` as a Python number that `dtype` can represent.

    Raise RuntimeError if `dtype` cannot represent it, or OverflowError if no integer dtype can.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if dtype is dtypes.bool_:
        return bool(value)
    fits = True
    if isinstance(value, complex) and not dtype.is_complex:
        fits = value.imag == 0
        value = value.real
    if isinstance(value, int):
        checked_int(value)
    if dtype.category == dtypes.INTEGRAL and fits:
        limits = np.iinfo(dtype.numpy_dtype)
        low = int(limits.min) if dtype.is_signed or isinstance(value, float) else -int(limits.max)
        fits = math.isfinite(value) and low <= value and int(value) <= int(limits.max)
        value = int(value) % (int(limits.max) + 1) if fits and value < 0 and not dtype.is_signed else value
        value = int(value) if fits else value
    elif dtype.is_floating_point and fits and math.isfinite(value):
        numbers = dtypes.finfo(dtype)
        fits = numbers.min <= value <= numbers.max
    elif dtype.is_floating_point and fits and math.isinf(value):
        fits = dtype.has_infinity
    elif dtype.is_complex and not dtype.is_narrow:  # values out of the range of narrow dtypes become infinite
        components = (value.real, value.imag)
        fits = all(
            not math.isfinite(component) or abs(component) <= dtypes.finfo(dtype).max
            for component in components
        )
    if not fits:
        raise RuntimeError(f"value cannot be converted to type {dtype.cpp_names[0]} without overflow")
    return value


def number_tensor(value: Any, dtype: dtypes.dtype, device: Any) -> Tensor:
    """Return a 0-dim tensor with a number. As in PyTorch, an overflow of 16-bit floats is infinite."""
    if isinstance(value, int) and not fits_64_bits(value, unsigned=dtype is dtypes.uint64):
        raise ValueError("Overflow when unpacking long long")
    if dtype.compute is dtype:
        return _on_device(np.array(checked_number(value, dtype), dtype.numpy_dtype), device)
    with np.errstate(over="ignore"):
        wide = dtypes.complex64 if dtype.is_complex else dtypes.float64
        scalar = np.array(checked_number(value, wide), wide.numpy_dtype)
        scalar = scalar if dtype.is_complex else scalar.astype(np.float32)
        return _on_device(conversions.cast_elements(scalar, dtype.numpy_dtype), device)


def legacy(
    args: tuple[Any, ...], device: Any = None, dtype: dtypes.dtype | None = None, function: str = "new"
) -> Tensor:
    """Implement `Tensor(2, 3)` (with this shape) and `Tensor([1, 2])` (default dtype).

    PyTorch does not initialize the elements of `Tensor(2, 3)`. Here they are zeros, so that modules with
    uninitialized parameters give reproducible results. An active tracer records the tensor as a result of
    `function`.
    """
    _warn_constructed(function)
    target_dtype = dtypes.get_default_dtype() if dtype is None else dtype
    default: tuple[int, ...] = (0,)  # shape of the result if there are no arguments
    if len(args) == 1 and (args[0] is None or isinstance(args[0], (bool, float, complex))):
        raise TypeError(f"new(): data must be a sequence (got {type(args[0]).__name__})")
    if len(args) == 1 and not isinstance(args[0], int):
        if isinstance(args[0], Tensor):
            if device is not None and dtype is None:
                raise RuntimeError(
                    "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not "
                    "supported.  Use torch.tensor(...) or torch.as_tensor(...) instead."
                )
            return operator("alias")(args[0])  # type: ignore[no-any-return]
        if type(args[0]).__name__ == "UntypedStorage":
            empty: Any = legacy((), device, target_dtype)
            return empty.set_(args[0])  # type: ignore[no-any-return]
        if type(args[0]).__name__ != "Size":
            result = _tensor(args[0], target_dtype, device)
            record_constructed(result, function)
            return result
        args, default = tuple(args[0]), ()
    recorder = current_tracer()
    for i, size in enumerate(args):
        if recorder is not None and isinstance(size, Tensor):
            size = size._element()
        if not isinstance(size, int):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {i + 1} with error \"type must "
                f'be tuple of ints,but got {type(size).__name__}"'
            )
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(args)}")
    if recorder is not None:
        options = {"dtype": target_dtype, "layout": dtypes.strided, "device": devices.as_device(device)}
        return operator("empty")(list(args or default), **options)  # type: ignore[no-any-return]
    return _on_device(np.zeros(args or default, target_dtype.numpy_dtype), device)


_NEW_SIGNATURES: Final = (
    "\n * (*, torch.device device = None){0}\n * (torch.Storage storage){1}\n * (Tensor other){1}"
    "\n * (tuple of ints size, *, torch.device device = None)"
    "\n * (object data, *, torch.device device = None)\n"
)


def positional_arguments(args: tuple[Any, ...], options: Mapping[str, Any]) -> tuple[Any, ...]:
    """Convert the arguments of `Tensor(...)` or `Tensor.new(...)` to positional arguments.

    `options` are the keyword arguments without `device`. Raise TypeError if the arguments match no signature.
    """
    if not options:
        return args
    name, value = next(iter(options.items()))
    if not args and len(options) == 1:
        if name == "size" and isinstance(value, (list, tuple)) and (not value or isinstance(value[0], int)):
            return (Size(value),) if len(value) < 2 else tuple(value)
        if name == "data" and isinstance(value, int):
            raise TypeError(f"new(): data must be a sequence (got {type_text(value)})")
        if name == "data" or (name == "other" and isinstance(value, Tensor)) or name == "storage":
            return (value,)
    argument_types = ", ".join(
        [*map(type_text, args), *(f"{key}={type_text(item)}" for key, item in options.items())]
    )
    reason = f"\n      didn't match because some of the keywords were incorrect: {', '.join(options)}"
    signatures = _NEW_SIGNATURES.format(*((reason, "") if args else ("", reason)))
    argument_types += "" if args else ", "
    raise TypeError(
        f"new() received an invalid combination of arguments - got ({argument_types}), "
        f"but expected one of:{signatures}"
    )


def check_legacy_device(device: Any, device_type: str) -> None:
    """Raise RuntimeError unless `device` is None or has the device type of the legacy constructor."""
    if device is not None and (actual_type := devices.as_device(device).type) != device_type:
        raise RuntimeError(
            f"legacy constructor expects device type: {device_type} but device type: {actual_type} was passed"
        )


def _on_device(host: NDArray[Any], device: Any) -> Tensor:
    """Return a tensor on `device` with the elements of a new NumPy array."""
    where = devices.as_device(device)
    if where.type == "cpu":
        return wrap_array(host)
    return wrap_array(backend_of(where.type).from_host(host, -1 if where.index is None else where.index))
