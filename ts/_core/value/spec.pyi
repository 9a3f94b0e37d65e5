from typing import Any

KINDS: dict[str, int]
SPECS: dict[str, TypeSpec]

class TypeSpec:
    kind: int
    children: tuple[TypeSpec, ...]
    annotation_str: str
    detail: Any
    plain: bool
    def __init__(
        self, kind: int, children: tuple[TypeSpec, ...] = ..., annotation_str: str = ..., detail: Any = ...
    ) -> None: ...
