"""Programs of `torch.fx` with equal results in PyTorch and `ts`, one file per subject.

A file is written for PyTorch and runs unchanged; `programs("tracing", "ts")` runs it with `ts` as `torch`.  Each
function of a file whose name begins with `show_` returns strings, numbers and tensors to compare.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import ModuleType

from tests.program_files import run_text

FOLDER = Path(__file__).parent
FILES = tuple(sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"))


@cache
def programs(name: str, package: str) -> ModuleType:
    """Return the module of a file, with `package` as its `torch`."""
    text = (FOLDER / f"{name}.py").read_text()
    text = re.sub(r"^import torch\b(?!\.)(?! as)", f"import {package} as torch", text, flags=re.MULTILINE)
    text = re.sub(r"^import torch\.([\w.]+) as", rf"import {package}.\1 as", text, flags=re.MULTILINE)
    text = re.sub(r"^( *)from torch\b", rf"\1from {package}", text, flags=re.MULTILINE)
    return run_text(text, f"<fx {package}>/{name}.py", f"fx_programs_in_{package}.{name}")


def names() -> list[tuple[str, str]]:
    """Return all files and their functions that show something."""
    found = []
    for file in FILES:
        for name in re.findall(r"^def (show_\w+)\(", (FOLDER / f"{file}.py").read_text(), flags=re.MULTILINE):
            found.append((file, name))
    return found
