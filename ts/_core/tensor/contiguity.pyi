from collections.abc import Sequence
from typing import Any

def are_contiguous(result: Any, args: Sequence[Any]) -> bool: ...
