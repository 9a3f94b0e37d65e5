"""A union is refined by `isinstance`, `is None`, early exits, and conditions with `and`, `or` and `not`."""

from typing import Dict, List, Optional, Union


def kind(x: Union[int, str, List[int], Dict[str, int], None]) -> str:
    if x is None:
        return "none"
    if isinstance(x, (int, str)):
        if isinstance(x, int):
            return "int " + str(x + 1)
        return "str " + x.upper()
    if isinstance(x, list):
        return "list of " + str(len(x))
    return "dict of " + str(x["a"])


def added(x: Union[int, str], y: Union[int, str]) -> int:
    if isinstance(x, int) and isinstance(y, int):
        return x + y
    if not (isinstance(x, str) and isinstance(y, str)):
        return -1
    assert isinstance(x, str) and isinstance(y, str)
    return len(x + y)


def or_default(x: Optional[int], flag: bool) -> int:
    if x is None or flag:
        return 0
    while x is not None and x < 10:
        x = x * 2
    return x if x is not None else -1


def main():
    print(kind(None), kind(1), kind("a"))  # expect: none int 2 str A
    print(kind([1, 2]), kind({"a": 3}))  # expect: list of 2 dict of 3
    print(added(1, 2), added("a", "bc"), added(1, "a"))  # expect: 3 3 -1
    print(or_default(None, False), or_default(3, True), or_default(3, False))  # expect: 0 0 12
    u: Union[int, str] = 1
    if len("ab") == 2:
        u = "two"
    print(u)  # expect: two
