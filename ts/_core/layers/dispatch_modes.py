"""Stack of dispatch modes, which intercept operators below autograd: `torch.utils._python_dispatch`.

    push(mode)      operators call mode.__torch_dispatch__(func, types, args, kwargs), composites their parts
    pop()           remove and return the mode that was pushed last

In: an operator and its arguments, below autograd, transforms and autocast.  Out: the result of the handler of
the last mode.  Inside the handler that mode is disabled, and no gradient history is recorded.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from ts._core.layers import gate, levels
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import GradMode, TracedBy

# Composites(operator): the decomposition of a composite operator, or None.
# Calls(operator, values): the arguments (func, args, kwargs) of `__torch_dispatch__`.
Composites = Callable[[Any], Callable[..., Any] | None]
Calls = Callable[[Any, list[Any]], tuple[Any, tuple[Any, ...], dict[str, Any]]]


class _ModeStack(threading.local):
    def __init__(self) -> None:
        self.stack: list[Any] = []


_thread = _ModeStack()
_find_decomposition: Composites | None = None
_build_call: Calls | None = None


def set_call_rules(composites: Composites, calls: Calls) -> None:
    """Set the functions that look up decompositions and that build the arguments of handlers."""
    global _find_decomposition, _build_call
    _find_decomposition, _build_call = composites, calls


def stack() -> list[Any]:
    """Return the mode stack of this thread; the last mode intercepts first."""
    return _thread.stack


def is_active() -> bool:
    """Return whether this thread has dispatch modes."""
    return bool(_thread.stack)


def is_composite(op: Any) -> bool:
    """Return whether an operator is a composite: modes see the operators of its decomposition instead."""
    return _find_decomposition is not None and _find_decomposition(op) is not None


def push(mode: Any) -> None:
    """Push `mode` on the stack of this thread."""
    _thread.stack.append(mode)
    levels.expect_modes(True)


def pop() -> Any:
    """Remove the mode that was pushed last, and return it."""
    mode = _thread.stack.pop()
    levels.expect_modes(bool(_thread.stack))
    return mode


class without_last:
    """Context manager that disables the last mode of the thread, and returns it from `with`."""

    def __enter__(self) -> Any:
        self.mode = pop()
        return self.mode

    def __exit__(self, *_: object) -> None:
        push(self.mode)


class without_all:
    """Context manager that disables all modes of the thread, and returns them from `with`."""

    def __enter__(self) -> list[Any]:
        self.before, _thread.stack = _thread.stack, []
        levels.expect_modes(False)
        return list(self.before)

    def __exit__(self, *_: object) -> None:
        _thread.stack = self.before
        levels.expect_modes(bool(self.before))


def run(op: Any, values: list[Any]) -> Any:
    """Call the handler of the last mode for an operator; decompose a composite operator instead."""
    if not _is_visible(op):
        with without_all(), TracedBy(None):
            return op.call_list(values)
    assert _find_decomposition is not None and _build_call is not None
    function = _find_decomposition(op)
    if function is not None:
        result = levels.by_parts(function, values)
        if result is not NotImplemented:
            return result
    func, args, kwargs = _build_call(op, values)
    types = tuple(dict.fromkeys(type(x) for x in _tensors(values) if hasattr(x, "__torch_dispatch__")))
    with without_last() as mode, TracedBy(None), GradMode(False):
        return mode.__torch_dispatch__(func, types, args, kwargs)


def _is_visible(op: Any) -> bool:
    """Return whether modes see an operator: metadata queries such as `aten::size` are hidden from them."""
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
