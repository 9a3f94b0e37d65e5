from typing import Any

REFUSE: int
WARN: int
ALLOW: int
STRICT: int

def check(target: Any, read: list[Any], rule: int = ...) -> int: ...
