"""Who records what this thread does: operators, conversions to Python, scripted functions, modules.

    start(tracer)          from now on the calling thread's work goes through `tracer`
    current()              that one; None where nobody records
    stop()                 nobody does any more

One trace at a time: while a thread records, others run as ever.  The compiled modules ask a variable of
their own, so that a call costs nothing more while nobody records; what they ask is a
`ts.tracing.tracer.Tracer`.
"""

from __future__ import annotations

from threading import get_ident
from typing import Any

from ts._core import function, overload, tensor

active: Any = None
_thread = 0


def start(tracer: Any) -> None:
    """Let `tracer` record what this thread does."""
    global active, _thread
    active, _thread = tracer, get_ident()
    for module in (tensor, overload, function):
        module.set_tracer(tracer)


def stop() -> None:
    """Record nothing from here on."""
    start(None)


def current() -> Any:
    """The tracer of the calling thread, or None."""
    return active if active is not None and get_ident() == _thread else None
