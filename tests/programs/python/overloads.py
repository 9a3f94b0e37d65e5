"""An overloaded function is compiled once per declaration; a call selects by the types of its arguments."""

import ts


@ts.jit._overload
def twice(x: int) -> int: ...


@ts.jit._overload
def twice(x: str) -> str:
    pass


@ts.jit._overload
def twice(x, n):
    # type: (float, int) -> float
    pass


def twice(x, n: int = 2):
    if n == 3:
        return x + x + x
    return x + x


@ts.jit._overload
def either(x: int) -> int: ...


@ts.jit._overload
def either(x: str) -> str: ...


def either(x="none"):
    return x


def main():
    print(twice(3))  # expect: 6
    print(twice("ab"))  # expect: abab
    print(twice(1.5, 3))  # expect: 4.5
    print(either())  # expect: none
    print(either(4))  # expect: 4
