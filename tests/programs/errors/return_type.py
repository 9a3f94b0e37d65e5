"""A returned value of another type than annotated."""


def main() -> str:
    return 3  # expect error: Return value was annotated as having type str but is actually of type int
