"""An exception of an ignored function is raised with its class and message in the error text."""

import ts


@ts.jit.ignore
def check(n: int) -> int:
    raise ValueError(f"bad value {n}")


def main():
    print(1)  # expect: 1
    print(check(3))  # expect runtime error: ValueError: bad value 3
