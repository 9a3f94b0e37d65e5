"""Operands whose types have no common overload."""


def main():
    return "abc" + 1  # expect error: aten::add
