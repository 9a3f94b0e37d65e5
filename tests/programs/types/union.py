"""A Union is refined by `isinstance`; `|` is an equivalent annotation."""
# rule: union

from typing import List, Union


def f(x: Union[int, str]) -> str:
    if isinstance(x, int):
        return "int " + str(x + 1)
    else:
        return "str " + x.upper()


def g(x: int | List[int] | None) -> int:
    if x is None:
        return -1
    if isinstance(x, int):
        return x
    return len(x)


def main():
    print(f(3), f("a"))  # expect: int 4 str A
    print(g(None), g(4), g([1, 2]))  # expect: -1 4 2
