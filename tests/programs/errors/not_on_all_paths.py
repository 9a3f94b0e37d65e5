"""A function that falls off its end."""


def main() -> int:  # expect error: does not return along all paths
    n = 2
    if n > 1:
        return 1
