"""Whether operations are recorded for gradients.

with ts.no_grad():
    y = model(x)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from ts._core import grad_mode

P = ParamSpec("P")
R = TypeVar("R")


class _GradMode:
    """A context manager and decorator that switches gradients on or off inside."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._previous: list[bool] = []

    def __enter__(self) -> None:
        self._previous.append(grad_mode.set_enabled(self.mode))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        grad_mode.set_enabled(self._previous.pop())

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return inside


class _ScriptNoGrad:
    """`no_grad` as scripts have it."""

    __module__ = "torch.autograd.grad_mode"
    __ts_name__ = "no_grad"

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        set_grad_enabled(False)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        set_grad_enabled(self.prev)


class _ScriptEnableGrad:
    """`enable_grad` as scripts have it."""

    __module__ = "torch.autograd.grad_mode"
    __ts_name__ = "enable_grad"

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        set_grad_enabled(True)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        set_grad_enabled(self.prev)


class no_grad(_GradMode):
    """Nothing inside is recorded for gradients."""

    __ts_script_class__ = _ScriptNoGrad

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_GradMode):
    """Everything inside is recorded for gradients again."""

    __ts_script_class__ = _ScriptEnableGrad

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_GradMode):
    """Switches from here on; as a context manager, until its end."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self._previous.append(grad_mode.set_enabled(mode))

    def __enter__(self) -> None:
        """The switch was made when the object was."""


def is_grad_enabled() -> bool:
    """Whether operations are recorded for gradients here."""
    return grad_mode.is_enabled()
