"""Branches refine a union whose type is known from an assignment, and a union with None, step by step."""

from typing import List, Optional, Union


def known(n: int) -> str:
    u: Union[int, str] = n
    if isinstance(u, str):
        print("never")
    if n > 3:
        u = "w"
    return u if isinstance(u, str) else "int"


def looped(n: int) -> Union[int, str]:
    u: Union[int, str] = n
    for i in range(3):
        if isinstance(u, str):
            print("never")
        u = i
    return u


def appended(xs: List[int]) -> List[int]:
    u: Union[int, str, List[int], None] = xs
    if isinstance(u, str):
        pass
    elif isinstance(u, int):
        pass
    elif u is not None:
        u.append(7)
    return xs


def which(u: Union[int, str, List[int], None]) -> str:
    if isinstance(u, str):
        return "str"
    elif isinstance(u, int):
        return "int"
    elif u is None:
        return "None"
    return str(len(u))


def optional(o: Optional[Union[int, str]]) -> Union[int, str, None]:
    return o


def main():
    print(known(1), known(4), looped(1))  # expect: int w 2
    print(appended([]), appended([1]))  # expect: [7] [1, 7]
    print(which("a"), which(1), which(None), which([1, 2]))  # expect: str int None 2
    print(optional(None), optional(2))  # expect: None 2


# not in PyTorch: a refined Optional[Union[...]] is not a member of its own union there
