from collections.abc import Callable
from typing import Any

def set_work_rules(function: Callable[[Any], Callable[..., float] | None]) -> None: ...
