"""An interface whose methods have parameters and results of the interface's own type."""
# rule: interface

import ts


@ts.jit.interface
class Shape:
    def area(self) -> float:
        pass

    def scaled(self, k: float) -> "Shape":
        pass


class Square:
    def __init__(self, side: float):
        self.side = side

    def area(self) -> float:
        return self.side * self.side

    def scaled(self, k: float) -> "Square":
        return Square(self.side * k)


class Unit:
    def area(self) -> float:
        return 1.0

    def scaled(self, k: float) -> Square:
        return Square(k)

    def __init__(self):
        self.n = 1


def total(a: Shape, b: Shape) -> float:
    return a.scaled(2.0).area() + b.scaled(3.0).scaled(2.0).area()


def main():
    print(total(Square(1.0), Unit()))  # expect: 40. (python: 40.0)
# not in PyTorch: an interface cannot refer to itself there
