"""A data class: its constructor and its comparison are generated from the fields."""
# rule: class.dataclass

from dataclasses import dataclass

import ts as torch


@torch.jit.script
@dataclass
class Point:
    x: int
    y: int = 5


@torch.jit.script
def fn():
    a = Point(1, 2)
    b = Point(1)
    print(a.x, b.y, a == Point(1, 2), a == b)


fn()  # expect: 1 5 True False
