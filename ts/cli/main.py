"""Entry point of the command-line interface `ts` (or `python -m ts`) and its subcommands.

The commands are `ts run | debug | graph | code | bytecode | check | info | bench | explain |
explain-shapes | diff | serve | cluster | worker | launch | convert`. Each command is a module with two
functions: `arguments` declares its arguments, and `run` executes it. Example:

    ts run examples/word_count.py:most_frequent @README.md 5

Results are printed to standard output, errors to standard error. If the reader of the output closes the pipe,
SIGPIPE ends the command silently. The exit codes are:

    0      success
    1      an error in the program or file, or `ts diff` has found differences
    2      an error in the command line, or `ts diff` cannot read a file
    130    Ctrl-C
"""

from __future__ import annotations

import argparse
import importlib
import io
import signal
import sys
from collections.abc import Sequence
from typing import Any, Final

import ts
from ts.cli.errors import ProgramError, UsageError, format_error

COMMANDS: Final = {
    "run": "call a function or a model with arguments, and print the result or write it to a file",
    "debug": "call a function and step through it",
    "graph": "print a function's graph",
    "code": "print a function's code, generated from its graph",
    "bytecode": "print a function's bytecode",
    "check": "compile files, folders, packages and archives, and report compile errors and "
    "inevitable run-time errors",
    "info": "describe an archive, or, without arguments, this installation",
    "bench": "measure a function or a model, and compare with PyTorch",
    "explain": "write an HTML page about a function or a model: source next to graph, with the time "
    "of each line",
    "explain-shapes": "print the constraints on an exported program's sizes, and the source lines "
    "that cause them",
    "diff": "compare two archives: their code and their weights",
    "serve": "serve an archive over HTTP, or, without an archive, a playground page for programs",
    "cluster": "start a scheduler and workers that run calls of other processes, or list the members",
    "worker": "run a worker of a cluster, which executes calls of other processes",
    "launch": "start a program once for each rank of a process group, as torchrun does",
    "convert": "convert archives to other archives or exported programs (.pt2), and weights to and "
    "from safetensors",
}
_STAGES: Final = ("graph", "code", "bytecode")
# command -> exit code for an error, if it is not 1
_FAILURE_EXIT_CODES: Final = {"diff": 2}


def _module(name: str) -> Any:
    return importlib.import_module(f"ts.cli.{'print_ir' if name in _STAGES else name.replace('-', '_')}")


def parser(named: str | None = None) -> argparse.ArgumentParser:
    """Build the command-line parser, in which only the command `named` has its arguments declared.

    All other commands only appear in the list of commands.
    """
    top = argparse.ArgumentParser(
        prog="ts",
        description="TorchScript without PyTorch.",
        epilog="`ts COMMAND --help` prints the options of a command, with examples.",
    )
    top.add_argument("--version", action="version", version=f"ts {ts.version.ts}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == named:
            command.add_argument(
                "--import",
                dest="imports",
                action="append",
                default=[],
                metavar="MODULE",
                help="module or FILE.py to import first, for example to register custom operators",
            )
            command.epilog = _module(name).arguments(command, name)
            command.set_defaults(action=_module(name).run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    if arguments is None:
        arguments = sys.argv[1:]
        # exit silently when the reader of the output closes the pipe, like other Unix commands
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        # escape characters that the encoding of stdout cannot represent, as Python does for stderr
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
    if arguments[:1] == ["launch"]:  # arguments after the program path belong to the program
        return _launch(arguments[1:])
    command = next((word for word in arguments if word in COMMANDS), "")
    # `sys.path` is restored below: commands add the folder of a program to it, and modules in this folder may
    # hide modules of Python.
    path = sys.path.copy()
    try:
        options = parser(command).parse_args(arguments)
        for name in options.imports:
            _import(name)
        code: int = options.action(options)
        return code
    except UsageError as error:
        _show(f"ts {command}: {error}")
        return 2
    except ProgramError as error:
        _show(str(error))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except Exception as error:  # an error of the user's program, whose message contains the location
        _show(format_error(error))
    finally:
        sys.path[:] = path
    return _FAILURE_EXIT_CODES.get(command, 1)


def _launch(arguments: Sequence[str]) -> int:
    """Run `ts launch` and return the exit code."""
    from ts.distributed import run

    try:
        run.main(arguments)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 0
    return 0


def _import(name: str) -> None:
    """Import a module, or execute FILE.py as a module. Raise ProgramError if that fails."""
    from ts.cli.targets import import_module

    import_module(name)


def _show(message: str) -> None:
    from ts.cli import console

    console.error(message, sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
