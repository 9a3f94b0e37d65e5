"""Decoder of request bodies (input validation against a schema) and encoder of response bodies: JSON and npz.

`decode_inputs` converts `{"inputs": {"x": [[1, 2]]}}` to `{"x": tensor([[1, 2]])}`. `encode_response`
converts a result to `{"outputs": {"data": [[3]], "dtype": "int64", ...}}`.

In JSON, a tensor is nested lists, or an object `{"data": [[1, 2]], "dtype": "float32"}`. Non-finite floats
are the strings "NaN", "Infinity" and "-Infinity", because JSON has no such numbers. An npz file has one array
per argument, by name or by position (`arr_0`). Headers are checked before any array is read.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

import ts
from ts import dtypes
from ts.ir import types as ir
from ts.ir.schema import Argument
from ts.ir.types import Type

_MAX_NPZ_ENTRIES: Final = 64
_MAX_DIMENSIONS: Final = 32
_MAX_NPY_HEADER_BYTES: Final = 4096
_NUMPY_HEADER_PATTERN: Final = re.compile(
    rb"\{'descr': '([<>|=]?[biufc]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \((|\d{1,14},|\d{1,14}(?:, \d{1,14}){1,31})\), \} *\n"
)
_NONFINITE_FLOATS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MAX_JSON_NUMBER_BYTES: Final = 25
_DTYPES_BY_NAME: Final = {d.name: d for d in dtypes.ALL if d.has_storage_class}
_DTYPE_NAMES: Final = {dtype: name for name, dtype in _DTYPES_BY_NAME.items()}


class InvalidInputError(ValueError):
    """Raised if a request body does not match the inputs of the model."""


class ResponseTooLargeError(ValueError):
    """Raised if a response body would exceed its size limit."""


def decode_inputs(body: bytes, kind: str, arguments: Sequence[Argument], *, max_bytes: int) -> dict[str, Any]:
    """Return the arguments of a call by name, decoded from a body of `kind` "json" or "npz".

    `max_bytes` limits the total size of the arrays of an npz. Raises InvalidInputError if the body is
    invalid.
    """
    values = _decode_npz(body, max_bytes) if kind == "npz" else _decode_json(body)
    names = [argument.name for argument in arguments]
    if isinstance(values, list):
        if len(values) > len(names):
            raise InvalidInputError(
                f"got {len(values)} inputs; the model has {len(names)}: {', '.join(names)}"
            )
        values = dict(zip(names, values, strict=False))
    unknown = sorted(values.keys() - set(names))
    if unknown:
        raise InvalidInputError(
            f"the model has no input {unknown[0]!r}; its inputs: {', '.join(names) or 'none'}"
        )
    inputs = {}
    for argument in arguments:
        if argument.name in values:
            inputs[argument.name] = _decode_value(values[argument.name], argument.type, argument.name)
        elif not argument.has_default:
            raise InvalidInputError(f"the input {argument.name!r} is missing")
    return inputs


# ---- decoding of JSON bodies -------------------------------------------------------------------------


def _decode_json(body: bytes) -> dict[str, Any] | list[Any]:
    try:
        content = json.loads(body.decode(), parse_constant=_reject_constant)
    except UnicodeDecodeError:
        raise InvalidInputError("the body is not UTF-8") from None
    except RecursionError:
        raise InvalidInputError("the JSON is nested too deeply") from None
    except ValueError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from None
    inputs = content.get("inputs") if isinstance(content, dict) else None
    if not isinstance(inputs, dict | list) or len(content) > 1:
        raise InvalidInputError('expected {"inputs": {"name": value, ...}} or {"inputs": [value, ...]}')
    return inputs


def _reject_constant(word: str) -> None:
    raise ValueError(f'{word} is not a JSON number; write "{word}" in quotes')


def _decode_value(value: Any, type: Type, name: str) -> Any:
    """Convert a JSON value or an npz array to the type of an argument.

    Raise InvalidInputError if impossible.
    """
    match type:
        case ir.TensorType():
            return _decode_tensor(value, name)
        case ir.OptionalType():
            return None if value is None else _decode_value(value, type.elem, name)
        case ir.BoolType() if isinstance(value, bool | np.bool_):
            return bool(value)
        case ir.IntType() if isinstance(value, int | np.integer) and not isinstance(value, bool):
            if -(1 << 63) <= value < 1 << 63:
                return int(value)
        case ir.FloatType() if isinstance(value, int | float | np.number) and not isinstance(value, bool):
            return _decode_float(value, name)
        case ir.FloatType() if isinstance(value, str) and value in _NONFINITE_FLOATS:
            return _NONFINITE_FLOATS[value]
        case ir.StringType() if isinstance(value, str):
            return value
        case ir.ListType() if isinstance(value, list):
            return [_decode_value(each, type.elem, name) for each in value]
        case ir.TupleType() if isinstance(value, list) and len(value) == len(type.elems):
            return tuple(
                _decode_value(each, element_type, name)
                for each, element_type in zip(value, type.elems, strict=True)
            )
        case ir.DictType() if isinstance(value, dict) and isinstance(type.key, ir.StringType):
            return {key: _decode_value(each, type.value, name) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        if value.shape == () and not isinstance(type, ir.ListType):
            return _decode_value(value[()].item(), type, name)
        if isinstance(type, ir.ListType) and value.ndim <= _MAX_DIMENSIONS:
            return _decode_value(value.tolist(), type, name)
    raise InvalidInputError(f"input {name!r}: expected {type.annotation_str}, got {_describe_value(value)}")


def _decode_float(value: Any, name: str) -> float:
    try:
        return float(value)
    except (OverflowError, TypeError):
        raise InvalidInputError(f"input {name!r}: expected a float, got {_describe_value(value)}") from None


def _describe_value(value: Any) -> str:
    description = (
        f"{type(value).__name__} {value!r}"
        if isinstance(value, bool | int | float | str)
        else type(value).__name__
    )
    return description if len(description) <= 80 else description[:77] + "..."


def _decode_tensor(value: Any, name: str) -> ts.Tensor:
    dtype = None
    if isinstance(value, dict):
        dtype_name = value.get("dtype")
        if set(value) - {"data", "dtype", "shape"} or "data" not in value:
            raise InvalidInputError(
                f'input {name!r}: expected a tensor as lists or {{"data": lists, "dtype": "..."}}, '
                "got another object"
            )
        if dtype_name is not None and (not isinstance(dtype_name, str) or dtype_name not in _DTYPES_BY_NAME):
            raise InvalidInputError(
                f"input {name!r}: unknown dtype {_describe_value(dtype_name)}; "
                f"expected one of: {', '.join(_DTYPES_BY_NAME)}"
            )
        dtype = _DTYPES_BY_NAME[dtype_name] if dtype_name is not None else None
        shape, value = value.get("shape"), value["data"]
    else:
        shape = None
    array = value if isinstance(value, np.ndarray) else _array_from_lists(value, name)
    try:
        tensor = ts.from_numpy(array)
    except TypeError as error:
        raise InvalidInputError(f"input {name!r}: {error}") from None
    if dtype is not None and tensor.dtype != dtype:
        if tensor.numel() and tensor.is_complex() and not dtype.is_complex:
            raise InvalidInputError(f"input {name!r}: cannot convert complex numbers to {dtype}")
        tensor = tensor.to(dtype)
    # The nested lists of an empty tensor do not contain all of its sizes, so the shape must be stated.
    if shape is not None and tensor.numel() == 0:
        if not isinstance(shape, list) or not all(isinstance(n, int) and 0 <= n < 1 << 31 for n in shape):
            raise InvalidInputError(f"input {name!r}: the shape must be a list of sizes")
        if len(shape) > _MAX_DIMENSIONS or math.prod(shape) != 0:
            raise InvalidInputError(f"input {name!r}: the data is empty, but the shape is not")
        tensor = tensor.reshape(shape)
    elif shape is not None and list(tensor.shape) != shape:
        raise InvalidInputError(
            f"input {name!r}: the data has the shape {list(tensor.shape)}, expected {shape}"
        )
    return tensor


def _array_from_lists(value: Any, name: str) -> NDArray[Any]:
    """Convert nested lists of numbers to an array.

    Its dtype is bool, int64 or float32, as for `ts.tensor`.
    """
    try:
        array = np.array(value)
    except (ValueError, OverflowError, RecursionError):
        raise InvalidInputError(
            f"input {name!r} is not a tensor: nested lists must have equal lengths"
        ) from None
    if array.dtype.kind in "UO":
        array = _array_from_mixed_lists(value, array, name)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return array.astype(np.float32) if not isinstance(value, np.ndarray) else array
    if array.dtype.kind in "bi":
        return array
    raise InvalidInputError(f"input {name!r} is not a tensor: it contains {array.dtype.name}")


def _array_from_mixed_lists(value: Any, array: NDArray[Any], name: str) -> NDArray[Any]:
    """Convert nested lists of numbers and strings such as "NaN" to a float64 array."""
    objects = np.array(value, dtype=object)
    if objects.ndim > _MAX_DIMENSIONS:
        raise InvalidInputError(f"input {name!r} has more than {_MAX_DIMENSIONS} dimensions")
    flat = []
    for each in objects.ravel().tolist():
        scalar = _NONFINITE_FLOATS.get(each) if isinstance(each, str) else each
        is_wide = isinstance(scalar, int) and not -(1 << 63) <= scalar < 1 << 63
        if not isinstance(scalar, int | float) or isinstance(scalar, bool) or is_wide:
            raise InvalidInputError(f"input {name!r} is not a tensor: it contains {_describe_value(each)}")
        flat.append(_decode_float(scalar, name))
    return np.array(flat, dtype=np.float64).reshape(objects.shape)


# ---- decoding of npz bodies --------------------------------------------------------------------------


def _decode_npz(body: bytes, max_bytes: int) -> dict[str, Any] | list[Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as file:
            arrays = {name: _read_entry(file, info) for name, info in _check_entries(file, max_bytes)}
    except InvalidInputError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # zipfile and zlib raise exceptions of many types for damaged files
        raise InvalidInputError(f"the body is not an npz: {type(error).__name__}: {error}") from None
    if arrays and all(name == f"arr_{index}" for index, name in enumerate(arrays)):
        return list(arrays.values())
    return arrays


def _check_entries(file: zipfile.ZipFile, max_bytes: int) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    """Yield the names and entries of the arrays. Raise InvalidInputError at the first invalid entry."""
    infos = file.infolist()
    if len(infos) > _MAX_NPZ_ENTRIES:
        raise InvalidInputError(f"the npz has {len(infos):,} entries; {_MAX_NPZ_ENTRIES} are allowed")
    if sum(info.file_size for info in infos) > max_bytes:
        raise InvalidInputError(f"the npz contains more than {max_bytes:,} bytes")
    names = set()
    for info in infos:
        if not info.filename.endswith(".npy") or info.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):
            raise InvalidInputError("entries of an npz must be named NAME.npy, and stored or deflated")
        if info.flag_bits & 1 or info.filename in names:
            raise InvalidInputError("the npz has an encrypted entry or duplicate names")
        names.add(info.filename)
        yield info.filename.removesuffix(".npy"), info


def _read_entry(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Read the array of an archive entry, after checking its header against the size of the entry."""
    with file.open(info) as stream:
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise InvalidInputError(f"{info.filename} has the unsupported npy version {version}")
        shape, is_fortran, dtype = _read_header(stream, version)
        if dtype.hasobject or dtype.fields is not None or dtype.kind not in "biufc":
            raise InvalidInputError(f"{info.filename} contains {dtype}, expected numbers")
        if len(shape) > _MAX_DIMENSIONS or any(not 0 <= size < 1 << 48 for size in shape):
            raise InvalidInputError(f"{info.filename} has an invalid shape")
        size = math.prod(shape) * dtype.itemsize
        if size != info.file_size - stream.tell():
            raise InvalidInputError(f"the size of {info.filename} does not match its shape and dtype")
        data = bytearray(stream.read(size + 1))  # `zipfile` verifies the checksum at the end
    if len(data) != size:
        raise InvalidInputError(f"{info.filename} is truncated")
    flat = np.frombuffer(data, dtype=dtype).astype(dtype.newbyteorder("="), copy=False)
    return flat.reshape(shape, order="F" if is_fortran else "C")


def _read_header(stream: IO[bytes], version: tuple[int, int]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the shape, Fortran order flag and dtype of an array.

    If a header has the form that NumPy writes for number dtypes, a regular expression parses it, because this
    is faster than Python's parser.
    """
    length = stream.read(2 if version == (1, 0) else 4)
    header = stream.read(min(int.from_bytes(length, "little"), _MAX_NPY_HEADER_BYTES))
    match = _NUMPY_HEADER_PATTERN.fullmatch(header)
    if match is not None:
        kind, order, sizes = match.groups()
        return tuple(map(int, sizes.replace(b",", b" ").split())), order == b"True", np.dtype(kind.decode())
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    return read(io.BytesIO(length + header), max_header_size=_MAX_NPY_HEADER_BYTES)  # type: ignore[no-any-return]


# ---- encoding of responses ---------------------------------------------------------------------------


def encode_response(result: Any, kind: str, *, max_bytes: int) -> bytes:
    """Return the body of a response of `kind` "json" or "npz".

    Raises ResponseTooLargeError before encoding a result that may exceed `max_bytes`, and InvalidInputError
    for a result that the format cannot represent.
    """
    if kind == "npz":
        return _encode_npz(result, max_bytes)
    if _count_numbers(result) * _MAX_JSON_NUMBER_BYTES > max_bytes:
        raise ResponseTooLargeError(f"the response exceeds {max_bytes:,} bytes; npz is smaller")
    return json.dumps({"outputs": _json_value(result)}, allow_nan=False, separators=(",", ":")).encode()


def _json_value(value: Any) -> Any:
    """Convert a value to dicts, lists, strings and finite numbers for `json.dumps`."""
    match value:
        case ts.Tensor():
            array = _to_array(value)
            name = _DTYPE_NAMES.get(value.dtype) or str(value.dtype).rpartition(".")[2]
            return {"data": _json_numbers(array), "dtype": name, "shape": list(array.shape)}
        case bool() | int() | str() | None:
            return value
        case float():
            return value if math.isfinite(value) else _nonfinite_name(value)
        case complex():
            return [_json_value(value.real), _json_value(value.imag)]
        case Mapping():
            return {str(key): _json_value(each) for key, each in value.items()}
        case tuple() if hasattr(value, "_fields"):
            return {name: _json_value(each) for name, each in zip(value._fields, value, strict=True)}
        case list() | tuple():
            return [_json_value(each) for each in value]
    raise InvalidInputError(f"the model returned {type(value).__name__}, which JSON cannot represent")


def _json_numbers(array: NDArray[Any]) -> Any:
    if array.dtype.kind == "c":  # complex numbers are encoded as pairs of their real and imaginary parts
        array = np.stack([array.real, array.imag], -1)
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array.tolist()
    return _replace_nonfinite(array.tolist())


def _replace_nonfinite(value: Any) -> Any:
    if isinstance(value, list):
        return [_replace_nonfinite(each) for each in value]
    return value if math.isfinite(value) else _nonfinite_name(value)


def _nonfinite_name(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _count_numbers(value: Any) -> int:
    """Return an upper bound on the number of JSON numbers in a value.

    Each character of a string counts as one number.
    """
    match value:
        case ts.Tensor():
            return int(value.numel()) * (2 if value.is_complex() else 1) + 4
        case str():
            return len(value)
        case Mapping():
            return sum(_count_numbers(each) + 2 for each in value.values())
        case list() | tuple():
            return sum(_count_numbers(each) for each in value) + 1
    return 1


def _encode_npz(result: Any, max_bytes: int) -> bytes:
    arrays = {name or "out": _to_array(leaf) for name, leaf in _flatten_value(result, "")}
    if sum(array.nbytes + 256 for array in arrays.values()) > max_bytes:
        raise ResponseTooLargeError(f"the response exceeds {max_bytes:,} bytes")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)
    return out.getvalue()


def _flatten_value(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested containers with dotted names, as in files of `ts run -o out.npz`."""
    if isinstance(value, Mapping):
        children = [(str(key), child) for key, child in value.items()]
    elif hasattr(value, "_fields"):
        children = list(zip(value._fields, value, strict=True))
    elif isinstance(value, list | tuple):
        children = [(str(index), child) for index, child in enumerate(value)]
    else:
        if value is not None:
            yield name, value
        return
    for child_name, child in children:
        yield from _flatten_value(child, f"{name}.{child_name}" if name else child_name)


def _to_array(value: Any) -> NDArray[Any]:
    if isinstance(value, ts.Tensor):
        array: NDArray[Any] = value.detach().cpu().numpy()
        # The npy format has no bfloat16, so such a tensor is converted to float32.
        return array if array.dtype.isbuiltin == 1 else array.astype(np.float32)
    if isinstance(value, bool | int | float | complex | str):
        return np.asarray(value)
    raise InvalidInputError(f"the model returned {type(value).__name__}, which npz cannot represent")
