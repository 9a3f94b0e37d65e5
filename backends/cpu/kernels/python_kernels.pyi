from collections.abc import Callable
from typing import Any

def run(kernel: Callable[..., Any], args: list[Any], device: int) -> Any: ...
