"""Reading and writing of `.pt2` archives, compatible with PyTorch 2.13.

`save(program, "model.pt2")` writes a file that PyTorch can load. `load` also reads the files of PyTorch.

    container.py                 the records of the zip file
    schema.py, json_codec.py     the classes of JSON objects, and their conversion from and to text
    reader.py, writer.py         conversion of JSON objects to an ExportedProgram, and back
    symbols.py                   symbolic sizes
    argument_conditions.py       guards on arguments
    pytree_specs.py              pytree specs of arguments and results
    call_targets.py              call targets of nodes
    tensors.py                   weights and constants

Files are untrusted. The reader validates sizes, types and names, and executes and imports nothing. Invalid
files raise ArchiveError.
"""

from __future__ import annotations

import copyreg
import io
import os
from collections.abc import Mapping
from typing import IO, Any

from ts.errors import ArchiveError
from ts.export.program import ExportedProgram
from ts.export.pt2_format.container import Container, ContainerWriter, open_container, write_container


def load(
    f: str | os.PathLike[str] | IO[bytes],
    *,
    extra_files: dict[str, Any] | None = None,
    expected_opset_version: dict[str, int] | None = None,
) -> ExportedProgram:
    """Load the program of a `.pt2` file.

    The keys of `extra_files` name additional records of the file. The texts of these records become the
    values.
    """
    from ts.export.pt2_format.reader import read

    def read_all(container: Container) -> ExportedProgram:
        if extra_files is not None:
            for name in extra_files:
                record = f"extra/{name}"
                extra_files[name] = container.text(record) if container.has(record) else ""
        return read(container, expected_opset_version)

    try:
        program: ExportedProgram = open_container(f, read_all)
    except RecursionError:
        raise ArchiveError("the file is nested too deeply") from None
    return program


def save(
    ep: ExportedProgram,
    f: str | os.PathLike[str] | IO[bytes],
    *,
    extra_files: Mapping[str, Any] | None = None,
    opset_version: dict[str, int] | None = None,
    pickle_protocol: int = 2,
) -> None:
    """Write a program into a `.pt2` file, with additional records."""
    from ts.export.pt2_format.writer import write

    if not isinstance(ep, ExportedProgram):
        raise TypeError(
            f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}'."
        )

    def write_all(writer: ContainerWriter) -> None:
        write(ep, writer, opset_version)

    write_container(f, write_all, extra_files)


def _program_of_bytes(content: bytes) -> ExportedProgram:
    """Unpickle an `ExportedProgram`: load the program from the bytes of a `.pt2` file."""
    return load(io.BytesIO(content))


def _reduce_program(program: ExportedProgram) -> Any:
    buffer = io.BytesIO()
    save(program, buffer)
    return _program_of_bytes, (buffer.getvalue(),)


copyreg.pickle(ExportedProgram, _reduce_program)  # type: ignore[arg-type]

__all__ = ["load", "save"]
