"""A call of a scripted function without a required argument."""


def f(a: int, b: int) -> int:
    return a + b


def main():
    return f(1)  # expect error: Argument b not provided.
