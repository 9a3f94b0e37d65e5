"""Python builtins that the language does not support."""


def main():
    x = 3
    return repr(x)  # expect error: Python builtin <built-in function repr> is currently not supported
