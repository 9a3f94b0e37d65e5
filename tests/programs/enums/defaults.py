"""A member of an enum as a default, also of an optional."""

from enum import Enum
from typing import Optional

import ts


class Mode(Enum):
    FAST = 1
    SLOW = 2


@ts.jit.script
def coded(mode: Mode = Mode.FAST, other: Optional[Mode] = Mode.SLOW) -> int:
    return mode.value if other is None else mode.value + 10 * other.value


print(coded(), coded(Mode.SLOW, None))  # expect: 21 2
print("CONSTANTS" in coded.code)  # expect: False
