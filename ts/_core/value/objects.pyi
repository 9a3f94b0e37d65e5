from collections.abc import Callable
from typing import Any

from ts._core.value.spec import TypeSpec

class ObjectClass:
    name: str
    type: Any
    names: tuple[str, ...]
    specs: tuple[TypeSpec, ...]
    spec: TypeSpec
    less: Callable[[Object, Object], bool] | None
    def __init__(
        self,
        name: str,
        describe: Callable[[], tuple[tuple[str, ...], tuple[TypeSpec, ...]]],
        type: object = ...,
    ) -> None: ...
    def settle(self) -> int: ...
    def slot(self, name: str) -> int: ...

class Object:
    cls: ObjectClass
