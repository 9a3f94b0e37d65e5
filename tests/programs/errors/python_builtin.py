"""Builtins of Python that the language lacks."""


def main():
    x = 3
    return repr(x)  # expect error: Python builtin <built-in function repr> is currently not supported
