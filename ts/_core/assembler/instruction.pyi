from collections.abc import Sequence
from typing import Any

class Label:
    position: int

class Instruction:
    a: Any
    b: Any
    c: Any
    register_list: Sequence[int]
    reads: Sequence[int]
    writes: Sequence[int]
    line: Any
    depth: int
    def __init__(
        self,
        name: str,
        a: Any = 0,
        b: Any = 0,
        c: Any = 0,
        register_list: Sequence[int] = (),
        results: int = 0,
        line: Any = None,
        depth: int = 0,
        keeps: tuple[int, ...] = (),
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def target(self) -> Label | None: ...
