"""A function marked as unused may contain unsupported code, and raises an error when it is called."""

import ts


@ts.jit.unused
def train(n: int) -> int:
    import random

    with open("nothing") as file:
        return random.randint(0, n) + len(file.read())


def main():
    n = 0
    if n > 1:
        n = train(n)
    print(n)  # expect: 0
