"""A subclass of list cannot be a script class, because its elements would be lost."""


class Names(list):
    pass


def f(names: Names) -> int:  # expect error: Unknown type name 'Names'
    return 1


def main():
    return f(Names(["a"]))
