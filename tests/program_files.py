"""Program files of `tests/programs` and their expected output and errors.

A program is a Python file with a function `main` without arguments, which the tests script, or a file that
does its own scripting and is run as a module (`reference/`: the examples of PyTorch's documentation).
Comments state the expectations:

    print(-7 // 2)      # expect: -4
    print(1.5 + 0.5)    # expect: 2.  (python: 2.0)     if plain Python prints another text
    return x + y        # expect error: undefined value y
    xs[3]               # expect runtime error: list index out of range

Printed lines are expected in the order of their comments in the file.  The error is expected at the line of
its comment, which must be in the underlined range of the message.
"""

from __future__ import annotations

import linecache
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parent / "programs"
_EXPECT = re.compile(r"#\s*expect( error| runtime error)?: ?(.*)$")
_PYTHON = re.compile(r"\s*\(python: (.*)\)$")


def as_module(text: str, module: str) -> str:
    """Return a program's text with its imports of `ts` bound to another module."""
    text = re.sub(r"^import ts$", f"import {module} as ts", text, flags=re.MULTILINE)
    return re.sub(r"^(import|from) ts\b", rf"\1 {module}", text, flags=re.MULTILINE)


def run_text(text: str, filename: str, name: str) -> ModuleType:
    """Run source text as the module `name`; `inspect` finds the source under `filename`, which need not exist."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = ModuleType(name)
    module.__file__ = filename
    sys.modules[name] = module  # `inspect` finds the source of a class through `sys.modules`
    exec(compile(text, filename, "exec", dont_inherit=True), vars(module))
    return module


@dataclass
class Program:
    """A program's text and its expectations."""

    path: Path
    text: str
    output: list[str] = field(default_factory=list)
    python_output: list[str] = field(default_factory=list)
    compile_error: tuple[int, str] | None = None
    runtime_error: tuple[int, str] | None = None

    @property
    def scripts_itself(self) -> bool:
        """Return True for a file without `main`, which runs as a module."""
        return "\ndef main(" not in self.text

    def load(self, module: str = "ts", package: str = "programs") -> Any:
        """Run the file, with its imports of `ts` bound to `module`, and return `main` if it exists. `package`
        is the first part of the module name, because PyTorch renames classes that were compiled before.
        """
        text = as_module(self.text, module)
        program = run_text(text, f"<{module}>/{self.path.name}", f"{package}.{self.path.stem}")
        return getattr(program, "main", None)


def read(path: Path) -> Program:
    """Parse a program file."""
    program = Program(path, path.read_text())
    for number, line in enumerate(program.text.splitlines(), 1):
        match = _EXPECT.search(line)
        if match is None:
            continue
        kind, text = match.groups()
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
    """Return the paths of all program files, sorted by name."""
    return sorted(FOLDER.rglob("*.py"))


def run_family(folder: Path, name: str, package: str) -> ModuleType:
    """Return the module of a file written for PyTorch, with `package` as its `torch`."""
    text = (folder / f"{name}.py").read_text()
    text = re.sub(r"^import torch$", f"import {package} as torch", text, flags=re.MULTILINE)
    text = re.sub(r"^from torch\b", f"from {package}", text, flags=re.MULTILINE)
    return run_text(text, f"<{package}>/{folder.name}/{name}.py", f"{folder.name}_in_{package}.{name}")
