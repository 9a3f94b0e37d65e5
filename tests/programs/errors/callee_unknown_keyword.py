"""A keyword that the function does not have."""


def f(a: int) -> int:
    return a


def main():
    return f(1, z=2)  # expect error: Keyword argument z unknown.
