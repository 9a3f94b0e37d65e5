from typing import Any, Self

class LimitsBlock:
    fuel: int | None
    seconds: float | None
    bytes: int | None
    depth: int | None
    def __init__(
        self,
        fuel: int | None = None,
        seconds: float | None = None,
        bytes: int | None = None,
        depth: int | None = None,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None: ...
