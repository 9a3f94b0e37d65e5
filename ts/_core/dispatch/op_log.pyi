from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from ts._core.dispatch.operator import Operator
from ts._core.tensor.tensor import Tensor

class OperatorLog:
    lines: list[tuple[Operator, list[Any], list[Any]]]
    def __init__(
        self, is_group: Callable[[Operator], bool], looks_inside: Callable[[Operator, list[Any]], bool]
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class OperatorObserver(OperatorLog):
    def __init__(
        self,
        replace_call: Callable[[Operator, list[Any]], Any] | None = None,
        after_call: Callable[[Operator, list[Any], list[Any]], object] | None = None,
    ) -> None: ...

class PauseLogging:
    def __enter__(self) -> None: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

def identity(x: Tensor) -> int: ...
