"""Enum members: name, value, comparison, identity, as arguments and results, and in containers."""

from enum import Enum
from typing import List, Optional


class Color(Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1  # noqa: PIE796


class Shape(Enum):
    ROUND = "round"


class Size(Enum):
    SMALL = 0.5


def opposite(c: Color) -> Color:
    if c == Color.RED:
        return Color.GREEN
    return Color.RED


def known(c: Optional[Color], default: Color = Color.GREEN) -> Color:
    return default if c is None else c


def main():
    c = opposite(Color.RED)
    print(c.name, c.value)  # expect: GREEN 2
    print(c == Color.GREEN, c != Color.GREEN, c == opposite(c))  # expect: True False False
    print(c is Color.GREEN, c is not Color.RED)  # expect: True True
    print(Color.CRIMSON.name)  # expect: RED
    print(Shape.ROUND.value + "!", Size.SMALL.value * 2)  # expect: round! 1. (python: round! 1.0)
    print(known(None).name, known(Color.RED).name)  # expect: GREEN RED
    several: List[Color] = [Color.RED, c]
    print(several[1].name, len(several))  # expect: GREEN 2

# not in PyTorch: `is` of two equal members is False there
