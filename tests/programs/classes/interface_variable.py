"""A variable of an interface type holds objects of different classes; the class selects the called method."""
# rule: interface
# not in PyTorch: it runs the program, but cannot parse its own printed source.

import ts


@ts.jit.interface
class Shape:
    def area(self, scale: int) -> int:
        pass


class Square:
    def __init__(self, side: int):
        self.side = side

    def area(self, scale: int) -> int:
        return self.side * self.side * scale


class Rectangle:
    def __init__(self, width: int, height: int):
        self.width = width
        self.height = height

    def area(self, scale: int) -> int:
        return self.width * self.height * scale


def chosen(wide: bool, scale: int) -> int:
    shape: Shape = Square(2)
    if wide:
        shape = Rectangle(2, 9)
    return shape.area(scale)


def main():
    print(chosen(True, 1), chosen(False, 2))  # expect: 18 8
