from collections.abc import Iterable, Sequence
from typing import Any

from ts._core.value.spec import TypeSpec
from ts._core.vm.specializations import Specializations

class Code:
    name: str
    size: int
    register_count: int
    parameter_count: int
    constant_count: int
    scalar: bool
    classes: str
    operators: tuple[Any, ...]
    functions: tuple[Any, ...]
    types: tuple[Any, ...]
    lines: tuple[Any, ...]
    handlers: tuple[tuple[int, int, int, Any], ...]
    parameters: tuple[TypeSpec, ...]
    result: TypeSpec
    machine_code: Any
    def __init__(
        self,
        name: str,
        instructions: Iterable[Sequence[int]],
        classes: str,
        parameters: Iterable[TypeSpec],
        constants: Iterable[Any] = ...,
        operand_pool: Iterable[int] = ...,
        operators: Iterable[Any] = ...,
        functions: Iterable[Any] = ...,
        types: Iterable[Any] = ...,
        lines: Iterable[Any] = ...,
        handlers: Iterable[tuple[int, int, int, Any]] = ...,
        result: TypeSpec = ...,
    ) -> None: ...
    @property
    def instructions(self) -> tuple[tuple[int, int, int, int], ...]: ...
    @property
    def plans(self) -> Specializations | None: ...
    @property
    def constants(self) -> list[Any]: ...
    def operand_pool_list(self, offset: int) -> list[int]: ...
    def number_at(self, address: int) -> int: ...
    def first_constant(self) -> int: ...
    def adopt(self, address: int, entries: Iterable[int], machine_code: Any) -> None: ...

class Method:
    name: str
    specs: tuple[TypeSpec, ...]
    result: TypeSpec
    twin_of: Any
    def __init__(self, name: str, specs: tuple[TypeSpec, ...], result: TypeSpec) -> None: ...
