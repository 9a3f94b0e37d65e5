"""A call of a scripted function with an argument of the wrong type."""


def f(a: int) -> int:
    return a


def main():
    return f("x")  # expect error: Expected a value of type 'int' for argument 'a' but instead found type 'str'
