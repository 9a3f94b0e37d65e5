"""Script classes and functions that use them, whose graphs must have PyTorch's text."""

from typing import Any, List, Optional


class Item:
    def __init__(self, n: int, names: List[str], scale: float = 1.5):
        self.n = n
        self.names = names
        self.scale = scale
        self.seen: List[int] = []

    def add(self, k: int) -> int:
        self.n += k
        self.seen.append(k)
        return self.n

    @property
    def twice(self) -> int:
        return self.n * 2

    @twice.setter
    def twice(self, value: int):
        self.n = value // 2

    @staticmethod
    def largest(a: int, b: int) -> int:
        return a if a > b else b

    @classmethod
    def empty(cls, n: int) -> "Item":
        return cls(n, ["e"], 0.5)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, i: int) -> str:
        return self.names[i]

    def __setitem__(self, i: int, name: str):
        self.names[i] = name

    def __delitem__(self, i: int):
        del self.names[i]

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __neg__(self) -> int:
        return -self.n

    def __mul__(self, k: int) -> int:
        return self.n * k

    def __lt__(self, other: "Item") -> bool:
        return self.n < other.n

    def __bool__(self) -> bool:
        return self.n > 0

    def __call__(self, k: int) -> int:
        return self.n + k

    def __enter__(self) -> int:
        self.n += 1
        return self.n

    def __exit__(self, type: Any, value: Any, tb: Any):
        self.n -= 1


def constructs(n: int):
    a = Item(n, ["x"], 2.0)
    return a.n, a.scale


def attributes(n: int):
    a = Item(n, ["x", "y"], 2.0)
    a.n = 3
    a.scale += 1.0
    a.names, b = ["z"], a.n
    return a.names, b


def methods(a: Item, k: int):
    b = a.add(k)
    c = a.empty(k)
    return b + c.add(k=2) + Item.largest(b, k)


def properties(a: Item):
    a.twice = 10
    a.twice += 2
    return a.twice


def subscripts(a: Item):
    a[0] = "q"
    del a[1]
    return a[0], "q" in a, "r" not in a, len(a)


def operators(a: Item, b: Item):
    if a:
        return -a + a * 3
    return a(4) if a < b else 0


def optional(a: Optional[Item]):
    if a is not None:
        return a.n
    return -1


def containers(xs: List[Item]):
    ys = sorted(xs)
    xs.sort(reverse=True)
    return [y.n for y in ys], {"first": xs[0]}


def contexts(a: Item, b: Item, n: int):
    with a as k, b:
        n += k
    with a:
        return n


def contexts_in_loop(a: Item, n: int):
    for i in range(n):
        with a as k:
            n -= k
    return n
