from ts._core.dispatch.operator import Operator
from ts._core.value.spec import TypeSpec

class ContainerIndex(Operator):
    container: str
    slots: dict[str | int, int]
    def __init__(self, container: TypeSpec, slots: dict[str | int, int], result: TypeSpec) -> None: ...
