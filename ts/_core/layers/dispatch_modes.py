"""Dispatch modes, which see the operators of a thread below the tape: `torch.utils._python_dispatch`.

    push(mode)      operators call mode.__torch_dispatch__(func, types, args, kwargs), composites their parts
    pop()           the mode that was pushed last, which sees nothing more

In: an operator and its arguments, below autograd, transforms and autocast.  Out: what the mode that was
pushed last gives.  Inside of its handler that mode is off, and no history is recorded.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from ts._core.layers import gate, levels
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import GradMode, TracedBy

# What an operator computes itself by, or None: `function(operator)`; and an operator as handlers get it.
Composites = Callable[[Any], Callable[..., Any] | None]
Calls = Callable[[Any, list[Any]], tuple[Any, tuple[Any, ...], dict[str, Any]]]


class _Here(threading.local):
    def __init__(self) -> None:
        self.stack: list[Any] = []


_here = _Here()
_composites: Composites | None = None
_calls: Calls | None = None


def set_rules(composites: Composites, calls: Calls) -> None:
    """Set how composite operators are found, and how a call is given to a handler."""
    global _composites, _calls
    _composites, _calls = composites, calls


def stack() -> list[Any]:
    """Return the modes of this thread; the last is asked first."""
    return _here.stack


def is_active() -> bool:
    """Return whether this thread has modes, or tensors of classes with `__torch_dispatch__`."""
    return bool(_here.stack)


def is_composite(op: Any) -> bool:
    """Return whether an operator is computed by others, which modes see in its stead."""
    return _composites is not None and _composites(op) is not None


def push(mode: Any) -> None:
    """Let `mode` see the operators of this thread."""
    _here.stack.append(mode)
    levels.expect_modes(True)


def pop() -> Any:
    """Remove the mode that was pushed last, and return it."""
    mode = _here.stack.pop()
    levels.expect_modes(bool(_here.stack))
    return mode


class without_last:
    """Context manager: inside, the last mode of the thread is off; it is what `with` gives."""

    def __enter__(self) -> Any:
        self.mode = pop()
        return self.mode

    def __exit__(self, *_: object) -> None:
        push(self.mode)


class without_all:
    """Context manager: inside, the thread has no modes; `with` gives those that it had."""

    def __enter__(self) -> list[Any]:
        self.before, _here.stack = _here.stack, []
        levels.expect_modes(False)
        return list(self.before)

    def __exit__(self, *_: object) -> None:
        _here.stack = self.before
        levels.expect_modes(bool(self.before))


def run(op: Any, values: list[Any]) -> Any:
    """Return what the last mode gives for an operator; of a composite what its parts give."""
    if not _is_seen(op):
        with without_all(), TracedBy(None):
            return op.call_list(values)
    assert _composites is not None and _calls is not None  # whoever pushes a mode has set them
    function = _composites(op)
    if function is not None:
        result = levels.by_parts(function, values)
        if result is not NotImplemented:
            return result
    func, args, kwargs = _calls(op, values)
    types = tuple(dict.fromkeys(type(x) for x in _tensors(values) if hasattr(x, "__torch_dispatch__")))
    with without_last() as mode, TracedBy(None), GradMode(False):
        return mode.__torch_dispatch__(func, types, args, kwargs)


def _is_seen(op: Any) -> bool:
    """Return whether handlers get an operator: not those that ask for facts of tensors, without elements."""
    returns, record = op.signature.returns, op.record
    if any("Tensor" in r.kind for r in returns) or any(p.written for p in op.signature.parameters):
        return True
    return not returns or bool(record.reads_elements) or record.side_effect


def _tensors(values: list[Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for x in values:
        if isinstance(x, Tensor):
            found.append(x)
        elif isinstance(x, list):
            found += _tensors(x)
    return found


levels.set_modes(run, is_active)
gate.set_dispatch_modes(sys.modules[__name__], levels.FAKES)
