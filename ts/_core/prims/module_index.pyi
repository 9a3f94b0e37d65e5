from ts._core.dispatch.operator import Operator

class ContainerIndex(Operator):
    container: str
    slots: dict[str | int, int]
    def __init__(self, container: str, slots: dict[str | int, int]) -> None: ...
