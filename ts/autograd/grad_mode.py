"""Grad modes (context managers and decorators), which control the recording of gradients in a thread.

Examples of a block and of a decorator, which applies to each call of the function:

    with ts.no_grad():
        y = model(x)

    @ts.inference_mode()
    def predict(x): ...

Other threads are not affected. A task that is forked within a block inherits the mode of the block.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from ts._core.thread import context
from ts._core.thread.context import is_grad_enabled, is_inference_mode_enabled

__all__ = [
    "enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad",
    "set_grad_enabled",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


class _Block:
    """Base class of context managers that can also decorate functions."""

    def clone(self) -> AbstractContextManager[None]:
        """Return a new context manager of this class. Each call of a decorated function uses a new one."""
        return type(self)()  # type: ignore[return-value]

    def __call__(self, function: F) -> F:
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only "
                "decorate functions or methods. To preserve the current behavior of class decoration, you "
                "can directly decorate the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
        elif inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)  # type: ignore[return-value]

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]

    def _wrap_generator(self, function: Callable[..., Generator[Any, Any, Any]]) -> Callable[..., Any]:
        """Wrap a generator function so that each step of its generators runs inside the block."""

        @functools.wraps(function)
        def run_generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator = function(*args, **kwargs)
            step = functools.partial(generator.send, None)
            while True:
                try:
                    with self.clone():
                        value = step()
                except StopIteration as end:
                    return end.value
                try:
                    step = functools.partial(generator.send, (yield value))
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    step = functools.partial(generator.throw, error)

        return run_generator


class _PlainBlock(_Block):
    """Base class of context managers without arguments, which are also decorators without parentheses."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        self = super().__new__(cls)
        return self if function is None else self(function)


class _ScriptNoGrad:
    """Class that represents `no_grad` in scripts."""

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
    """Class that represents `enable_grad` in scripts."""

    __module__ = "torch.autograd.grad_mode"
    __ts_name__ = "enable_grad"

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        set_grad_enabled(True)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        set_grad_enabled(self.prev)


class no_grad(_PlainBlock, context.GradMode):
    """Context manager and decorator that disables the recording of gradients."""

    __ts_script_class__: type = _ScriptNoGrad

    def __init__(self) -> None:
        super().__init__(enabled=False)


class enable_grad(_PlainBlock, context.GradMode):
    """Context manager and decorator that enables the recording of gradients."""

    __ts_script_class__: type = _ScriptEnableGrad

    def __init__(self) -> None:
        super().__init__(enabled=True)


class set_grad_enabled(_Block, context.GradModeGuard):
    """Enable or disable gradient recording at construction. A `with` block restores the mode at its end."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            actual_type = type(mode).__name__
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {actual_type}"
            )
        super().__init__(mode)

    def __call__(self, function: F) -> F:
        """Decorate `function` so that it runs in this mode, and undo the constructor's change of the mode."""
        context.set_grad_enabled(self.prev)
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def clone(self) -> set_grad_enabled:
        """Return a new context manager with the same mode.

        Creating the context manager already sets the mode.
        """
        return set_grad_enabled(self.mode)


class inference_mode(_Block, context.InferenceMode):
    """Context manager and decorator of inference mode, without gradient recording.

    `inference_mode(False)` disables an enclosing inference mode within its block.
    """

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        """Return a context manager. If `mode` is a function, return the decorated function."""
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(mode)
        self.mode = mode

    def clone(self) -> inference_mode:
        """Return a new context manager with the same mode."""
        return inference_mode(self.mode)
