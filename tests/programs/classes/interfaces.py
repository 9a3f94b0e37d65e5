"""Interfaces: a class with the methods implements the interface; the object's class selects the method."""

from typing import List

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
    def __init__(self, a: int, b: int):
        self.a = a
        self.b = b

    def area(self, scale: int) -> int:
        return self.a * self.b * scale


class Room:
    def __init__(self, shape: Shape):
        self.shape = shape

    def size(self) -> int:
        return self.shape.area(10)


def total(shapes: List[Shape]) -> int:
    result = 0
    for shape in shapes:
        result += shape.area(2)
    return result


def main():
    shapes: List[Shape] = [Square(2), Rectangle(3, 4), Square(1)]
    print(total(shapes))  # expect: 34
    room = Room(Square(3))
    print(room.size())  # expect: 90
    room.shape = Rectangle(2, 2)
    print(room.size())  # expect: 40
