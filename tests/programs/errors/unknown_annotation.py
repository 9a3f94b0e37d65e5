"""An annotation with an undefined name."""


def f(x: "Zork") -> int:  # expect error: Unknown type name 'Zork'
    return 1


def main():
    return f(1)
