"""`isinstance` is evaluated at compile time from static types, or at run time for Optional and Any."""
# rule: builtin.isinstance

from typing import Any


def kind(x: Any) -> str:
    if isinstance(x, int):
        return "int"
    if isinstance(x, str):
        return "str"
    return "other"


def main():
    print(kind(3), kind("a"), kind(2.5))  # expect: int str other
    x = 3
    print(isinstance(x, int), isinstance(x, (str, float)))  # expect: True False
