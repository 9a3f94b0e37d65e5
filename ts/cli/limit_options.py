"""Limit options of the command line, with their default values.

The options set `ts.limits` for the whole command. The value 0 disables a limit. Example:

    --seconds 2 --bytes 512M --fuel 100000 --depth 50

Archives are untrusted. By default, reading, compiling and running an archive is limited to ten minutes and
three quarters of the machine's memory. Python files of the user have no default limits.
"""

from __future__ import annotations

import argparse
import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from ts.cli.errors import UsageError

_SECONDS: Final = 600.0


def size(argument: str) -> int:
    """Parse a number of bytes written in the format of `ts.limits`."""
    from ts.runtime.limits import bytes_in

    try:
        return bytes_in(argument)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add the limit options to the parser of a command."""
    group = parser.add_argument_group(
        "limits", "defaults for archives: 600 seconds and 3/4 of the memory; 0: no limit"
    )
    group.add_argument("--seconds", type=float, metavar="N", help="time limit of the whole command")
    group.add_argument("--bytes", type=size, metavar="SIZE", help="memory limit: 4096, 512M, 1.5G")
    group.add_argument("--fuel", type=int, metavar="N", help="limit on loop iterations and calls")
    group.add_argument("--depth", type=int, metavar="N", help="maximal depth of nested calls")


def limits_of(options: argparse.Namespace, untrusted: bool) -> AbstractContextManager[Any]:
    """Return the limits that the options specify.

    If `untrusted` is True, the defaults for untrusted files apply to options that are not given.
    """
    bounds: dict[str, Any] = {"fuel": options.fuel, "depth": options.depth}
    bounds["seconds"] = _limit_or_default(options.seconds, _SECONDS if untrusted else None)
    bounds["bytes"] = _limit_or_default(options.bytes, _memory() if untrusted else None)
    bounds = {name: bound for name, bound in bounds.items() if bound is not None}
    if not bounds:
        return nullcontext()
    from ts.runtime.limits import limits

    try:
        return limits(**bounds)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _limit_or_default(limit: float | None, default: float | None) -> float | None:
    if limit is None:
        return default
    return limit if limit != 0 else None


def _memory() -> int | None:
    """Return three quarters of the machine's memory in bytes, or None if its size is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4 * 3
    except (AttributeError, ValueError, OSError):
        return None
