from collections.abc import Sequence
from typing import Any

def lie_in_order(result: Any, args: Sequence[Any]) -> bool: ...
