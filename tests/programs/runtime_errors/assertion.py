"""A false assert, with its message."""


def main():
    n = 2
    n += 1
    assert n == 2, "n is off"  # expect runtime error: n is off
