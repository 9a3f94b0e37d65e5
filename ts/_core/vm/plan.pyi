from collections.abc import Callable, Sequence
from typing import Any

from ts._core.value.spec import TypeSpec
from ts._core.vm.code import Code

MOST_OF_FUNCTION: int

class Plans:
    name: str
    specs: tuple[TypeSpec, ...]
    result: TypeSpec
    left: int
    make: Callable[[list[Any]], Code | None]
    chosen_plan: int | None
    def __init__(
        self,
        name: str,
        specs: tuple[TypeSpec, ...],
        result: TypeSpec,
        registers: Sequence[int],
        make: Callable[[list[Any]], Code | None],
        make_general: Callable[[], Code],
    ) -> None: ...
    @property
    def registers(self) -> list[int]: ...
    @property
    def made(self) -> list[tuple[Code | None, int]]: ...
    @property
    def general_code(self) -> Code | None: ...
    def code_for_all(self) -> Code: ...
