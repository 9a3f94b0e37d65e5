"""Stack of dispatch modes, which intercept operators below autograd: `torch.utils._python_dispatch`.

Each thread has a separate stack. After `push(mode)`, operators call the handler `__torch_dispatch__` of the
mode. `pop()` removes and returns the mode that was pushed last.
"""

from __future__ import annotations

import threading
from typing import Any

from ts._core.dispatch_layers import level_stack


class _ModeStack(threading.local):
    def __init__(self) -> None:
        self.stack: list[Any] = []


_thread = _ModeStack()


def stack() -> list[Any]:
    """Return the mode stack of this thread. The last mode intercepts operators first."""
    return _thread.stack


def is_active() -> bool:
    """Return whether this thread has dispatch modes."""
    return bool(_thread.stack)


def push(mode: Any) -> None:
    """Push `mode` on the stack of this thread."""
    _thread.stack.append(mode)
    level_stack.expect_modes(True)


def pop() -> Any:
    """Remove the mode that was pushed last, and return it."""
    mode = _thread.stack.pop()
    level_stack.expect_modes(bool(_thread.stack))
    return mode


class without_last:
    """Context manager that disables the last mode of the thread.

    In the `with` block, it yields the disabled mode.
    """

    def __enter__(self) -> Any:
        self.mode = pop()
        return self.mode

    def __exit__(self, *_: object) -> None:
        push(self.mode)


class without_all:
    """Context manager that disables all modes of the thread.

    In the `with` block, it yields the list of these modes.
    """

    def __enter__(self) -> list[Any]:
        self.before, _thread.stack = _thread.stack, []
        level_stack.expect_modes(False)
        return list(self.before)

    def __exit__(self, *_: object) -> None:
        _thread.stack = self.before
        level_stack.expect_modes(bool(self.before))
