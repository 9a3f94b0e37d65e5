"""Command `ts check`, a static check (linter) that compiles the definitions of files and reports errors.

Input: Python files, folders or archives. Output: a line for each definition, with compile errors and run-time
errors that always occur.

The middle column states which code is compiled for a definition, and the right column the output:

    def f(x: int): ...            the function                    ok  f(int x) -> int
    class Account: ...            all methods                     ok  class Account
    class Net(nn.Module): ...     an instance, if it is made      ok  module Net()
                                  without arguments
    net = Net(3)                  the instance                    ok  module net

Functions marked with `ignore` or `unused`, exceptions, interfaces and members inherited from other modules
are skipped. For an archive, the methods of its model and its missing dependencies are checked.

Then `ts.cli.static_failures` finds operators that reject the known dtypes and shapes. Python files are
imported, but functions and archives are executed only with `--run`. Without `--run`, tensor elements are
unknown.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import ts
from ts.cli import console
from ts.cli.arguments import read_input, split_input
from ts.cli.errors import ProgramError, UsageError, format_error, report_read_errors
from ts.cli.limit_options import add_limits, limits_of
from ts.cli.static_failures import failures
from ts.cli.targets import (
    Target,
    instantiate,
    is_archive,
    is_exported,
    load_archive,
    load_module,
    parse_target,
    required_parameters,
)  # fmt: skip
from ts.errors import LimitExceeded
from ts.frontend.annotations import object_type
from ts.frontend.compile_directives import modifier_of
from ts.ir.schema import Argument
from ts.runtime.module import RecursiveScriptModule, ScriptModule, method_names

Check = Callable[[], tuple[str, list[str]]]
"""Compiles a definition, and returns its description and the run-time errors that always occur."""


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="FILE.py[:NAME] | FOLDER | ARCHIVE[:METHOD] | PROGRAM.pt2",
        help="files, folders or archives to check",
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value for parameters of that name, in the syntax of `ts run`: float32[1,3,224,224], 2, [1, 2]",
    )
    parser.add_argument(
        "--run", action="store_true", help="also call the functions with the values of --input"
    )
    add_limits(parser)
    return """\
Python files are imported.  In a folder, the files that import ts or torch and the archives are checked.

examples:
  ts check model.py
  ts check examples/word_count.py:most_frequent
  ts check src/ model.pt
  ts check model.pt --input x=float32[1,3,224,224] --input n=2
  ts check model.pt --input ids=int64[1,300] --run
"""


class _Inputs(dict[str, str]):
    """Texts of the `--input` options, by parameter name.

    `used` contains the parameter names of the definitions that have been checked so far.
    """

    used: set[str]
    runs: bool  # True for `--run`: call the functions with the inputs


def run(options: argparse.Namespace) -> int:
    """Run `ts check`: report the result for each definition of each file."""
    inputs = _Inputs(map(split_input, options.input))
    inputs.used, inputs.runs = set(), options.run
    if options.run and not inputs:
        raise UsageError(
            "--run calls functions with the values of --input: add --input NAME=VALUE for each parameter"
        )
    files = [file for word in options.targets for file in files_of(parse_target(word))]
    if not files:
        raise UsageError(f"no file in {', '.join(options.targets)} imports ts or torch or is an archive")
    failure_count = 0
    with console.progress(f"checking {len(files)} files", len(files)) as advance:
        for file in files:
            is_single_file = len(files) == 1 and not Path(options.targets[0]).is_dir()
            with limits_of(options, untrusted=not file.is_program):
                failure_count += _check_file(file, inputs, is_single_file)
            advance()
    unused = inputs.keys() - inputs.used
    # after a failure, do not report unused inputs: parameters of failed definitions are unknown
    if unused and not failure_count:
        names = ", ".join(sorted(unused))
        raise UsageError(f"--input {names}: no checked definition has this parameter")
    return 1 if failure_count else 0


def files_of(target: Target) -> Iterator[Target]:
    """Yield the target itself if it is a file.

    For a folder, yield the files in its tree that contain TorchScript.
    """
    if not target.path.is_dir():
        yield target
        return
    for path in sorted(target.path.iterdir()):
        hidden = path.name.startswith(".") or path.name == "__pycache__"
        if path.is_dir():
            if not hidden and not (path / "pyvenv.cfg").exists():
                yield from files_of(Target(path, ""))
        elif _contains_torchscript(path):
            yield Target(path, "")


def _contains_torchscript(path: Path) -> bool:
    """Return True if a file contains TorchScript.

    Such files are archives, exported programs and Python files that import TorchScript.
    """
    if path.suffix != ".py":
        return is_archive(path) or is_exported(path)
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return True  # checking the definitions will report the syntax error
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module or "")
    return any(name.partition(".")[0] in ("ts", "torch") for name in names)


def _input_values(parameters: Sequence[Argument], inputs: _Inputs) -> list[Any]:
    """Return the `--input` values of `parameters`, with None for each parameter without such a value.

    Raise UsageError for a value of the wrong type.
    """
    values = []
    for parameter in parameters:
        inputs.used.add(parameter.name)
        argument = inputs.get(parameter.name)
        values.append(None if argument is None else read_input(parameter.name, argument, parameter.type))
    return values


def _check_call(
    function: Any, object: Sequence[Any], parameters: Sequence[Argument], inputs: _Inputs
) -> tuple[str, list[str]]:
    """Check a function for run-time errors that always occur. With `--run`, call it with the inputs.

    Return a note about the check, to be printed behind the signature, and the errors as text.
    """
    values = _input_values(parameters, inputs)
    samples = [x.to("meta") if isinstance(x, ts.Tensor) else x for x in values]
    messages = [
        f.format_message(function.name) for f in failures(function.inlined_graph, [*object, *samples])
    ]
    if messages or not any(x is not None for x in values):
        return "", messages
    if not inputs.runs:
        return "  (checked shapes and dtypes; --run also checks values such as indices)", []
    keywords = {p.name: x for p, x in zip(parameters, values, strict=True) if p.name in inputs}
    missing = [p.name for p in parameters if p.name not in inputs and not p.has_default]
    if missing:
        raise UsageError(f"--run needs --input for {', '.join(missing)} of {function.name}")
    try:
        with ts.no_grad():
            function(**keywords)
    except Exception as error:
        return "", [f"called with the inputs: {format_error(error) if _is_foreign(error) else error}"]
    return "  (ran)", []


# ---- checks of definitions ---------------------------------------------------------------------------


def _check_file(target: Target, inputs: _Inputs, is_single_file: bool) -> int:
    """Check the definitions of a file, print a report, and return the number of failures."""
    try:
        checks = _checks(target, inputs)
    except ProgramError as error:
        console.status(False, str(error), sys.stderr)
        return 1
    if target.name:
        if target.name not in checks:
            defined = ", ".join(sorted(checks)) or "nothing"
            raise UsageError(f"{target.path} defines no {target.name!r}; it defines: {defined}")
        checks = {target.name: checks[target.name]}
    if not checks and is_single_file:
        raise UsageError(f"{target.path} defines no function or class to compile")
    failure_count = 0
    for name, compile_it in checks.items():
        try:
            description, messages = compile_it()
        except UsageError:
            raise
        except Exception as error:  # the compiler reports an error, or a constructor of the user raises one
            messages = [format_error(error) if _is_foreign(error) else str(error)]
        for failure in messages:
            failure_count += 1
            console.status(False, f"{target.path}:{name}: {failure}", sys.stderr)
        if not messages:
            console.status(
                True, description if is_single_file else f"{target.path}: {description}", sys.stdout
            )
    return failure_count


def _is_foreign(error: Exception) -> bool:
    """Return True if an error is not a compiler error.

    In this case, the report contains the class of the error.
    """
    return not isinstance(error, RuntimeError) or isinstance(error, LimitExceeded)


def _checks(target: Target, inputs: _Inputs) -> dict[str, Check]:
    if target.is_program:
        return dict(checks_of(load_module(target.path), inputs))
    return dict(_checks_of_archive(target.path, inputs))


def _checks_of_archive(path: Path, inputs: _Inputs) -> Iterator[tuple[str, Check]]:
    """Yield a check for each missing dependency of an archive.

    If none is missing, yield a check for each method.
    """
    if is_exported(path):
        yield "forward", partial(_program, path, inputs)
        return
    with report_read_errors(path):
        missing = ts.jit.missing(path)
    for requirement in missing:
        yield f"{requirement.kind} {requirement.name}", partial(_check_requirement, requirement)
    if not missing:
        module = load_archive(path)
        for name in method_names(module):
            yield name, partial(_check_method, module, name, inputs)


def _program(path: Path, inputs: _Inputs) -> tuple[str, list[str]]:
    """Load an exported program. Return its signature and the errors in its declared shapes."""
    from ts.cli.pt2_target import describe_inputs, find_shape_errors, load_exported

    function = load_exported(path)
    # mark the inputs as used, so that `run` reports only names in `--input` that do not exist
    inputs.used |= {name for name, _ in function.inputs}
    return describe_inputs(function), find_shape_errors(function.program)


def _check_requirement(requirement: Any) -> tuple[str, list[str]]:
    return "", ["\n".join(["missing", *str(requirement).splitlines()[1:]])]


def checks_of(module: ModuleType, inputs: _Inputs) -> Iterator[tuple[str, Check]]:
    """Yield the checks of the functions, classes and module objects of a Python module."""
    for name, value in list(vars(module).items()):
        if isinstance(value, ts.jit.ScriptFunction):
            yield name, partial(_check_function, value, inputs)
        elif isinstance(value, RecursiveScriptModule | ts.nn.Module):
            yield name, partial(_check_module, name, value, inputs)
        elif getattr(value, "__module__", None) != module.__name__:
            continue
        elif inspect.isfunction(value):
            if modifier_of(value) not in ("ignore", "unused"):
                yield name, partial(_check_function, value, inputs)
        elif inspect.isclass(value) and not issubclass(value, BaseException):
            yield name, partial(_check_class, name, value, inputs)


def _check_function(function: Any, inputs: _Inputs) -> tuple[str, list[str]]:
    scripted: Any = ts.jit.script(function)
    added, messages = _check_call(scripted, [], scripted.schema.arguments, inputs)
    return f"{scripted.schema}{added}", messages


def _check_module(name: str, module: Any, inputs: _Inputs) -> tuple[str, list[str]]:
    scripted: Any = ts.jit.script(module)
    methods = [_check_method(scripted, method, inputs) for method in method_names(scripted)]
    return f"module {name}", [failure for _, messages in methods for failure in messages]


def _check_method(module: ScriptModule, name: str, inputs: _Inputs) -> tuple[str, list[str]]:
    # an attribute of the module may be a Python method with the same name, as `__len__` of Sequential
    method = module._c._get_method(name)
    added, messages = _check_call(method, [module.archived()], method.schema.arguments[1:], inputs)
    parameters = ", ".join(map(str, method.schema.arguments[1:]))
    returns = ", ".join(map(str, method.schema.returns))
    return f"{name}({parameters}) -> {returns}{added}", messages


def _check_class(name: str, cls: type, inputs: _Inputs) -> tuple[str, list[str]]:
    if any(base.__module__.partition(".")[0] == "torch" for base in cls.__mro__):
        return "", [
            "it inherits from a PyTorch class; only classes defined with `import ts as torch` can be checked"
        ]
    if issubclass(cls, ts.nn.Module):
        if required := required_parameters(cls):
            return (
                f"module {name}: not compiled, because its constructor requires {required}; check "
                "an instance of it",
                [],
            )
        return _check_module(f"{name}()", instantiate(cls), inputs)
    if issubclass(cls, Enum | tuple):
        object_type(cls)
    elif not hasattr(cls, "__ts_type__"):  # interfaces are compiled when they are defined
        ts.jit.script(cls)
    return f"class {name}", []
