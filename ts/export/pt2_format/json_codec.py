"""JSON codec for the classes of `ts.export.pt2_format.schema`.

Each line shows a call and its result:

    read('{"name": "x"}', schema.Name, "model.json")       Name("x")
    write(Name("x"))                                       '{"name": "x"}'

Files are untrusted. A JSON value of a wrong type raises an ArchiveError that names the field.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from ts._core.thread import deadline
from ts.errors import ArchiveError
from ts.export.pt2_format import schema
from ts.export.pt2_format.schema import TaggedUnion

# estimated number of bytes that the decoded objects occupy in memory, for each byte of JSON text
_BYTES_EACH: Final = 20
_NANOSECONDS_EACH: Final = 20
_MAX_NESTING_DEPTH: Final = 300  # maximum nesting depth of objects and lists
_FLOATS: Final = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
# String literals. A literal without closing quote extends to the end of the text.
_STRINGS: Final = re.compile(r'"(?:[^"\\]|\\.?)*(?:"|$)', re.DOTALL)
_MARKS: Final = re.compile(r"[\[{\]}]")
_Reads = Callable[[Any, str], Any]


def read(text: str, cls: Any, record: str) -> Any:
    """Decode JSON text to an object of class `cls`. `record` is the record's name in error messages."""
    return _reader(cls)(parse(text, record), record)


def parse(text: str, record: str) -> Any:
    """Parse strict JSON. Duplicate keys, NaN and deep nesting raise ArchiveError."""
    deadline.charge(_NANOSECONDS_EACH * len(text), bytes=_BYTES_EACH * len(text))
    if _depth(text) > _MAX_NESTING_DEPTH:
        raise ArchiveError(f"{record} is nested too deeply")
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"{record} is not valid JSON: {error}") from None


def _depth(text: str) -> int:
    """Return the maximum nesting depth of objects and lists, or 0 if the limit cannot be exceeded.

    The limit cannot be exceeded if the text has at most `_MAX_NESTING_DEPTH` opening brackets.
    """
    if text.count("[") + text.count("{") <= _MAX_NESTING_DEPTH:
        return 0
    deepest = depth = 0
    for mark in _MARKS.findall(_STRINGS.sub("", text)):
        depth += 1 if mark in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("an object has a duplicate key")
    return mapping


def _constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")


def _type_mismatch(where: str, expected: str) -> ArchiveError:
    return ArchiveError(f"{where} is not {expected}")


@cache
def _reader(kind: Any) -> _Reads:
    """Return the decoder function of a type annotation."""
    origin = typing.get_origin(kind)
    if origin is list:
        return _list_reader(_reader(*typing.get_args(kind)))
    if origin is dict:
        return _dict_reader(typing.get_args(kind)[1])
    if origin is types.UnionType:
        return _optional_reader(_reader(typing.get_args(kind)[0]))
    if isinstance(kind, type) and issubclass(kind, TaggedUnion):
        return _choice_reader(kind)
    if dataclasses.is_dataclass(kind):
        return _object_reader(kind)
    return _PLAIN[kind]


def _read_int(value: Any, where: str) -> int:
    if type(value) is not int or not -(1 << 63) <= value < 1 << 64:
        raise _type_mismatch(where, "a 64-bit integer")
    return value


def _read_bool(value: Any, where: str) -> bool:
    if type(value) is not bool:
        raise _type_mismatch(where, "true or false")
    return value


def _read_float(value: Any, where: str) -> float:
    if type(value) is float:
        return value
    if type(value) is int:
        return float(_read_int(value, where))
    if type(value) is str and value in _FLOATS:
        return _FLOATS[value]
    raise _type_mismatch(where, "a float")


def _read_str(value: Any, where: str) -> str:
    if type(value) is not str:
        raise _type_mismatch(where, "a string")
    return value


_PLAIN: Final[dict[Any, _Reads]] = {int: _read_int, bool: _read_bool, float: _read_float, str: _read_str}


def _list_reader(item: _Reads) -> _Reads:
    def read_list(value: Any, where: str) -> list[Any]:
        if type(value) is not list:
            raise _type_mismatch(where, "a list")
        return [item(x, where) for x in value]

    return read_list


def _dict_reader(kind: Any) -> _Reads:
    def read_dict(value: Any, where: str) -> dict[str, Any]:
        if type(value) is not dict:
            raise _type_mismatch(where, "an object")
        item = _reader(kind)  # created at use, because types may be recursive
        return {name: item(x, f"{where}: {name}") for name, x in value.items()}

    return read_dict


def _optional_reader(item: _Reads) -> _Reads:
    return lambda value, where: None if value is None else item(value, where)


def _choice_reader(cls: Any) -> _Reads:
    readers: dict[str, _Reads] = {}

    def read_choice(value: Any, where: str) -> Any:
        if type(value) is not dict or len(value) != 1:
            raise _type_mismatch(where, f"an object with one entry, {cls.__name__}")
        ((kind, inner),) = value.items()
        item = readers.get(kind)
        if item is None:
            if kind not in cls.kinds:
                raise ArchiveError(f"{where}: {cls.__name__} has the unknown kind {kind[:80]!r}")
            item = readers[kind] = _reader(cls.kinds[kind])
        return cls(kind, item(inner, where))

    return read_choice


def _object_reader(cls: Any) -> _Reads:
    fields = dataclasses.fields(cls)
    needed = {f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING}
    hints = typing.get_type_hints(cls, vars(schema))
    readers: list[tuple[str, _Reads]] = []

    def read_object(value: Any, where: str) -> Any:
        if type(value) is not dict:
            raise _type_mismatch(where, f"an object, {cls.__name__}")
        if not readers:  # the list is filled at the first use, because types may be recursive
            # Assign to a slice, which is atomic, so that no other thread sees a partly filled list.
            readers[:] = [(f.name, _reader(hints[f.name])) for f in fields]
        if not needed <= value.keys():
            raise ArchiveError(f"{where}: {cls.__name__} has no {min(needed - value.keys())}")
        return cls(**{name: item(value[name], name) for name, item in readers if name in value})

    return read_object


def write(value: Any) -> str:
    """Encode an object as JSON."""
    return json.dumps(_to_json(value), allow_nan=False)


def _to_json(value: Any) -> Any:
    if isinstance(value, TaggedUnion):
        return {value.kind: _to_json(value.value)}
    if isinstance(value, list):
        return [_to_json(x) for x in value]
    if isinstance(value, dict):
        return {name: _to_json(x) for name, x in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if dataclasses.is_dataclass(value):
        return {f.name: _to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return value
