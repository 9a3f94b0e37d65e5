"""Writer of script values for the operator `aten::save`.

The writer creates a ZIP file in the format of `torch.save`, which `torch.load` and `ts.load` can read:

    save_script_value(value, "state.pt")

The file contains these records:

    archive/data.pkl        the value. Lists and dictionaries contain their types, as in archives of modules
    archive/data/0          the bytes of a storage

Objects of script classes are written by name and attributes, without the code of the class.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from typing import IO, Any, Final

from ts._core.value.spec import KINDS, TypeSpec
from ts._core.value.type_of import infer_spec
from ts.archive.pickler import Pickler
from ts.archive.storages import StorageWriter
from ts.archive.zip_writer import write_atomically, write_record
from ts.errors import ArchiveError
from ts.frontend.enums import enum_type
from ts.ir.class_printer import ArchiveNamespace
from ts.ir.types import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STR,
    TENSOR,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)

_ROOT: Final = "archive"
_VERSION: Final = 3
_SIMPLE_TYPES: Final[dict[int, Type]] = {
    KINDS[type.kind()]: type for type in (ANY, NONE, INT, FLOAT, BOOL, COMPLEX, STR, NUMBER, TENSOR, DEVICE)
}


def save_script_value(value: Any, filename: str) -> None:
    """Write a value of a script to a file. An existing file is replaced.

    Raise ArchiveError if the folder does not exist, or if the value contains an object without attributes,
    such as a future.
    """
    write_atomically(filename, lambda file, _: _write(value, file))


def _write(value: Any, file: IO[bytes]) -> None:
    storages = StorageWriter()
    names = ArchiveNamespace()
    pickler = Pickler(names.format_type, names.name, storages.storage_ref)
    data = pickler.dump(value, type_of_spec(infer_spec(value)))
    with zipfile.ZipFile(file, "w") as archive:
        for key, elements in storages.arrays.items():
            write_record(archive, f"{_ROOT}/data/{key}", elements.data)
        write_record(archive, f"{_ROOT}/data.pkl", data)
        write_record(archive, f"{_ROOT}/version", f"{_VERSION}\n".encode())
        write_record(archive, f"{_ROOT}/byteorder", b"little")


def type_of_spec(spec: TypeSpec) -> Type:
    """Return the type that the type descriptor `spec` describes.

    Dtypes and other values that scripts represent by int codes get the type `int`.

    Raise ArchiveError if values of the type cannot be saved.
    """
    simple = _SIMPLE_TYPES.get(spec.kind)
    if simple is not None:
        return simple
    build = _BUILD.get(spec.kind)
    if build is None:
        raise ArchiveError(f"a value of type {spec.annotation_str} cannot be saved")
    return build(spec)


def _tuple_type(spec: TypeSpec) -> Type:
    elements = [type_of_spec(child) for child in spec.children]
    if not spec.detail:
        return TupleType(elements)
    if isinstance(spec.detail, tuple):
        name, fields = spec.detail
        return TupleType(elements, name, list(fields))
    return TupleType(elements, spec.annotation_str, list(spec.detail._fields))


def _class_type(spec: TypeSpec) -> Type:
    # `spec.detail` is a type for an interface, and a Python class for a script class.
    class_type: Type = spec.detail if isinstance(spec.detail, Type) else spec.detail.type
    return class_type


_BUILD: Final[dict[int, Callable[[TypeSpec], Type]]] = {
    KINDS["ListType"]: lambda spec: ListType(type_of_spec(spec.children[0])),
    KINDS["DictType"]: lambda spec: DictType(*map(type_of_spec, spec.children)),
    KINDS["OptionalType"]: lambda spec: OptionalType(type_of_spec(spec.children[0])),
    KINDS["UnionType"]: lambda spec: UnionType([type_of_spec(child) for child in spec.children]),
    KINDS["TupleType"]: _tuple_type,
    KINDS["ClassType"]: _class_type,
    KINDS["EnumType"]: lambda spec: enum_type(spec.detail),
}
