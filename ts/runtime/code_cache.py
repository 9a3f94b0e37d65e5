"""Code of archives on disk: what a process has compiled, the next one reads.

In: a function of an archive that is called for the first time.  Out: its code, if a process before left it:

    entry = entry_of(function)          None where nothing is kept, or may be
    entry.read()                        the Code, or None
    entry.keep(program)                 for the next process

    ~/.cache/ts/1f/9a…c3.json           $TS_CACHE_DIR, or else $XDG_CACHE_HOME/ts; TS_CACHE=0: none

The name of a file is the hash of all that the code follows from: the archive's source and constants, this
build of `ts`, what new tensors are by default.  Of what a file says nothing is believed: its own hash has to
fit, names are looked up in the archive at hand, and `Code` verifies the instructions.  One that does not fit
is as good as none.  The folder is the user's own, or it is not used.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ts._core.value.fitting import fits
from ts._core.vm.code import Code
from ts.bytecode.program import (
    NotPlainError,
    Place,
    Program,
    constant_data,
    constant_of,
    plain,
    program_of,
    spec_of,
    spec_text,
)
from ts.bytecode.typespec import argument_spec
from ts.dtypes import get_default_dtype
from ts.errors import LimitExceeded
from ts.frontend.hashing import blake2b
from ts.passes import log
from ts.passes.inline import get_inline_everything_mode

if TYPE_CHECKING:
    from ts.runtime.function import ScriptFunction

_FORMAT: Final = 1
_MOST_BYTES: Final = 8 << 20  # of one file
_MOST_FILES: Final = 4_096  # then the oldest eighth goes


class Entry:
    """The file of one function's code."""

    def __init__(self, path: Path, function: ScriptFunction) -> None:
        self._path = path
        self._function = function
        unit = function.unit
        self._place = Place(unit.type, self._compiled, unit.sources, unit.constants)

    def read(self) -> Code | None:
        """The code, and the function's signature if it has none yet; None if no file fits."""
        if not _is_ours(self._path.parent):
            return None
        try:
            digest, _, body = _read(self._path).partition(b"\n")
        except OSError:
            return None
        if digest != _digest(body).encode():
            return None
        try:
            data = json.loads(body)
            code = program_of(data["program"], self._place).code()
            arguments = [self._argument(*argument) for argument in data["arguments"]]
            result = spec_of(data["result"], self._place)
            specs = [spec for _, spec, *_ in arguments]
            if len(specs) != len(code.parameters) or not all(map(fits, specs, code.parameters)):
                return None
            if not fits(code.result, result):
                return None
            self._function.adopt(arguments, data["declaration"], data["by_name"], result)
        except LimitExceeded:
            raise
        except Exception:  # whatever it is that does not fit: then the function is compiled
            return None
        return code

    def keep(self, program: Program) -> None:
        """Write the file, unless data cannot say the program, or the folder cannot be written to."""
        try:
            data = {
                "program": plain(program, self._place),
                "arguments": [self._argument_data(*argument) for argument in self._function.arguments],
                "declaration": self._function.declaration,
                "by_name": sum(a.kwarg_only for a in self._function.schema.arguments),
                "result": spec_text(self._function.result, self._place),
            }
        except NotPlainError:
            return
        body = json.dumps(data, separators=(",", ":")).encode()
        if len(body) > _MOST_BYTES:
            return
        try:
            _write(self._path, _digest(body).encode() + b"\n" + body)
        except OSError:  # a disk that is full, a home that cannot be written to
            return

    def _compiled(self, name: str) -> Any:
        """A function that is called: code is verified against its arguments, which its graph has."""
        function = self._function.unit.function(name)
        if function is not None:
            function.ensure_compiled()
        return function

    def _argument_data(self, name: str, spec: Any, *default: Any) -> list[Any]:
        values = (constant_data(x, self._place) for x in default)
        return [name, spec_text(spec, self._place, argument_spec), *values]

    def _argument(self, name: str, text: str, *default: Any) -> tuple[Any, ...]:
        values = (constant_of(x, self._place) for x in default)
        return name, spec_of(text, self._place, argument_spec), *values


def entry_of(function: ScriptFunction) -> Entry | None:
    """Where the code of a function of an archive is kept; None where it is not, as under some switches."""
    unit = function.unit
    if unit.terms.restricted or log.is_configured() or get_inline_everything_mode():
        return None
    folder = cache_folder()
    if folder is None or unit.fingerprint is None:
        return None
    dtype = str(get_default_dtype())
    words = [_FORMAT, _build(), sys.version, dtype, unit.fingerprint, function.qualified_name]
    name = _digest(json.dumps(words).encode())
    return Entry(folder / name[:2] / f"{name[2:]}.json", function)


def cache_folder() -> Path | None:
    """The folder of kept code; None where nothing is to be kept."""
    if os.environ.get("TS_CACHE", "1") in ("", "0"):
        return None
    chosen = os.environ.get("TS_CACHE_DIR")
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "ts")
    except RuntimeError:  # a user without a home
        return None


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=32).hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_ours(path.parent):
        return
    from tempfile import mkstemp  # only here: it takes longer to import than a file to read

    handle, temporary = mkstemp(dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    _trim(path.parent)


def _read(path: Path) -> bytes:
    """What is in a file, if it is one that `keep` may have written: no pipe, no device, nothing larger."""
    found = path.stat()
    return path.read_bytes() if stat.S_ISREG(found.st_mode) and found.st_size <= 2 * _MOST_BYTES else b""


def _is_ours(folder: Path) -> bool:
    """Whether nobody else can write to a folder."""
    try:
        found = folder.stat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _trim(folder: Path) -> None:
    """Keep one of the 256 folders within its part of the number of files."""
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    most = _MOST_FILES // 256
    for file in files[: len(files) - most + most // 8] if len(files) > most else ():
        file.unlink(missing_ok=True)


@cache
def _build() -> str:
    """What tells this build of `ts` from any other: its files, as they were when it was imported."""
    spec = find_spec("ts.backends")
    backends = () if spec is None else spec.submodule_search_locations or ()
    roots = [Path(__file__).parents[1], *map(Path, backends)]
    return _digest("\n".join(line for root in roots for line in _listing(str(root))).encode())


def _listing(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _listing(entry.path)
            elif entry.name.endswith((".py", ".so", ".pyd")):
                found = entry.stat()
                yield f"{entry.path} {found.st_mtime_ns} {found.st_size}"
