"""An enum member as the default of a parameter, also of an Optional one."""

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
