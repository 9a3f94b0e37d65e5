"""Program files of `tests/programs` and what they expect.

A program is a Python file with a function `main` without arguments.  Comments say what must happen:

    print(-7 // 2)      # expect: -4
    print(1.5 + 0.5)    # expect: 2.  (python: 2.0)     where plain Python prints something else
    return x + y        # expect error: undefined value y
    xs[3]               # expect runtime error: list index out of range

Printed lines are expected in the order in which they stand in the file.  An error is expected at the line
of its comment: that line must be in the underlined range of the message.
"""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "programs"
_EXPECT = re.compile(r"#\s*expect( error| runtime error)?: ?(.*)$")
_PYTHON = re.compile(r"\s*\(python: (.*)\)$")


@dataclass
class Program:
    """A program's text and its expectations."""

    path: Path
    text: str
    output: list[str] = field(default_factory=list)
    python_output: list[str] = field(default_factory=list)
    compile_error: tuple[int, str] | None = None
    runtime_error: tuple[int, str] | None = None

    def load(self, module: str = "ts") -> Any:
        """Run the file, with its `import ts` bound to `module`, and return its `main`."""
        text = self.text.replace("import ts\n", f"import {module} as ts\n")
        filename = f"<{module}>/{self.path.name}"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        namespace: dict[str, Any] = {"__name__": f"programs.{self.path.stem}"}
        exec(compile(text, filename, "exec"), namespace)
        return namespace["main"]


def read(path: Path) -> Program:
    """The program in a file."""
    program = Program(path, path.read_text())
    for number, line in enumerate(program.text.splitlines(), 1):
        found = _EXPECT.search(line)
        if found is None:
            continue
        kind, text = found.groups()
        if kind == " error":
            program.compile_error = (number, text)
        elif kind == " runtime error":
            program.runtime_error = (number, text)
        else:
            other = _PYTHON.search(text)
            program.output.append(text[: other.start()] if other else text)
            program.python_output.append(other.group(1) if other else text)
    return program


def all_programs() -> list[Path]:
    """Every program file, in the order of names."""
    return sorted(FOLDER.rglob("*.py"))
