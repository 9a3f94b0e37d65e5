"""An interface: an object whose class has its methods can be passed for it."""
# rule: interface

import ts as torch


@torch.jit.interface
class Shape:
    def area(self, scale: float) -> float:
        pass


@torch.jit.script
class Square:
    def __init__(self, side: float):
        self.side = side

    def area(self, scale: float) -> float:
        return self.side * self.side * scale


@torch.jit.script
class Line:
    def __init__(self):
        self.length = 1.0

    def area(self, scale: float) -> float:
        return 0.0


@torch.jit.script
def total(a: Shape, b: Shape) -> float:
    return a.area(2.0) + b.area(1.0)


@torch.jit.script
def fn() -> float:
    return total(Square(3.0), Line())


print(fn())  # expect: 18.0
