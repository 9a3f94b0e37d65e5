"""Archive writer for TorchScript, for `ts.jit.load` and for PyTorch's `torch.jit.load`.

Input: the object of a scripted module, a path or an open file, and extra files. Output: an archive. Example:

    write(module.archived(), "model.pt", {"labels.txt": "cat\\ndog"})

`ts.archive.module_reader` describes the layout. The contents of each record begin at a multiple of 64 bytes,
so that they can be mapped into memory. A file is written under a temporary name, and replaces the old file
when it is complete.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from typing import IO, Any, Final

from ts._core.value.objects import Object
from ts.archive.debug_info import write_source_locations
from ts.archive.pickler import Pickler
from ts.archive.storages import StorageWriter
from ts.archive.zip_writer import write_atomically, write_record
from ts.errors import ArchiveError
from ts.ir.attributes import type_of_constant
from ts.ir.class_printer import ArchiveNamespace, DefinitionPrinter
from ts.ir.graph import Graph
from ts.ir.types import NONE, TupleType

ExtraFiles = Mapping[str, str | bytes] | None

_OLDEST_VERSION: Final = 3
# First format version whose archives store the version in the record `.data/version`. Older archives store it
# in the record `version`.
_MIN_DATA_VERSION_ENTRY: Final = 6


def write(handle: Object, f: str | os.PathLike[str] | IO[bytes], extra_files: ExtraFiles = None) -> None:
    """Write the object of a module to a path or to an open file."""
    if isinstance(f, str | os.PathLike):
        write_atomically(os.fspath(f), lambda file, name: _write(handle, file, name, extra_files))
    else:
        f.write(to_bytes(handle, extra_files))


def to_bytes(handle: Object, extra_files: ExtraFiles = None) -> bytes:
    """Return the archive of a module as bytes."""
    buffer = io.BytesIO()
    _write(handle, buffer, "archive", extra_files)
    return buffer.getvalue()


def _write(handle: Object, file: IO[bytes], root: str, extra_files: ExtraFiles) -> None:
    with zipfile.ZipFile(file, "w") as zip_file:
        ArchiveWriter(zip_file, root).write(handle, extra_files or {})


class ArchiveWriter:
    """Writer of the records of an archive."""

    def __init__(self, file: zipfile.ZipFile, root: str) -> None:
        self.file = file
        self.root = root
        self.names = ArchiveNamespace()
        self.constants: list[Any] = []
        self.version = _OLDEST_VERSION
        self.digest = hashlib.sha256()

    def write(self, handle: Object, extra_files: Mapping[str, str | bytes]) -> None:
        """Write all records of the archive of a module."""
        for name, contents in extra_files.items():
            self.record(f"extra/{name}", contents.encode() if isinstance(contents, str) else contents)
        self.pickle("data", handle, handle.cls.type)
        self.code()
        types = [type_of_constant(value) for value in self.constants]
        if None in types:
            raise ArchiveError(f"the constant {self.constants[types.index(None)]!r} cannot be saved")
        self.pickle("constants", tuple(self.constants), TupleType(type for type in types if type is not None))
        version = "version" if self.version < _MIN_DATA_VERSION_ENTRY else ".data/version"
        self.record(version, f"{self.version}\n".encode())
        self.record("byteorder", b"little")
        identity = int.from_bytes(self.digest.digest()[:16], "big")
        self.record(".data/serialization_id", f"{identity:040d}".encode())

    def pickle(self, archive: str, value: Any, type: Any) -> None:
        """Write the storages of the tensors in a value, then the pickle of the value."""
        storages = StorageWriter()
        data = Pickler(self.names.format_type, self.names.name, storages.storage_ref).dump(value, type)
        for key, elements in storages.arrays.items():
            self.record(f"{archive}/{key}", elements.data)
        self.record(f"{archive}.pkl", data)

    def code(self) -> None:
        """Write the source files of all definitions that the data of the module refers to."""
        files: dict[str, list[str]] = {}
        printers: dict[str, DefinitionPrinter] = {}
        # The loop also visits the definitions that it appends to the list.
        for function_or_class in self.names.definitions:
            prefix = self.names.name(function_or_class).rpartition(".")[0]
            printer = printers.get(prefix)
            if printer is None:
                printer = DefinitionPrinter(self.names, self.constants, self.check)
                printers[prefix], files[prefix] = printer, []
            constant_count = len(self.constants)
            files[prefix].append(printer.definition(function_or_class))
            # Formatting the type of a constant adds its class to the definitions.
            for constant in self.constants[constant_count:]:
                self.names.format_type(type_of_constant(constant) or NONE)
        for prefix, definitions in files.items():
            source, locations = printers[prefix].marks.split("".join(definitions) + "\n")
            name = f"code/{prefix.replace('.', '/')}.py"
            self.record(name, source.encode(), zipfile.ZIP_DEFLATED)
            self.record(f"{name}.debug_pkl", write_source_locations(locations), zipfile.ZIP_DEFLATED)

    def check(self, function: Any) -> None:
        """Raise ArchiveError if `function` calls a Python function.

        Otherwise, increase `version`, if necessary, to the first format version that has all operators of
        `function`. Old releases of PyTorch can load archives with low versions.
        """
        graph: Graph = function.graph
        for node in graph.all_nodes():
            kind = node.kind()
            operator = node.operator()
            if operator is not None and operator.record is not None:
                self.version = max(self.version, operator.record.since)
            if kind == "prim::PythonOp":
                name = node.get("name")
                where = node.range.highlight() if node.range is not None else ""
                raise ArchiveError(
                    f"\nCould not export Python function call '{name}'. Remove calls to Python functions "
                    "before export. Did you forget to add @script or @script_method annotation? If this is a "
                    f"nn.ModuleList, add it to __constants__:\n{where}"
                )

    def record(self, name: str, data: bytes | memoryview, method: int = zipfile.ZIP_STORED) -> None:
        """Write a record and add its bytes to the digest."""
        write_record(self.file, f"{self.root}/{name}", data, method)
        self.digest.update(data)
