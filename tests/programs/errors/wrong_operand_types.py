"""Operands that do not go together."""


def main():
    return "abc" + 1  # expect error: aten::add
