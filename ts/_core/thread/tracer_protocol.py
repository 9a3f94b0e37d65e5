"""Protocol of tracers: objects that receive the tensor operations of a thread instead of executing them.

Tracers exist for `ts.jit.trace`, exports, fake tensor modes, meta tensors and dispatch modes. If a tracer
does not override a method, the body in the protocol is used. Callers check the kind of a tracer before they
call a method that only this kind has:

    tracer = current_tracer()
    if tracer is not None and tracer.is_export: ...
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol


class TracerProtocol(Protocol):
    """Interface of the tracer of a thread, which `ts._core.thread.context.current_tracer` returns."""

    is_trace: bool = False  # True for the tracer of `ts.jit.trace`
    # True for the tracer of an export, which records gradients, transforms and symbolic sizes
    is_export: bool = False
    records_slots: bool = False  # True if `x & y` is recorded as aten::__and__, not as aten::bitwise_and
    # True if `element` is implemented: it returns the number in a fake tensor of one element
    has_elements: bool = False
    # True if the tracer records the decomposition of the operators of an exported program
    is_decomposition: bool = False
    records_higher_order: bool = False  # True if `higher_order` records control-flow operators
    tracing_error: str = "Tracing can't be nested"  # error of `ts.jit.trace` while this tracer is active
    # Message of the error that `ts.fake` raises while this tracer is active. It is None if `ts.fake` may be
    # used.
    fake_mode_error: str | None = None
    # `ExportTape` that differentiates the recorded operators of an export. It is None for other tracers.
    tape: Any = None
    # Autocast blocks that the exported program has entered but not left. It is None for other tracers.
    casts: Any = None

    # ---- operators and functions

    @abstractmethod
    def operator(self, operators: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Run an operator and return its result. `operators` contains the operator's overloads."""
        ...

    @abstractmethod
    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a scripted function or method."""
        ...

    @abstractmethod
    def unrecorded(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return function(*args), called without recording."""
        ...

    @abstractmethod
    def forward_of(self, module: Any) -> Callable[..., Any]:
        """Return the function that runs `forward` of a module."""
        ...

    def higher_order(self, operator: Any, args: tuple[Any, ...]) -> Any:
        """Run a control-flow operator. Callers first check `records_higher_order`."""
        raise TypeError(f"{type(self).__name__} does not record higher-order operators")

    def in_function(self) -> AbstractContextManager[Any]:
        """Return the context in which an `autograd.Function` runs."""
        return nullcontext()

    # ---- tensor methods

    @abstractmethod
    def size(self, x: Any, dim: Any = None) -> Any:
        """Return `x.size(dim)`."""
        ...

    @abstractmethod
    def shape(self, x: Any) -> Any:
        """Return `x.shape`."""
        ...

    @abstractmethod
    def numel(self, x: Any) -> Any:
        """Return `x.numel()`."""
        ...

    @abstractmethod
    def get(self, x: Any, index: Any) -> Any:
        """Return `x[index]`."""
        ...

    @abstractmethod
    def put(self, x: Any, index: Any, value: Any) -> None:
        """Run `x[index] = value`."""
        ...

    @abstractmethod
    def iterate(self, x: Any) -> Iterator[Any]:
        """Return an iterator over the rows of `x`."""
        ...

    def element(self, x: Any) -> Any:
        """Return the only element of a fake tensor. Callers first check `has_elements`."""
        raise TypeError(f"{type(self).__name__} does not compute elements")

    def record_tolist(self, x: Any) -> Any:
        """Return `x.tolist()` as the tracer records it. If it returns None, the caller reads the elements.

        The caller then also calls `record_escape`.
        """
        return None

    @abstractmethod
    def record_escape(self, x: Any, kind: str, python_value: Any, /) -> None:
        """Report that the program converts `x` to a Python value, of a kind such as "float" or "list".

        `python_value` is None for arrays and lists.
        """
        ...

    # ---- tensors created from Python values

    @abstractmethod
    def record_constructed(self, x: Any, function: str) -> Any:
        """Record a tensor that a function constructed from Python values."""
        ...

    def warn_constructed(self, function: str) -> None:
        """Warn that the tensor constructed by `function` becomes a constant of the trace."""
        return None

    def literal(self, x: Any) -> Any:
        """Record the constant `x` of an index.

        Return the tensor that the graph uses, or None if it is `x` itself.
        """
        return None

    def tensor_of_symbols(self, data: Any, dtype: Any = None, device: Any = None) -> Any:
        """Create a tensor from `data`, nested lists of numbers. Return None if no number is symbolic."""
        return None

    def record_alias(self, x: Any, recorded: Any, /) -> None:
        """Record later uses of `x` as uses of `recorded`, a tensor that the graph already contains."""
        return None
