"""Torch function modes, which intercept all tensor functions of a thread.

In an active mode, the method `__torch_function__` of the mode replaces each call of a function:

    with mode:
        x + 1              # mode.__torch_function__(func, types, args, kwargs)

The class of modes is `ts.overrides.TorchFunctionMode`. The innermost mode is called first. A mode is disabled
inside of its handler, so calls from the handler go to the next outer mode. If no mode is left, they go to
`__torch_function__` of the arguments' classes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from ts._core.dispatch.overrides import call_overridden, overriding_arguments
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import DisableTorchFunction, enter_modes, set_modes


class _Here(threading.local):
    def __init__(self) -> None:
        self.stack: list[Any] = []


_here = _Here()


def stack() -> list[Any]:
    """Return this thread's function modes, innermost mode last."""
    return _here.stack


def count_modes() -> int:
    """Return the number of function modes of this thread."""
    return len(_here.stack)


def push(mode: Any) -> None:
    """Push a function mode, which then intercepts the calls of this thread."""
    _here.stack.append(mode)
    enter_modes(True)


def pop() -> Any:
    """Remove the innermost function mode and return it."""
    mode = _here.stack.pop()
    enter_modes(bool(_here.stack))
    return mode


class pop_mode:
    """Context manager that disables the innermost mode of this thread.

    In the `with` block, it yields the disabled mode.
    """

    def __enter__(self) -> Any:
        self.mode = pop()
        return self.mode

    def __exit__(self, *_: object) -> None:
        push(self.mode)


def without_overrides() -> DisableTorchFunction:
    """Return a context manager that disables function modes and `__torch_function__`."""
    return DisableTorchFunction(modes=True)


class _Modes:
    """Object with the interface of a tracer that forwards calls to the innermost mode."""

    def operator(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> Any:
        """Return `function(*args, **kwargs)` as computed by the innermost mode."""
        kwargs = kwargs or None
        overriding = overriding_arguments([*args, *(kwargs or {}).values()])
        # The thread has the context flag but an empty stack. It is a worker thread, which inherits only the
        # flag.
        if not _here.stack:
            enter_modes(False)
            return function(*args, **(kwargs or {}))
        with pop_mode() as mode:
            result = mode.__torch_function__(function, tuple(map(type, overriding)), args, kwargs)
            if result is NotImplemented:
                return call_overridden(function, overriding, args, kwargs)
            return result

    def unrecorded(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return function(*args), with function modes and `__torch_function__` disabled during the call."""
        with without_overrides():
            return function(*args)

    # ---- tensor methods that are not operators

    def size(self, x: Tensor, dim: Any = None) -> Any:
        """Return x.size(dim), computed by the innermost mode."""
        return self.operator(Tensor.size, (x,) if dim is None else (x, dim), None)  # type: ignore[attr-defined]

    def shape(self, x: Tensor) -> Any:
        """Return x.shape, computed by the innermost mode."""
        return self.operator(Tensor.shape.__get__, (x,), None)  # type: ignore[attr-defined]

    def numel(self, x: Tensor) -> Any:
        """Return x.numel(), computed by the innermost mode."""
        return self.operator(Tensor.numel, (x,), None)

    def get(self, x: Tensor, index: Any) -> Any:
        """Return x[index], computed by the innermost mode."""
        return self.operator(Tensor.__getitem__, (x, index), None)

    def put(self, x: Tensor, index: Any, value: Any) -> None:
        """Let the innermost mode execute `x[index] = value`."""
        self.operator(Tensor.__setitem__, (x, index, value), None)

    def iterate(self, x: Tensor) -> Iterator[Tensor]:
        """Return iter(x), computed by the innermost mode."""
        return self.operator(Tensor.__iter__, (x,), None)  # type: ignore


set_modes(_Modes())
