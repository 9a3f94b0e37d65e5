"""A `with` statement calls `__enter__`, and `__exit__` with three times None."""
# rule: with

from typing import Any

import ts as torch


@torch.jit.script
class Logged:
    def __init__(self, name: str):
        self.name = name

    def __enter__(self) -> str:
        print("enter", self.name)
        return self.name

    def __exit__(self, type: Any, value: Any, tb: Any):
        print("exit", self.name)


@torch.jit.script
def fn(n: int) -> int:
    with Logged("a") as a, Logged("b"):
        print(a)
        if n > 1:
            return n
    return 0


print(fn(2))
# expect: enter a
# expect: enter b
# expect: a
# expect: exit b
# expect: exit a
# expect: 2
