"""Programs with errors (`tests/errors`) and their complete error messages.

A program is a file with a function `main`, which is scripted and then called (as its `# call:` comment says),
or with a string `UNIT` that is compiled as a `CompilationUnit`.  Its last comment is the complete message:

    # error: CompilationError
    # undefined value y:
    #   File "undefined_name.py", line 5
    # ...

before it, if PyTorch's error differs: `# torch: the first line of its message`, or `# torch: nothing` for
none.  `TS_UPDATE_GOLDEN=1 pytest tests/test_error_files.py` updates the messages; review the
diff before committing it.
"""

from __future__ import annotations

import linecache
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests.program_files import as_module

FOLDER = Path(__file__).parent / "errors"
_ERROR = "\n# error: "
_TORCH = re.compile(r"\n# torch: (.*)\n")
_CALL = re.compile(r"^# call: (main\(.*\))$", re.MULTILINE)


class Expectation(NamedTuple):
    """Contents of a case file: the program, the error's class and message, and PyTorch's first line if it
    differs."""

    text: str
    kind: str
    message: str
    torch: str | None


def read(path: Path) -> Expectation:
    """Parse a case file."""
    text, _, comment = path.read_text().partition(_ERROR)
    kind, _, lines = comment.partition("\n")
    message = "\n".join(line[2:] for line in lines.split("\n"))
    match = _TORCH.search(text + "\n")
    return Expectation(text.rstrip() + "\n", kind, message.strip("\n"), match[1] if match else None)


def write(path: Path, kind: str, message: str) -> None:
    """Write an error message to its case file."""
    comment = "\n".join(f"# {line}".rstrip() for line in message.split("\n"))
    path.write_text(f"{read(path).text}{_ERROR}{kind}\n{comment}\n")


def failure(path: Path, module: str = "ts") -> tuple[str, str] | None:
    """Return the class and message of the program's exception, or None."""
    text = read(path).text
    try:
        _run(path.name, as_module(text, module), module)
    except Exception as error:
        return type(error).__name__, _normal(str(error))
    return None


def _run(filename: str, text: str, module: str) -> None:
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    program = ModuleType(f"errors.{filename.removesuffix('.py')}")
    program.__file__ = filename
    sys.modules[program.__name__] = program
    names = vars(program)
    exec(compile(text, filename, "exec", dont_inherit=True), names)
    jit = __import__(module).jit
    if "UNIT" in names:
        jit.CompilationUnit(names["UNIT"])
        return
    scripted = jit.script(names["main"])
    call = _CALL.search(text)
    eval(call[1] if call else "main()", {"main": scripted})


def _normal(message: str) -> str:
    """Remove text that varies between runs: addresses and frames of the test."""
    message = re.sub(r" \(of Python compilation unit at: 0x[0-9a-f]+\)", "", message)
    message = re.sub(r"(\nAt:\n(?:  \w+\.py\(.*\n)+)(?:  .*\n?)*", r"\1", message)
    return "\n".join(line.rstrip() for line in message.strip("\n").split("\n"))


def all_files() -> list[Path]:
    """Return the paths of all case files, sorted by name."""
    return sorted(FOLDER.rglob("*.py"))
