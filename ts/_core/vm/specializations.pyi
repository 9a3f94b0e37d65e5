from collections.abc import Callable, Sequence
from typing import Any

from ts._core.value.spec import TypeSpec
from ts._core.vm.code import Code

MAX_GUARDED_ARGUMENTS: int
MAX_SPECIALIZATIONS_PER_FUNCTION: int

class Specializations:
    name: str
    specs: tuple[TypeSpec, ...]
    result: TypeSpec
    left: int
    make: Callable[[list[Any]], Code | None]
    chosen_specialization: int | None
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
    def specialized_codes(self) -> list[tuple[Code | None, int]]: ...
    @property
    def general_code(self) -> Code | None: ...
    def code_for_all(self) -> Code: ...
