"""What the command line names: files, and the functions in them.

In: `FILE.py:FUNCTION`.  Out: the scripted function; a UsageError where there is none of that name.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import ts
from ts.jit import ScriptFunction
from ts.runtime.module import RecursiveScriptModule
from ts.runtime.script_method import ScriptMethod


class UsageError(Exception):
    """The command line is wrong: exit code 2."""


class ProgramError(Exception):
    """The file could not be run: exit code 1."""


def load_module(path: Path) -> ModuleType:
    """Run the file as a module; UsageError where there is no such file, ProgramError where it fails."""
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"not a Python file: {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the user's own code: say where in the file it failed
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f.lineno for f in frames if Path(f.filename).resolve() == path.resolve()]
        place = f"{path}:{lines[-1]}" if lines else f"{path}"
        raise ProgramError(f"{place}: {type(error).__name__}: {error}") from None
    return module


def functions_of(module: ModuleType) -> dict[str, Any]:
    """The functions that the file itself defines, plain or scripted, and its `nn.Module` objects, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, ScriptFunction | RecursiveScriptModule | ts.nn.Module)
        or (inspect.isfunction(value) and value.__module__ == module.__name__)
    }


def load_function(target: str) -> ScriptFunction | ScriptMethod:
    """The scripted function that `FILE.py:FUNCTION` names."""
    path, colon, name = target.rpartition(":")
    if not colon:
        raise UsageError(f"expected FILE.py:FUNCTION, got {target!r}")
    functions = functions_of(load_module(Path(path)))
    if name not in functions:
        known = ", ".join(sorted(functions)) or "none"
        raise UsageError(f"{path} defines no function {name!r}; it defines: {known}")
    return compiled(functions[name])


def compiled(function: Any) -> ScriptFunction | ScriptMethod:
    """The scripted function; of a module, its forward."""
    found: Any = ts.jit.script(function)
    if isinstance(found, RecursiveScriptModule):
        found = found.forward
    scripted: ScriptFunction | ScriptMethod = found
    return scripted
