"""What comes in a request and goes out in an answer: JSON and npz, for arguments of a schema.

    inputs_of(b'{"inputs": {"x": [[1, 2]]}}', "json", arguments, bytes=1 << 30)     {"x": tensor([[1, 2]])}
    body_of(result, "json", most=1 << 26)           b'{"outputs": {"data": [[3]], "dtype": "int64", ...}}'

JSON is that of RFC 8259: no `NaN`; numbers that JSON does not have are "NaN", "Infinity" and "-Infinity" in
both directions.  A tensor is nested lists, or {"data": nested lists, "dtype": "float32"}.  An npz has an
array for each argument, by its name or by its place (`arr_0`); what its headers say is checked before an
array is read.
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
from ts.ir import types as ir
from ts.ir.schema import Argument
from ts.ir.types import Type

_MOST_ENTRIES: Final = 64  # of an npz
_MOST_DIMENSIONS: Final = 32
_HEADER: Final = 4096  # bytes of a npy header, at the most
_USUAL: Final = re.compile(
    rb"\{'descr': '([<>|=]?[biufc]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \((|\d{1,14},|\d{1,14}(?:, \d{1,14}){1,31})\), \} *\n"
)
_WORDS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_TEXT: Final = 25  # bytes of a number in JSON, at the most
_DTYPES: Final = {
    name: getattr(ts, name)
    for name in (
        "float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool",
        "complex64", "complex128",
    )
}  # fmt: skip
_NAMES: Final = {dtype: name for name, dtype in _DTYPES.items()}


class BadInput(ValueError):
    """A request that does not say what the model takes; the message says what is wrong with it."""


class TooLarge(ValueError):
    """An answer that is larger than answers may be."""


def inputs_of(body: bytes, kind: str, arguments: Sequence[Argument], *, bytes: int) -> dict[str, Any]:
    """The arguments of a call by their names."""
    given = _of_npz(body, bytes) if kind == "npz" else _of_json(body)
    names = [argument.name for argument in arguments]
    if isinstance(given, list):
        if len(given) > len(names):
            raise BadInput(f"{len(given)} inputs are given; the model takes {len(names)}: {', '.join(names)}")
        given = dict(zip(names, given, strict=False))
    unknown = sorted(given.keys() - set(names))
    if unknown:
        raise BadInput(f"the model has no input {unknown[0]!r}; it takes: {', '.join(names) or 'nothing'}")
    found = {}
    for argument in arguments:
        if argument.name in given:
            found[argument.name] = _value(given[argument.name], argument.type, argument.name)
        elif not argument.has_default:
            raise BadInput(f"the input {argument.name!r} is missing")
    return found


# ---- JSON --------------------------------------------------------------------------------------------


def _of_json(body: bytes) -> dict[str, Any] | list[Any]:
    try:
        found = json.loads(body.decode(), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise BadInput("the body is not UTF-8") from None
    except RecursionError:
        raise BadInput("the JSON is nested too deeply") from None
    except ValueError as error:
        raise BadInput(f"the body is not JSON: {error}") from None
    inputs = found.get("inputs") if isinstance(found, dict) else None
    if not isinstance(inputs, dict | list) or len(found) > 1:
        raise BadInput('expected {"inputs": {"name": value, ...}} or {"inputs": [value, ...]}')
    return inputs


def _no_constant(word: str) -> None:
    raise ValueError(f'{word} is no number of JSON; "{word}" in quotes is understood')


def _value(given: Any, type: Type, name: str) -> Any:
    """A value of a type, of what JSON or npz has for it."""
    match type:
        case ir.TensorType():
            return _tensor(given, name)
        case ir.OptionalType():
            return None if given is None else _value(given, type.elem, name)
        case ir.BoolType() if isinstance(given, bool | np.bool_):
            return bool(given)
        case ir.IntType() if isinstance(given, int | np.integer) and not isinstance(given, bool):
            if -(1 << 63) <= given < 1 << 63:
                return int(given)
        case ir.FloatType() if isinstance(given, int | float | np.number) and not isinstance(given, bool):
            return _float(given, name)
        case ir.FloatType() if isinstance(given, str) and given in _WORDS:
            return _WORDS[given]
        case ir.StringType() if isinstance(given, str):
            return given
        case ir.ListType() if isinstance(given, list):
            return [_value(each, type.elem, name) for each in given]
        case ir.TupleType() if isinstance(given, list) and len(given) == len(type.elems):
            return tuple(_value(each, part, name) for each, part in zip(given, type.elems, strict=True))
        case ir.DictType() if isinstance(given, dict) and isinstance(type.key, ir.StringType):
            return {key: _value(each, type.value, name) for key, each in given.items()}
    if isinstance(given, np.ndarray):
        if given.shape == () and not isinstance(type, ir.ListType):
            return _value(given[()].item(), type, name)
        if isinstance(type, ir.ListType) and given.ndim <= _MOST_DIMENSIONS:
            return _value(given.tolist(), type, name)
    raise BadInput(f"the input {name!r} is {_told(given)}; the model takes {type.annotation_str}")


def _float(given: Any, name: str) -> float:
    try:
        return float(given)
    except (OverflowError, TypeError):
        raise BadInput(f"the input {name!r} is no float: {_told(given)}") from None


def _told(given: Any) -> str:
    text = (
        f"{type(given).__name__} {given!r}"
        if isinstance(given, bool | int | float | str)
        else type(given).__name__
    )
    return text if len(text) <= 80 else text[:77] + "..."


def _tensor(given: Any, name: str) -> ts.Tensor:
    dtype = None
    if isinstance(given, dict):
        said = given.get("dtype")
        if set(given) - {"data", "dtype", "shape"} or "data" not in given:
            raise BadInput(
                f'the input {name!r} is an object; a tensor is lists, or {{"data": lists, "dtype": "..."}}'
            )
        if said is not None and (not isinstance(said, str) or said not in _DTYPES):
            raise BadInput(f"the input {name!r} has no dtype {_told(said)}; there are: {', '.join(_DTYPES)}")
        dtype = _DTYPES[said] if said is not None else None
        shape, given = given.get("shape"), given["data"]
    else:
        shape = None
    array = given if isinstance(given, np.ndarray) else _array(given, name)
    try:
        found = ts.from_numpy(array)
    except TypeError as error:
        raise BadInput(f"the input {name!r}: {error}") from None
    if dtype is not None and found.dtype != dtype:
        if found.numel() and found.is_complex() and not dtype.is_complex:
            raise BadInput(f"the input {name!r} is complex")
        found = found.to(dtype)
    if shape is not None and found.numel() == 0:  # lists do not say how large an empty tensor is
        if not isinstance(shape, list) or not all(isinstance(n, int) and 0 <= n < 1 << 31 for n in shape):
            raise BadInput(f"the shape of the input {name!r} is no list of sizes")
        if len(shape) > _MOST_DIMENSIONS or math.prod(shape) != 0:
            raise BadInput(f"the input {name!r} is empty, and its shape is not")
        found = found.reshape(shape)
    elif shape is not None and list(found.shape) != shape:
        raise BadInput(f"the input {name!r} has the shape {list(found.shape)}, and says another one")
    return found


def _array(given: Any, name: str) -> NDArray[Any]:
    """Nested lists of numbers as an array of bool, int64 or float32, as `ts.tensor` has them."""
    try:
        array = np.array(given)
    except (ValueError, OverflowError, RecursionError):
        raise BadInput(f"the input {name!r} is no tensor: its lists are of different lengths") from None
    if array.dtype.kind in "UO":
        array = _with_words(given, array, name)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return array.astype(np.float32) if not isinstance(given, np.ndarray) else array
    if array.dtype.kind in "bi":
        return array
    raise BadInput(f"the input {name!r} is no tensor: it holds {array.dtype.name}")


def _with_words(given: Any, array: NDArray[Any], name: str) -> NDArray[Any]:
    """Lists with "NaN" and its like among the numbers."""
    objects = np.array(given, dtype=object)
    if objects.ndim > _MOST_DIMENSIONS:
        raise BadInput(f"the input {name!r} has more than {_MOST_DIMENSIONS} dimensions")
    flat = []
    for each in objects.ravel().tolist():
        number = _WORDS.get(each) if isinstance(each, str) else each
        is_wide = isinstance(number, int) and not -(1 << 63) <= number < 1 << 63
        if not isinstance(number, int | float) or isinstance(number, bool) or is_wide:
            raise BadInput(f"the input {name!r} is no tensor: it holds {_told(each)}")
        flat.append(_float(number, name))
    return np.array(flat, dtype=np.float64).reshape(objects.shape)


# ---- npz ---------------------------------------------------------------------------------------------


def _of_npz(body: bytes, most: int) -> dict[str, Any] | list[Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as file:
            found = {name: _entry(file, info) for name, info in _entries(file, most)}
    except BadInput:
        raise
    except MemoryError:
        raise
    except Exception as error:  # zipfile and zlib raise whatever they stumble over
        raise BadInput(f"the body is no npz: {type(error).__name__}: {error}") from None
    if found and all(name == f"arr_{number}" for number, name in enumerate(found)):
        return list(found.values())
    return found


def _entries(file: zipfile.ZipFile, most: int) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    infos = file.infolist()
    if len(infos) > _MOST_ENTRIES:
        raise BadInput(f"the npz has {len(infos):,} entries; {_MOST_ENTRIES} are the most")
    if sum(info.file_size for info in infos) > most:
        raise BadInput(f"the npz holds more than {most:,} bytes")
    names = set()
    for info in infos:
        if not info.filename.endswith(".npy") or info.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):
            raise BadInput("an npz has entries NAME.npy, stored or deflated")
        if info.flag_bits & 1 or info.filename in names:
            raise BadInput("the npz has an entry that is encrypted, or has a name twice")
        names.add(info.filename)
        yield info.filename.removesuffix(".npy"), info


def _entry(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """An array, after its header has said what the entry holds."""
    with file.open(info) as stream:
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise BadInput(f"{info.filename} is of version {version}")
        shape, is_fortran, dtype = _header(stream, version)
        if dtype.hasobject or dtype.fields is not None or dtype.kind not in "biufc":
            raise BadInput(f"{info.filename} holds {dtype}, and no numbers")
        if len(shape) > _MOST_DIMENSIONS or any(not 0 <= size < 1 << 48 for size in shape):
            raise BadInput(f"{info.filename} has no shape")
        size = math.prod(shape) * dtype.itemsize
        if size != info.file_size - stream.tell():
            raise BadInput(f"{info.filename} holds another number of bytes than its shape says")
        data = bytearray(stream.read(size + 1))  # one more, so that the sum of the entry is compared
    if len(data) != size:
        raise BadInput(f"{info.filename} ends too early")
    flat = np.frombuffer(data, dtype=dtype).astype(dtype.newbyteorder("="), copy=False)
    return flat.reshape(shape, order="F" if is_fortran else "C")


def _header(stream: IO[bytes], version: tuple[int, int]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and dtype of an array; what NumPy writes for numbers is read without Python's parser."""
    length = stream.read(2 if version == (1, 0) else 4)
    text = stream.read(min(int.from_bytes(length, "little"), _HEADER))
    usual = _USUAL.fullmatch(text)
    if usual is not None:
        kind, order, sizes = usual.groups()
        return tuple(map(int, sizes.replace(b",", b" ").split())), order == b"True", np.dtype(kind.decode())
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    return read(io.BytesIO(length + text), max_header_size=_HEADER)  # type: ignore[no-any-return]


# ---- answers -----------------------------------------------------------------------------------------


def body_of(result: Any, kind: str, *, most: int) -> bytes:
    """The body of an answer; TooLarge before it is made."""
    if kind == "npz":
        return _npz(result, most)
    if _count(result) * _TEXT > most:
        raise TooLarge(f"the answer would have more than {most:,} bytes; npz is smaller")
    return json.dumps({"outputs": _plain(result)}, allow_nan=False, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    match value:
        case ts.Tensor():
            array = _as_array(value)
            name = _NAMES.get(value.dtype) or str(value.dtype).rpartition(".")[2]
            return {"data": _numbers(array), "dtype": name, "shape": list(array.shape)}
        case bool() | int() | str() | None:
            return value
        case float():
            return value if math.isfinite(value) else _word(value)
        case complex():
            return [_plain(value.real), _plain(value.imag)]
        case Mapping():
            return {str(key): _plain(each) for key, each in value.items()}
        case tuple() if hasattr(value, "_fields"):
            return {name: _plain(each) for name, each in zip(value._fields, value, strict=True)}
        case list() | tuple():
            return [_plain(each) for each in value]
    raise BadInput(f"the model returned {type(value).__name__}, which JSON does not have")


def _numbers(array: NDArray[Any]) -> Any:
    if array.dtype.kind == "c":  # pairs of real and imaginary parts
        array = np.stack([array.real, array.imag], -1)
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array.tolist()
    return _with_names(array.tolist())


def _with_names(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_names(each) for each in value]
    return value if math.isfinite(value) else _word(value)


def _word(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _count(value: Any) -> int:
    """How many numbers a value has, a character being one."""
    match value:
        case ts.Tensor():
            return int(value.numel()) * (2 if value.is_complex() else 1) + 4
        case str():
            return len(value)
        case Mapping():
            return sum(_count(each) + 2 for each in value.values())
        case list() | tuple():
            return sum(_count(each) for each in value) + 1
    return 1


def _npz(result: Any, most: int) -> bytes:
    arrays = {name or "out": _as_array(part) for name, part in _parts(result, "")}
    if sum(array.nbytes + 256 for array in arrays.values()) > most:
        raise TooLarge(f"the answer would have more than {most:,} bytes")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)
    return out.getvalue()


def _parts(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """What a value holds that is no container, by names as `ts run -o out.npz` has them."""
    if isinstance(value, Mapping):
        parts = [(str(key), part) for key, part in value.items()]
    elif hasattr(value, "_fields"):
        parts = list(zip(value._fields, value, strict=True))
    elif isinstance(value, list | tuple):
        parts = [(str(number), part) for number, part in enumerate(value)]
    else:
        if value is not None:
            yield name, value
        return
    for part_name, part in parts:
        yield from _parts(part, f"{name}.{part_name}" if name else part_name)


def _as_array(value: Any) -> NDArray[Any]:
    if isinstance(value, ts.Tensor):
        array: NDArray[Any] = value.detach().cpu().numpy()
        return array if array.dtype.isbuiltin == 1 else array.astype(np.float32)  # npy has no bfloat16
    if isinstance(value, bool | int | float | complex | str):
        return np.asarray(value)
    raise BadInput(f"the model returned {type(value).__name__}, which files of arrays do not hold")
