from collections.abc import Iterable
from typing import Any

from ts._core.value.spec import TypeSpec
from ts._core.vm.code import Code
from ts._core.vm.execution import Execution

def last_executed() -> Function | None: ...

class Function:
    name: str
    declaration: str
    arguments: tuple[tuple[Any, ...], ...]
    result: TypeSpec
    def __init__(
        self,
        name: str,
        arguments: Iterable[tuple[Any, ...]] = ...,
        declaration: str = ...,
        by_name: int = ...,
        result: TypeSpec = ...,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _prepare(self) -> Code: ...
    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]: ...
    def start(self, *args: Any, **kwargs: Any) -> Execution: ...
    @property
    def compiled_code(self) -> Code: ...
