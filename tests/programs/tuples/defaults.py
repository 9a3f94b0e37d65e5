"""Defaults of named tuples: None, lists, dicts, tuples; fields without an annotation are tensors."""
# rule: namedtuple.class, namedtuple.collections

from collections import namedtuple
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

import ts


class Options(NamedTuple):
    size: int = 1
    limit: Optional[int] = None
    names: List[str] = ["a", "b"]
    pair: Tuple[int, str] = (1, "p")
    table: Dict[str, int] = {"k": 3}
    more: Optional[List[int]] = [3]
    either: Union[int, str] = "e"
    pairs: List[Tuple[int, str]] = [(1, "q")]


Plain = namedtuple("Plain", ["u", "v"], defaults=[3])


def tensors(p: Plain):
    return p.u + p.v


def count(o: Options) -> int:
    more = o.more
    return 0 if more is None else len(more)


def main():
    o = Options()
    print(o.size, o.limit, len(o.names), o.pair[1], o.table["k"])  # expect: 1 None 2 p 3
    print(count(o), o.pairs[0][1])  # expect: 1 q
    print(Options(limit=3).limit, Options(2, names=["c"]).names[0])  # expect: 3 c
    x = ts.ones(1)
    print(float(tensors(Plain(x, x))))  # expect: 2. (python: 2.0)
