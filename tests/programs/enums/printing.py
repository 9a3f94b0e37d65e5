"""An enum member is printed in PyTorch's format."""

from enum import Enum


class Color(Enum):
    RED = 1


def main():
    c = Color.RED
    print(c, [c])  # expect: Enum<Color.RED> [Enum<Color.RED>] (python: Color.RED [<Color.RED: 1>])
    print(str(c))  # expect: Enum<Color.RED> (python: Color.RED)
