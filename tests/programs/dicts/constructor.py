"""All forms of `dict(...)`."""

from typing import Dict, List, Tuple


def show(d: Dict[str, int]) -> None:
    keys: List[str] = []
    for key in d:
        keys.append(key + str(d[key]))
    print(" ".join(keys))


def main():
    empty: Dict[str, int] = dict()
    show(empty)  # expect:
    show(dict(a=1, b=2))  # expect: a1 b2
    show(dict([("a", 1), ("b", 2)]))  # expect: a1 b2
    show(dict([("a", 1)], b=2))  # expect: a1 b2
    show(dict({"a": 1}, a=3, b=2))  # expect: a3 b2
    show(dict({chr(97 + i): i for i in range(2)}, z=5))  # expect: a0 b1 z5
    show(dict(zip(["x", "y"], [7, 8])))  # expect: x7 y8
    known = {"k": 1}
    copied = dict(known, m=2)
    show(copied)  # expect: k1 m2
    show(known)  # expect: k1
    pairs: List[Tuple[str, int]] = [("p", 4)]
    show(dict(pairs))  # expect: p4
