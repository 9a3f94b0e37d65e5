"""Augmented bit operators and powers return new tensors, as in PyTorch; other operators work in place."""
# rule: statements.augmented

from typing import Dict

import ts


def main():
    a = ts.tensor([1, 2])
    b = a
    a += 1
    print(int(b.sum()))  # expect: 5
    a |= 8
    print(int(a.sum()), int(b.sum()))  # expect: 21 5  (python: 21 21)
    a **= 2
    print(int(b.sum()))  # expect: 5  (python: 221)
    c = ts.tensor([1, 2])
    a = c
    a <<= 1
    print(int(c.sum()))  # expect: 6
    d: Dict[str, ts.Tensor] = {"k": c}
    d["k"] += 1
    print(int(c.sum()), int(d["k"].sum()))  # expect: 6 8  (python: 8 8)
