"""Transfer of exceptions between processes or threads (remote exception, remote traceback).

An `ExceptionWrapper` can be pickled. It stores the exception that is being handled:

    try:
        batch = fetch(index)
    except Exception:
        failure = ExceptionWrapper(where="in DataLoader worker process 0")

`failure.reraise()` in the receiver raises an exception of the same class with the original traceback:

    KeyError: Caught KeyError in DataLoader worker process 0.
    Original Traceback (most recent call last): ...
"""

from __future__ import annotations

import sys
import traceback
from typing import Any, NoReturn


class KeyErrorMessage(str):
    """Message that KeyError prints without quotes and escapes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """Class of an exception and the text of its traceback, which are sent instead of the exception."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind: Any
        kind, error, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an exception of the original class, with the original traceback in the message.

        Raise RuntimeError instead if the class cannot be constructed from a message, or if it is
        StopIteration, which would silently end the loop over batches.
        """
        kind = self.exc_type
        message = f"Caught {kind.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if issubclass(kind, StopIteration):
            raise RuntimeError(message)
        if kind is KeyError:
            raise KeyError(KeyErrorMessage(message))
        by_name = {"message": message} if getattr(kind, "message", None) else None
        try:
            error = kind(**by_name) if by_name else kind(message)
        except Exception:  # the class cannot be constructed from a message
            raise RuntimeError(message) from None
        raise error
