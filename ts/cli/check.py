"""`ts check`: compile what a file defines, and say what does not compile.

In: a module that was loaded.  Out: what of it is compiled, each with a way to do it:

    def f(x: int): ...            the function                    ok  f(int x) -> int
    class Account: ...            all methods                     ok  class Account
    class Net(nn.Module): ...     an instance, if it is made      ok  module Net()
                                  without arguments
    net = Net(3)                  the instance                    ok  module net

Functions that are marked with `ignore` or `unused`, exceptions and interfaces are left out, and of a class
what other modules define.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import ts
from ts.cli import terminal
from ts.cli.targets import UsageError, load_module
from ts.frontend.annotations import object_type
from ts.frontend.markers import modifier_of
from ts.runtime.module import RecursiveScriptModule

Check = tuple[str, Callable[[], str]]  # a name, and what compiles the thing and describes it


def checks_of(module: ModuleType) -> Iterator[Check]:
    """What `ts check` compiles of a module."""
    for name, value in list(vars(module).items()):
        if isinstance(value, ts.jit.ScriptFunction):
            yield name, partial(_function, value)
        elif isinstance(value, RecursiveScriptModule | ts.nn.Module):
            yield name, partial(_module, name, value)
        elif getattr(value, "__module__", None) != module.__name__:
            continue
        elif inspect.isfunction(value):
            if modifier_of(value) not in ("ignore", "unused"):
                yield name, partial(_function, value)
        elif inspect.isclass(value) and not issubclass(value, BaseException):
            yield name, partial(_class, name, value)


def _function(function: Any) -> str:
    return str(ts.jit.script(function).schema)


def _module(name: str, module: Any) -> str:
    ts.jit.script(module)
    return f"module {name}"


def _class(name: str, cls: type) -> str:
    if issubclass(cls, ts.nn.Module):
        needed = _needed(cls)
        if needed:
            return f"module {name}: not compiled, as it takes {needed}; check an instance of it"
        return _module(f"{name}()", cls())
    if issubclass(cls, Enum | tuple):
        object_type(cls)
    elif not hasattr(cls, "__ts_type__"):  # interfaces have been compiled where they stand
        ts.jit.script(cls)
    return f"class {name}"


def _needed(cls: type) -> str:
    """The parameters without which no instance can be made."""
    parameters = inspect.signature(cls).parameters.values()
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return ", ".join([p.name for p in parameters if p.default is p.empty and p.kind not in variable])


def check(options: argparse.Namespace) -> int:
    """`ts check`: compile a function, class or module, or all of the file, and report each."""
    path, colon, name = options.target.rpartition(":")
    if not colon:
        path = options.target
    checks = dict(checks_of(load_module(Path(path))))
    if name and colon:
        if name not in checks:
            known = ", ".join(sorted(checks)) or "nothing"
            raise UsageError(f"{path} defines no {name!r}; it defines: {known}")
        checks = {name: checks[name]}
    if not checks:
        raise UsageError(f"{path} defines nothing to compile")
    failures = 0
    for name, compile_it in checks.items():
        try:
            text = compile_it()
        except Exception as error:  # the compiler's, or those of a constructor
            failures += 1
            kind = "" if isinstance(error, RuntimeError) else f"{type(error).__name__}: "
            terminal.status(False, f"{path}:{name}: {kind}{error}", sys.stderr)
        else:
            terminal.status(True, text, sys.stdout)
    return 1 if failures else 0
