"""An exception of a Python function leaves the program with its class and message in the text."""

import ts


@ts.jit.ignore
def check(n: int) -> int:
    raise ValueError(f"bad value {n}")


def main():
    print(1)  # expect: 1
    print(check(3))  # expect runtime error: ValueError: bad value 3
