"""The command line: `ts run | debug | graph | code | bytecode | check | info`, also `python -m ts`.

In: a target `FILE.py:FUNCTION` and arguments as text.  Out: the result, or a stage of the compiler, on
standard output; errors on standard error.  Exit codes: 0 done, 1 the program is wrong or failed, 2 the
command line is wrong.

    ts run examples/words.py:most_frequent @README.md 5
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import inspect
import platform
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import ts
from ts.cli import terminal
from ts.errors import DebuggerQuit
from ts.ir import types
from ts.jit import ScriptFunction
from ts.runtime.module import RecursiveScriptModule
from ts.runtime.script_method import ScriptMethod

EXAMPLES = """\
arguments are read by the parameters' types:
  int, float, bool      42   2.5   true
  str                   text, or @PATH for the contents of a text file
  Tensor                PATH.npy, PATH.npz:KEY, or a literal such as [[1.0, 2.0]]
  Dict[str, Tensor]     PATH.npz
  Enum, torch.device    the member's name, the device's
  any other type        a Python literal: [1, 2], {'a': 1}, (1, 2.0), None
  NAME=VALUE            passes a parameter by name

examples:
  ts run examples/words.py:most_frequent @README.md 5
  ts run model.py:forward x.npy --out y.npy
  ts run loops.py:forever --seconds 2
  ts debug examples/words.py:most_frequent @README.md 5
  ts graph examples/lstm.py:lstm_cell
  ts bytecode examples/mandelbrot.py:escape_times
  ts check examples/words.py:most_frequent
"""


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


def literal(text: str, expected: types.Type) -> Any:
    """A Python literal; raises UsageError with the type that was expected."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise UsageError(f"{text!r} is not {_with_article(expected.annotation_str)}") from None


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def read_member(text: str, expected: types.EnumType) -> Any:
    """A member of an enum, by its name or as `Class.NAME`."""
    members: dict[str, Any] = dict(getattr(expected.python_class, "__members__", {}))
    name = text.rpartition(".")[2]
    if name not in members:
        raise UsageError(f"{text!r} is no member of {expected.annotation_str}: {', '.join(members)}")
    return members[name]


def read_device(text: str) -> Any:
    """`cpu`, `cuda:0`, `meta`."""
    try:
        return ts.device(text)
    except RuntimeError as error:
        raise UsageError(str(error)) from None


def read_tensor(text: str, expected: types.Type) -> ts.Tensor:
    """A tensor from `PATH.npy`, `PATH.npz`, `PATH.npz:KEY` or a literal."""
    path, colon, key = text.rpartition(":") if ".npz:" in text else (text, "", "")
    if path.endswith(".npy"):
        return ts.from_numpy(load_arrays(path))
    if path.endswith(".npz"):
        arrays = load_arrays(path)
        if not colon and len(arrays.files) == 1:
            key = arrays.files[0]
        if key not in arrays.files:
            raise UsageError(f"{path} holds {', '.join(arrays.files)}; name one as {path}:KEY")
        return ts.from_numpy(arrays[key])
    try:
        return ts.tensor(literal(text, expected))
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"{text!r} is not a Tensor: {error}") from None


def load_arrays(path: str) -> Any:
    """The contents of an `.npy` or `.npz` file (no pickles: the file may not be ours)."""
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None


def read_text(text: str) -> str:
    """The string itself, or with a leading `@` the contents of the file it names."""
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {text[1:]}: {error}") from None


def read_argument(text: str, expected: types.Type) -> Any:
    """The value that `text` spells for a parameter of type `expected`."""
    if isinstance(expected, types.OptionalType):
        return None if text == "None" else read_argument(text, expected.elem)
    if isinstance(expected, types.StringType):
        return read_text(text)
    if isinstance(expected, types.TensorType):
        return read_tensor(text, expected)
    if isinstance(expected, types.EnumType):
        return read_member(text, expected)
    if expected == types.DEVICE:
        return read_device(text)
    if isinstance(expected, types.BoolType) and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if isinstance(expected, types.FloatType):
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{text!r} is not a float") from None
    if isinstance(expected, types.DictType) and text.endswith(".npz"):
        arrays = load_arrays(text)
        return {key: ts.from_numpy(arrays[key]) for key in arrays.files}
    return literal(text, expected)


def read_arguments(
    function: ScriptFunction | ScriptMethod, texts: Sequence[str]
) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments from the command line's words, by the function's schema."""
    declared = function.schema.arguments[1 if isinstance(function, ScriptMethod) else 0 :]
    parameters = {argument.name: argument.type for argument in declared}
    order = list(parameters)
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and name in parameters:
            keywords[name] = read_argument(value, parameters[name])
        elif len(positional) < len(order):
            positional.append(read_argument(text, parameters[order[len(positional)]]))
        else:
            raise UsageError(f"{function.name} takes {len(order)} arguments: {function.schema}")
    return positional, keywords


def run(options: argparse.Namespace) -> int:
    """`ts run`: call the function and print what it returns."""
    function = load_function(options.target)
    positional, keywords = read_arguments(function, options.arguments)
    bounds = {"seconds": options.seconds, "fuel": options.fuel}
    bounds = {name: bound for name, bound in bounds.items() if bound is not None}
    try:
        limits = ts.limits(**bounds) if bounds else nullcontext()
    except ValueError as error:
        raise UsageError(str(error)) from None
    start = time.perf_counter()
    with limits:
        result = function(*positional, **keywords)
    seconds = time.perf_counter() - start
    if options.out is None:
        print(result if isinstance(result, str) else repr(result))
    elif isinstance(result, ts.Tensor):
        np.save(options.out, result.numpy())
    else:
        raise UsageError(f"--out writes a tensor; {function.name} returned {type(result).__name__}")
    if options.time:
        print(f"{seconds * 1e3:.3f} ms", file=sys.stderr)
    return 0


def debug(options: argparse.Namespace) -> int:
    """`ts debug`: call the function under the step debugger and print what it returns."""
    from ts.debugger.debug import callable_of
    from ts.debugger.terminal import run as run_on_terminal

    function = load_function(options.target)
    positional, keywords = read_arguments(function, options.arguments)
    called, before = callable_of(function)
    try:
        result = run_on_terminal(called, [*before, *positional], keywords, options.commands)
    except DebuggerQuit:
        return 0
    print(f"returned {result!r}")
    return 0


def show(stage: str) -> Callable[[argparse.Namespace], int]:
    """`ts graph | code | bytecode`: print one stage of the compiler."""

    def command(options: argparse.Namespace) -> int:
        text = str(getattr(load_function(options.target), stage)).rstrip("\n")
        terminal.program(text, stage, sys.stdout)
        return 0

    return command


def check(options: argparse.Namespace) -> int:
    """`ts check`: compile a function, class or module, or all of the file, and report each."""
    from ts.cli.check import checks_of

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


def info(options: argparse.Namespace) -> int:
    """`ts info`: versions, backends, operators."""
    from ts import backends
    from ts.backends.cpu.blas import library as blas_library
    from ts.backends.cpu.kernels.conv import instruction_set
    from ts.ops import registry

    library = blas_library()
    present = backends.available()
    rows = [
        ("ts", ts.__version__),
        ("Python", f"{platform.python_version()} on {platform.platform()}"),
        ("NumPy", np.__version__),
        ("BLAS", "NumPy's matmul" if library is None else library.name),
        ("vectors", instruction_set()),
        *(("backend", f"{name}: {_state(name, present)}") for name in backends.BUILT_IN),
        ("operators", str(registry.count())),
    ]
    terminal.table(("what", "found"), rows, sys.stdout)
    return 0


def _state(name: str, present: Sequence[str]) -> str:
    if name in present:
        return "present"
    hint = " (needs CuPy and a GPU: pip install 'torchscript-ts[cuda]')" if name == "cuda" else ""
    return f"not available{hint}"


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = argparse.ArgumentParser(
        prog="ts",
        description="TorchScript without PyTorch.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"ts {ts.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, action: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(action=action)
        return command

    command = add("run", run, "call a function with arguments and print the result")
    command.add_argument("target", metavar="FILE.py:FUNCTION")
    command.add_argument("arguments", nargs="*", metavar="ARG", help="read by the parameter's type")
    command.add_argument("--out", metavar="PATH.npy", help="write the resulting tensor to a file")
    command.add_argument("--time", action="store_true", help="print the run time to standard error")
    command.add_argument("--seconds", type=float, help="end the run after this many seconds")
    command.add_argument("--fuel", type=int, help="end the run after this many loop steps and calls")
    command = add("debug", debug, "call a function and step through it")
    command.add_argument("target", metavar="FILE.py:FUNCTION")
    command.add_argument("arguments", nargs="*", metavar="ARG", help="read by the parameter's type")
    command.add_argument(
        "-c",
        dest="commands",
        metavar="COMMAND",
        action="append",
        default=[],
        help="do this first; may be repeated",
    )
    for stage in ("graph", "code", "bytecode"):
        command = add(stage, show(stage), f"print the function's {stage}")
        command.add_argument("target", metavar="FILE.py:FUNCTION")
    command = add("check", check, "compile the functions, classes and modules of a file and report errors")
    command.add_argument("target", metavar="FILE.py[:FUNCTION]")
    add("info", info, "print versions, backends and the number of operators")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    options = parser().parse_args(arguments)
    try:
        code: int = options.action(options)
    except UsageError as error:
        terminal.error(f"ts {options.command}: {error}", sys.stderr)
        return 2
    except ProgramError as error:
        terminal.error(str(error), sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 1
    except Exception as error:  # the user's program: its message says where, a Python traceback would not
        terminal.error(f"{type(error).__name__}: {error}", sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
