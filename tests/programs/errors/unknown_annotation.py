"""An annotation that names nothing."""


def f(x: "Zork") -> int:  # expect error: Unknown type name 'Zork'
    return 1


def main():
    return f(1)
