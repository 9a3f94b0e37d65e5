"""Operators call the magic methods of a class."""
# rule: class.magic

import ts as torch


@torch.jit.script
class Vector:
    def __init__(self, x: int, y: int):
        self.x = x
        self.y = y

    def __add__(self, other: "Vector") -> "Vector":
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k: int) -> "Vector":
        return Vector(self.x * k, self.y * k)

    def __neg__(self) -> "Vector":
        return Vector(-self.x, -self.y)

    def __eq__(self, other: "Vector") -> bool:
        return self.x == other.x and self.y == other.y

    def __lt__(self, other: "Vector") -> bool:
        return self.x < other.x

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> int:
        return self.x if i == 0 else self.y

    def __setitem__(self, i: int, value: int) -> None:
        if i == 0:
            self.x = value
        else:
            self.y = value

    def __contains__(self, value: int) -> bool:
        return self.x == value or self.y == value

    def __bool__(self) -> bool:
        return self.x != 0 or self.y != 0

    def __str__(self) -> str:
        return "<" + str(self.x) + ", " + str(self.y) + ">"

    def __call__(self, k: int) -> int:
        return self.x * k + self.y


@torch.jit.script
def fn():
    v = Vector(1, 2)
    w = -(v + Vector(3, 4)) * 2
    print(w[0], w[1], len(w), v == Vector(1, 2), v < w)
    v[0] = 9
    print(v[0], 9 in v, 7 in v, str(v), v(10))
    if v:
        print("true")


fn()
# expect: -8 -12 2 True False
# expect: 9 True False <9, 2> 92
# expect: true
