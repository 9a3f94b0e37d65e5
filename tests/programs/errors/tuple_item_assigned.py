"""Tuples are immutable."""


def main():
    t = (1, 2)
    t[0] = 3  # expect error: Tuple[int, int] does not support subscripted assignment
    return t
