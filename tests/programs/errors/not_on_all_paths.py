"""A function that does not return a value on all paths."""


def main() -> int:  # expect error: does not return along all paths
    n = 2
    if n > 1:
        return 1
