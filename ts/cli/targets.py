"""Targets of the command line: files, and functions or models in them.

Input: a target. Output: a scripted function, or a UsageError for an unknown name. The targets are:

    FILE.py:NAME             a function, a module, or a module class with a constructor without arguments
    ARCHIVE                  `forward` of its model
    ARCHIVE:METHOD           another method, or with a dotted name a method of a submodule
    ARCHIVE:PART             `forward` of a submodule, such as `model.pt:encoder.layers.0`
    PROGRAM.pt2              an exported program, for commands that support it

A `.py` file is trusted, and is executed. Any other file is read as an archive, and its code is not executed.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import traceback
import zipfile
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from zlib import crc32

import ts
from ts.cli import console
from ts.cli.errors import ProgramError, UsageError, report_read_errors
from ts.jit import ScriptFunction
from ts.runtime.module import RecursiveScriptModule, ScriptModule, method_names
from ts.runtime.script_method import ScriptMethod


class Target(NamedTuple):
    """Path of a file, and the name of a function or model in the file. The name "" means the file itself."""

    path: Path
    name: str

    @property
    def is_program(self) -> bool:
        """Return True if the target is in a Python file."""
        return self.path.suffix == ".py"


def parse_target(argument: str) -> Target:
    """Parse a target argument. Raise UsageError if the file does not exist."""
    if Path(argument).exists():
        return Target(Path(argument), "")
    path, colon, name = argument.rpartition(":")
    if not colon or not Path(path).exists():
        raise UsageError(f"no such file: {path or argument}")
    return Target(Path(path), name)


def is_archive(path: Path) -> bool:
    """Return True if a file is a TorchScript archive, judged by the contents."""
    try:
        with zipfile.ZipFile(path) as file:
            return any(name.endswith("/constants.pkl") for name in file.namelist())
    except (OSError, zipfile.BadZipFile, ValueError):
        return False


def is_exported(path: Path) -> bool:
    """Return True if a file is an exported program (`.pt2`), judged by the contents."""
    try:
        with zipfile.ZipFile(path) as file:
            return any(name.endswith("/archive_format") for name in file.namelist())
    except (OSError, zipfile.BadZipFile, ValueError):
        return False


# ---- archives ----------------------------------------------------------------------------------------


def load_archive(path: Path, map_location: Any = "cpu", **options: Any) -> ScriptModule:
    """Load the model of an archive in evaluation mode. Raise a one-line ProgramError if that fails."""
    with report_read_errors(path), console.progress(f"loading {path.name}"):
        module = ts.jit.load(path, map_location, **options)
        return module.eval() if hasattr(module, "training") else module  # type: ignore[no-any-return]


def method_of(module: ScriptModule, name: str, path: Path) -> ScriptMethod:
    """Return the method with a dotted name: "encode" or "encoder.layer.encode".

    If the name is empty, return `forward` of `module`. If it is the name of a submodule, return `forward` of
    the submodule.
    """
    *submodule_names, last = name.split(".") if name else ["forward"]
    for depth, submodule_name in enumerate(submodule_names):
        module = _find_submodule(module, submodule_name, ".".join(submodule_names[:depth]), path)
    if last in method_names(module):
        return getattr(module, last)  # type: ignore[no-any-return]
    submodule = _find_submodule(module, last, ".".join(submodule_names), path)
    if "forward" not in method_names(submodule):
        raise UsageError(
            f"{path}: {name} has no forward; it has: {', '.join(method_names(submodule)) or 'nothing'}"
        )
    return getattr(submodule, "forward")  # type: ignore[no-any-return]  # noqa: B009


def _find_submodule(module: ScriptModule, name: str, parent_name: str, path: Path) -> ScriptModule:
    children: dict[str, Any] = dict(module.named_children())
    if name not in children:
        names = ", ".join([*method_names(module), *children])
        raise UsageError(f"{path}: {parent_name or 'the model'} has no {name!r}; it has: {names}")
    return children[name]  # type: ignore[no-any-return]


# ---- programs ----------------------------------------------------------------------------------------


def load_module(path: Path) -> ModuleType:
    """Execute a file as a module. Raise UsageError if it does not exist, or ProgramError if it fails.

    A file in a folder with `__init__.py` becomes a module of that package, so that relative imports work.
    Output of the module goes to stderr, because stdout is reserved for the output of the command.
    """
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    if path.suffix != ".py":
        raise UsageError(f"not a Python file: {path}")
    folder, names = path.resolve().parent, [path.stem] if path.stem != "__init__" else []
    while (folder / "__init__.py").is_file():
        folder, names = folder.parent, [folder.name, *names]
    try:
        sys.path.insert(0, str(folder))
        with redirect_stdout(sys.stderr):
            return (
                _import_from_package(path, ".".join(names))
                if folder != path.resolve().parent
                else _execute_file(path)
            )
    except Exception as error:
        # the user's file may raise any exception: the message contains the line of the file
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f.lineno for f in frames if Path(f.filename).resolve() == path.resolve()]
        location = f"{path}:{lines[-1]}" if lines else f"{path}"
        raise ProgramError(f"{location}: {type(error).__name__}: {error}") from None


def import_module(name: str) -> ModuleType:
    """Import the module of `--import`: FILE.py, or a module on `sys.path` or in the current directory."""
    if name.endswith(".py"):
        return load_module(Path(name))
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        with redirect_stdout(sys.stderr):
            return importlib.import_module(name)
    except Exception as error:  # the code of the user may raise any exception
        raise ProgramError(f"cannot import {name}: {type(error).__name__}: {error}") from None


_folders: dict[str, str] = {}  # name of a loaded top-level package -> the folder in which it was found


def _import_from_package(path: Path, name: str) -> ModuleType:
    """Import the module `name` of a package.

    If a package with the same name was loaded from another folder, unload that package first.
    """
    root = name.partition(".")[0]
    if _folders.setdefault(root, sys.path[0]) != sys.path[0]:
        for loaded in [n for n in sys.modules if n == root or n.startswith(f"{root}.")]:
            del sys.modules[loaded]
        _folders[root] = sys.path[0]
        importlib.invalidate_caches()
    module = importlib.import_module(name)
    if Path(module.__file__ or "").resolve() != path.resolve():
        raise ImportError(f"another module named {name} is already loaded from {module.__file__}")
    return module


def _execute_file(path: Path) -> ModuleType:
    """Execute a file as a module, named after the file unless another module has this name."""
    existing_module = sys.modules.get(path.stem)
    is_free = existing_module is None or getattr(existing_module, "__file__", None) == str(path)
    # the name must not be the name of another loaded module, because the names of scripted classes include it
    name = path.stem if is_free else f"{path.stem}_{crc32(bytes(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_functions(module: ModuleType) -> dict[str, Any]:
    """Return the functions, module classes and module objects that a module defines, by name."""
    return {name: value for name, value in vars(module).items() if _is_function(value, module.__name__)}


def _is_function(value: Any, module: str) -> bool:
    if isinstance(value, ScriptFunction | RecursiveScriptModule | ts.nn.Module):
        return True
    is_module = inspect.isclass(value) and issubclass(value, ts.nn.Module)
    return (inspect.isfunction(value) or is_module) and value.__module__ == module


def required_parameters(cls: type) -> str:
    """Return the required constructor parameters of a class, separated by commas."""
    parameters = inspect.signature(cls).parameters.values()
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return ", ".join([p.name for p in parameters if p.default is p.empty and p.kind not in variable])


def load_runnable(target: Target) -> Any:
    """Load the scripted function or the exported program of a target."""
    if not target.is_program and target.path.is_file() and is_exported(target.path):
        from ts.cli.pt2_target import function_of

        return function_of(target.path, target.name)
    return load_function(target)


def instantiate(cls: type) -> Any:
    """Return an instance of a module class without required arguments.

    Output of the constructor goes to stderr.
    """
    with redirect_stdout(sys.stderr):
        return cls()


def load_function(target: Target) -> ScriptFunction | ScriptMethod:
    """Load the scripted function of a target."""
    path, name = target
    if path.is_dir():
        raise UsageError(f"{path} is a folder; expected FILE.py:FUNCTION or an archive")
    if not target.is_program:
        if is_exported(path):
            raise UsageError(
                f"{path} is an exported program: ts run, graph, code, info, "
                "check and explain-shapes accept exported programs"
            )
        return method_of(load_archive(path), name, path)
    if not name:
        raise UsageError(f"expected FILE.py:FUNCTION, got {path}")
    functions = find_functions(load_module(path))
    if name not in functions:
        available = ", ".join(sorted(functions)) or "none"
        raise UsageError(f"{path} defines no function {name!r}; it defines: {available}")
    return compile_function(functions[name])


def compile_function(function: Any) -> ScriptFunction | ScriptMethod:
    """Return a function in scripted form. For a module or a module class, return the scripted `forward`."""
    if inspect.isclass(function):
        if required_parameters(function):
            raise UsageError(
                f"the constructor of {function.__name__} requires {required_parameters(function)}; "
                "specify an instance of the class"
            )
        function = instantiate(function)
    scripted_object: Any = ts.jit.script(function)
    if isinstance(scripted_object, RecursiveScriptModule):
        scripted_object = scripted_object.forward
    scripted: ScriptFunction | ScriptMethod = scripted_object
    return scripted
