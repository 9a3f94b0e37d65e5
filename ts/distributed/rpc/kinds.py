"""Types of values that stay elsewhere, by name: `RRef._get_type`.

    answer(future, asked)                            (module, name) of the type of what the future holds
    type_named(("ts._core.tensor.tensor", "Tensor"))     the class, if it is one of Python's own or of `ts`

A class of a program's own is none of these, and is imported where functions of Python are allowed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from ts._core.vm.future import Future

if TYPE_CHECKING:
    from ts.distributed.rpc.answers import Answer

_OWN: Final = ("builtins", "ts")  # packages whose modules are there, or are not imported


def answer(value: Future[Any], asked: Answer) -> None:
    """Answer with the name of a value's type, when the value is there."""

    def told(finished: Future[Any]) -> None:
        error = finished.exception()
        if error is None:
            kind = type(finished.value())
            asked.result((kind.__module__, kind.__qualname__))
        else:
            asked.failed(error)

    value.add_done_callback(told)


def type_named(name: Any) -> type | None:
    """A class of Python's own or of `ts`; None for others. ValueError for what names no class of these."""
    module, path = name
    if not isinstance(module, str) or not isinstance(path, str):
        raise ValueError(f"no name of a type: {name!r:.100}")
    if module.partition(".")[0] not in _OWN:
        return None
    found = getattr(sys.modules.get(module), path, None)
    if path == "NoneType":
        return type(None)
    if not isinstance(found, type):
        raise ValueError(f"{module}.{path} is no type here")
    return found
