"""Variables of a `with` block after a return, or inside a `with` block that returns, are defined after it."""

from typing import Any


class Depth:
    def __init__(self):
        self.entered = 0
        self.left = 0

    def __enter__(self) -> int:
        self.entered += 1
        return self.entered

    def __exit__(self, type: Any, value: Any, tb: Any):
        self.left += 1


def after_return(d: Depth, n: int) -> str:
    if n > 5:
        return "early"
    with d as k:
        s = "a" + str(k)
    if n > 3:
        with d as m:
            s += str(m)
    return s


def nested(d: Depth, n: int) -> str:
    with d:
        if n > 5:
            return "early"
        with d as k, d:
            s = "b" + str(k)
            if n > 3:
                return s
            t = s + "c"
    return s + t


def main():
    d = Depth()
    print(after_return(d, 6), after_return(d, 4), after_return(d, 1))  # expect: early a12 a3
    print(d.entered, d.left)  # expect: 3 3
    print(nested(d, 6), nested(d, 4), nested(d, 1))  # expect: early b6 b9b9c
    print(d.entered, d.left)  # expect: 10 10


# not in PyTorch: its compiler fails
