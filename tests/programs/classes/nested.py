"""Nested classes, accessed through the outer class."""
# rule: class

import enum
from typing import List, NamedTuple

import ts


class Outer:
    class Inner:
        def __init__(self, n: int):
            self.n = n

        def doubled(self) -> int:
            return self.n * 2

    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    class Pair(NamedTuple):
        a: int
        b: int = 4

    class Deep:
        class Deeper:
            def __init__(self):
                self.text = "deep"

    def __init__(self):
        self.inner = Outer.Inner(3)

    def pair(self) -> int:
        return self.inner.n + Outer.Pair(1).b

    def is_red(self, color: "Outer.Color") -> bool:
        return color == Outer.Color.RED


class Block(ts.nn.Module):
    class Mode(enum.Enum):
        ON = "on"

    def forward(self) -> str:
        return Block.Mode.ON.value


block = Block()


def main():
    inner = Outer.Inner(4)
    print(inner.n, inner.doubled(), Outer().inner.n)  # expect: 4 8 3
    print(Outer.Color.BLUE.value, Outer.Color.RED.name)  # expect: 2 RED
    print(Outer.Pair(2).b, Outer().pair())  # expect: 4 7
    print(Outer.Deep.Deeper().text)  # expect: deep
    print(Outer().is_red(Outer.Color.RED), Outer().is_red(Outer.Color.BLUE))  # expect: True False
    print([i.doubled() for i in [Outer.Inner(1), Outer.Inner(2)]])  # expect: [2, 4]
    values: List[int] = []
    for color in Outer.Color:
        values.append(color.value)
    print(values)  # expect: [1, 2]
    print(Block.Mode.ON.value)  # expect: on
    print(Outer.Inner.doubled(inner))  # expect: 8
# not in PyTorch: it does not resolve the type `Outer.Color` inside of `Outer`
