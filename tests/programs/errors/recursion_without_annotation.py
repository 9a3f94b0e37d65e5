"""Recursion requires a return annotation."""


def f(n: int):
    if n == 0:
        return 0
    return f(n - 1)  # expect error: function 'f' is called recursively


def main():
    return f(3)
