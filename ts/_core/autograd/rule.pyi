from collections.abc import Callable
from enum import IntEnum
from typing import Any

class DifferentiationKind(IntEnum):
    PLAIN = 0
    BY_FORMULA = 1
    BY_DECOMPOSITION = 2
    INSIDE = 3
    LEFT = 4
    UNIMPLEMENTED = 5
    UNSUPPORTED = 6
    GRAPH = 7

class FormulaInputKind(IntEnum):
    GRADIENT = 0
    GRADIENTS = 1
    ARGUMENT = 2
    RESULT = 3
    RESULTS = 4
    REQUIRES_GRAD = 5
    SIZE = 6
    STRIDE = 7
    RANK = 8
    DTYPE = 9
    COUNT = 10
    COMPLEX = 11
    OFFSET = 12

class Formula:
    def __init__(
        self,
        compile: Callable[[], Any],
        sources: list[tuple[int, int, bool]],
        argument_indices: tuple[int, ...],
        requires_grad: tuple[bool, ...],
    ) -> None: ...

class Rule:
    how: DifferentiationKind
    def __init__(
        self,
        how: DifferentiationKind = ...,
        name: str = "",
        inputs: Any = (),
        results: Any = (),
        *,
        written: int = -1,
        reshapes: bool = False,
        lists: bool = False,
        absent: bool = False,
        decomposition: Any = None,
        error_message: str = "",
        build: Callable[[int], Formula] | None = None,
    ) -> None: ...
