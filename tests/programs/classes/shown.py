"""Objects are printed and formatted by `__str__`, or by `__repr__` if there is no `__str__`."""

# not in PyTorch, which prints an address

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int, y: int):
        self.x = x
        self.y = y

    def __str__(self) -> str:
        return f"({self.x}, {self.y})"


@ts.jit.script
class Segment:
    def __init__(self, a: Point, b: Point):
        self.a = a
        self.b = b

    def __repr__(self) -> str:
        return "{} -> {}".format(self.a, self.b)


def main() -> None:
    p = Point(1, 2)
    s = Segment(p, Point(3, 4))
    print(p, s)  # expect: (1, 2) (1, 2) -> (3, 4)
    print(f"p = {p}, s = {s}, n = {p.x}")  # expect: p = (1, 2), s = (1, 2) -> (3, 4), n = 1
    print("p = {}, s = {}".format(p, s))  # expect: p = (1, 2), s = (1, 2) -> (3, 4)
    print("p = %s" % p)  # expect: p = (1, 2)
    print("%s: %d" % (s, 5))  # expect: (1, 2) -> (3, 4): 5
    print(str(p) + str(s))  # expect: (1, 2)(1, 2) -> (3, 4)
