"""Name and value of an enum member, and iteration over the members."""
# rule: enum, enum.iterate

from enum import Enum
from typing import List

import ts as torch


class Color(Enum):
    RED = "r"
    GREEN = "g"


@torch.jit.script
def names() -> List[str]:
    found: List[str] = []
    for color in Color:
        found.append(color.name + "=" + color.value)
    return found


@torch.jit.script
def other(x: Color) -> Color:
    if x == Color.RED:
        return Color.GREEN
    return Color.RED


print(names())  # expect: ['RED=r', 'GREEN=g']
print(other(Color.RED))  # expect: Color.GREEN
