"""The command line: `ts run | debug | graph | code | bytecode | check | info`, also `python -m ts`.

In: a target `FILE.py:FUNCTION` and arguments as text.  Out: the result, or a stage of the compiler, on
standard output; errors on standard error.  Exit codes: 0 done, 1 the program is wrong or failed, 2 the
command line is wrong.

    ts run examples/words.py:most_frequent @README.md 5
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import ts
from ts.cli import terminal
from ts.cli.check import check
from ts.cli.debug import debug
from ts.cli.info import info
from ts.cli.run import run
from ts.cli.targets import ProgramError, UsageError, load_function

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


def show(stage: str) -> Callable[[argparse.Namespace], int]:
    """`ts graph | code | bytecode`: print one stage of the compiler."""

    def command(options: argparse.Namespace) -> int:
        text = str(getattr(load_function(options.target), stage)).rstrip("\n")
        terminal.program(text, stage, sys.stdout)
        return 0

    return command


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
