"""A local variable is used before its assignment."""


def main():
    a = b + 1  # expect error: undefined value b
    b = 2
    return a
