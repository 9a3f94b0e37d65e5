"""A default of the wrong type."""


def f(x: int = "a") -> int:  # expect error: Expected a default value of type int on parameter "x"
    return x


def main():
    return f()
