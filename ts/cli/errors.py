"""Command-line errors with one-line messages and exit codes.

If the file in the example is corrupted, the command prints "cannot read model.pt: the file is corrupted":

    with report_read_errors("model.pt"):
        ts.jit.load("model.pt")
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ts.errors import FrontendError, LimitExceeded


class UsageError(Exception):
    """Error in the command line, with exit code 2."""


class ProgramError(Exception):
    """Error while a file is read or run, with exit code 1."""


def format_error(error: BaseException) -> str:
    """Format an exception like the last line of a traceback."""
    return f"{type(error).__name__}: {error}"


@contextmanager
def report_read_errors(path: object) -> Iterator[None]:
    """Convert errors that occur while a file is read to one-line errors with the path and the reason."""
    try:
        yield
    except LimitExceeded as error:
        hint = "set with --seconds, --bytes and --fuel"
        raise ProgramError(f"cannot read {path}: {_first_line(error)} ({hint})") from None
    except OSError as error:
        raise ProgramError(f"cannot read {path}: {error.strerror or error}") from None
    except MemoryError:
        raise ProgramError(f"cannot read {path}: out of memory") from None
    except (UsageError, ProgramError):
        raise
    except Exception as error:
        raise ProgramError(f"cannot read {path}: {_first_line(error)}") from None


def _first_line(error: BaseException) -> str:
    """Return the first non-empty line of an error message, without a trailing colon."""
    message = error.message if isinstance(error, FrontendError) else str(error)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[0].rstrip(":") if lines else type(error).__name__
