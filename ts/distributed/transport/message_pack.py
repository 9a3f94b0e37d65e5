"""MessagePack encoding of plain data, with a depth limit for nested values.

The two functions are inverse to each other:

    encode({"op": "sum", "data": [1, 2.5]})     returns bytes
    decode(data)                                returns the value, or raises ValueError if data is malformed

Decoded lists are tuples. Values can be None, bool, 64-bit int, float, str, bytes, lists, tuples and dicts
with str or bytes keys. Other values and extension types raise an error. The package `msgpack` does the
encoding if it is installed. The bytes are the same without it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

try:
    import msgpack
except ModuleNotFoundError:
    msgpack = None

MAX_NESTING_DEPTH: Final = 511  # maximum nesting depth of lists and dicts, which is that of msgpack's packer
_MIN_SCANNED_BYTES: Final = 4096

ObjectHook = Callable[[dict[Any, Any]], Any]


def encode(value: Any) -> bytes:
    """Encode a value. Raise TypeError if it is not plain data, and OverflowError for ints above 64 bits."""
    if msgpack is not None:
        data: bytes = msgpack.packb(value, buf_size=1024)
        return data
    out = bytearray()
    try:
        _encode(value, out, MAX_NESTING_DEPTH)
    except RecursionError:
        raise ValueError("recursion limit exceeded") from None
    return bytes(out)


def decode(data: bytes | memoryview, object_hook: ObjectHook | None = None) -> Any:
    """Decode a value. `object_hook` replaces each dict. Raise ValueError if `data` is malformed."""
    if msgpack is None:
        decoder = _Decoder(memoryview(data), object_hook)
        value = decoder.decode()
        if decoder.position != len(data):
            raise ValueError(f"{len(data) - decoder.position} unexpected bytes after the value")
        return value
    try:
        if len(data) > _MIN_SCANNED_BYTES:
            _scan(data)
        return msgpack.unpackb(
            data, use_list=False, object_hook=object_hook, max_ext_len=0, ext_hook=_reject_extension
        )
    except msgpack.UnpackException as error:
        raise ValueError(str(error)) from error


def _scan(data: bytes | memoryview) -> None:
    """Raise an error if the length of a list or string exceeds the remaining data.

    Without this check, nested lists that each declare a large length could exhaust the memory.
    """
    scanner = msgpack.Unpacker(max_buffer_size=len(data))
    scanner.feed(data)
    scanner.skip()


def _reject_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"unsupported extension type {code}")


# ---- implementation without `msgpack` --------------------------------------------------------------------

_INT_FORMATS: Final = {
    0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_FLOAT_FORMATS: Final = {0xCA: ">f", 0xCB: ">d"}
_NUMBER_FORMATS: Final = {
    code: struct.Struct(format) for code, format in (_INT_FORMATS | _FLOAT_FORMATS).items()
}
_CONSTANTS: Final = {0xC0: None, 0xC2: False, 0xC3: True}
_LENGTH_FORMATS: Final = {1: struct.Struct(">B"), 2: struct.Struct(">H"), 4: struct.Struct(">I")}
# type code of a bytes value -> size of the length field after the code
_BYTES_CODES: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_STR_CODES: Final = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_LIST_CODES: Final = {0xDC: 2, 0xDD: 4}
_DICT_CODES: Final = {0xDE: 2, 0xDF: 4}


def _encode(value: Any, out: bytearray, nesting: int) -> None:
    if nesting < 0:
        raise ValueError("recursion limit exceeded")
    match value:
        case None:
            out.append(0xC0)
        case bool():
            out.append(0xC3 if value else 0xC2)
        case int():
            _encode_int(value, out)
        case float():
            out += b"\xcb" + _NUMBER_FORMATS[0xCB].pack(value)
        case str():
            data = value.encode()
            _encode_length(len(data), out, 0xA0, 32, _STR_CODES)
            out += data
        case bytes() | bytearray() | memoryview():
            view = memoryview(value)
            _encode_length(view.nbytes, out, 0, 0, _BYTES_CODES)
            out += view.tobytes()
        case list() | tuple():
            _encode_length(len(value), out, 0x90, 16, _LIST_CODES)
            for each in value:
                _encode(each, out, nesting - 1)
        case dict():
            _encode_length(len(value), out, 0x80, 16, _DICT_CODES)
            for name, each in value.items():
                _encode(name, out, nesting - 1)
                _encode(each, out, nesting - 1)
        case _:
            raise TypeError(f"can not serialize {type(value).__name__!r} object")


def _encode_int(value: int, out: bytearray) -> None:
    """Append the shortest encoding of an int."""
    if -32 <= value < 128:
        out += struct.pack(">b", value)
        return
    codes = (0xCC, 0xCD, 0xCE, 0xCF) if value >= 0 else (0xD0, 0xD1, 0xD2, 0xD3)
    for code in codes:
        try:
            out += bytes((code,)) + _NUMBER_FORMATS[code].pack(value)
        except struct.error:
            continue
        return
    raise OverflowError("Integer value out of range")


def _encode_length(
    length: int, out: bytearray, short_code: int, short_limit: int, codes: dict[int, int]
) -> None:
    """Append the type code and the length of a value.

    If the length is below `short_limit`, the code contains it.
    """
    if length < short_limit:
        out.append(short_code | length)
        return
    for code, size in codes.items():
        if length < 1 << 8 * size:
            out.append(code)
            out += _LENGTH_FORMATS[size].pack(length)
            return
    raise ValueError(f"{length} elements or bytes are too many for one value")


class _Container:
    """List or dict that is being decoded. The elements of a dict are alternating keys and values."""

    __slots__ = ("elements", "is_dict", "missing")

    def __init__(self, is_dict: bool, count: int) -> None:
        self.is_dict, self.missing = is_dict, 2 * count if is_dict else count
        self.elements: list[Any] = []

    def add(self, value: Any) -> None:
        """Add the next element. Raise ValueError for a key of a dict that is neither text nor bytes."""
        if self.is_dict and not len(self.elements) % 2 and not isinstance(value, str | bytes):
            raise ValueError(f"{type(value).__name__} is not allowed for map key")
        self.elements.append(value)
        self.missing -= 1

    def value(self, object_hook: ObjectHook | None) -> Any:
        """Return the tuple or dict, or the result of `object_hook` for a dict."""
        if not self.is_dict:
            return tuple(self.elements)
        mapping = dict(zip(self.elements[::2], self.elements[1::2], strict=True))
        return mapping if object_hook is None else object_hook(mapping)


class _Decoder:
    """Decoder of one value in Python, which compares each length with the number of remaining bytes."""

    def __init__(self, data: memoryview, object_hook: ObjectHook | None) -> None:
        self._data = data
        self._object_hook = object_hook
        self.position = 0

    def decode(self) -> Any:
        """Return the value. Raise ValueError if it is malformed or nested too deeply."""
        containers: list[_Container] = []
        while True:
            value = self._next()
            if isinstance(value, _Container):
                if len(containers) >= MAX_NESTING_DEPTH:
                    raise ValueError("values are nested too deeply")
                containers.append(value)
            elif not containers:
                return value
            else:
                containers[-1].add(value)
            while not containers[-1].missing:
                value = containers.pop().value(self._object_hook)
                if not containers:
                    return value
                containers[-1].add(value)

    def _next(self) -> Any:
        """Return the next scalar, text or bytes, or an empty _Container for a list or dict."""
        code = self._take(1)[0]
        if code < 0x80:
            return code
        if code >= 0xE0:
            return code - 0x100
        if code in _CONSTANTS:
            return _CONSTANTS[code]
        if code in _NUMBER_FORMATS:
            return _NUMBER_FORMATS[code].unpack(self._take(_NUMBER_FORMATS[code].size))[0]
        if code < 0x90:
            return self._container(True, code & 0x0F)
        if code < 0xA0:
            return self._container(False, code & 0x0F)
        if code < 0xC0:
            return str(self._take(code & 0x1F), "utf-8")
        if code in _STR_CODES:
            return str(self._take(self._length(_STR_CODES[code])), "utf-8")
        if code in _BYTES_CODES:
            return bytes(self._take(self._length(_BYTES_CODES[code])))
        if code in _LIST_CODES:
            return self._container(False, self._length(_LIST_CODES[code]))
        if code in _DICT_CODES:
            return self._container(True, self._length(_DICT_CODES[code]))
        raise ValueError(f"unknown type code {code:#x}")

    def _take(self, count: int) -> memoryview:
        begin, end = self.position, self.position + count
        if end > len(self._data):
            raise ValueError(f"{count} bytes are announced, {len(self._data) - begin} are left")
        self.position = end
        return self._data[begin:end]

    def _length(self, size: int) -> int:
        length: int = _LENGTH_FORMATS[size].unpack(self._take(size))[0]
        return length

    def _container(self, is_dict: bool, count: int) -> _Container:
        container = _Container(is_dict, count)
        remaining_bytes = len(self._data) - self.position
        if container.missing > remaining_bytes:  # each missing element needs at least one byte
            raise ValueError(f"{container.missing} elements are announced, {remaining_bytes} bytes are left")
        return container
