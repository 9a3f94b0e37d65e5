"""`tolist()` returns nested lists with the annotated depth, and rejects another depth or element type."""

from typing import List

import ts


def ints(x: ts.Tensor) -> int:
    values: List[int] = x.tolist()
    total = 0
    for value in values:
        total += value
    return total


def rows(x: ts.Tensor) -> List[List[float]]:
    return x.tolist()


def main():
    print(ints(ts.arange(5)))  # expect: 10
    table = rows(ts.ones([2, 2], dtype=ts.float64) * 1.5)
    print(table[1][0], len(table))  # expect: 1.5 2
    flag: bool = (ts.arange(1)[0] == 0).tolist()
    print(flag)  # expect: True
    empty: List[List[int]] = ts.zeros([2, 0], dtype=ts.int64).tolist()
    print(empty)  # expect: [[], []]
