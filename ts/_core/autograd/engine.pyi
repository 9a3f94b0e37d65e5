from typing import Any

def run_backward(
    roots: list[Any],
    gradients: list[Any],
    keep: bool,
    create: bool,
    inputs: list[Any] | None,
    accumulate: bool,
) -> list[Any]: ...
