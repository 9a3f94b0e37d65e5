from typing import Any

RAISE_ON_OVERLAP: int
WARN: int
ALLOW: int
STRICT: int

def check(target: Any, read: list[Any], rule: int = ...) -> int: ...
