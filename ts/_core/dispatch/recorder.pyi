from typing import Any

class Event:
    kind: str
    what: Any
    detail: Any
    start: int
    end: int
    thread: int
    code: Any
    instruction: int
    inputs: tuple[Any, ...] | None
    stack: tuple[tuple[str, int, str], ...] | None
    bytes_before: int
    bytes_after: int
    answer: bool | None
    backend: int
    kernel: int

def library_of(address: int) -> str: ...

class Recorder:
    events: list[Event]
    most_bytes: int
    def __init__(self, shapes: bool = ..., stacks: bool = ..., memory: bool = ...) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    @property
    def at_work(self) -> bool: ...

class Stage:
    def __init__(self, name: str, detail: Any = ...) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None: ...

def enter_label(name: str, args: str | None = ...) -> int: ...
def leave_label(number: int) -> None: ...
