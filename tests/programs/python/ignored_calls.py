"""An ignored function runs in Python; its arguments and its result have the annotated types."""
# not in PyTorch: it ignores the defaults of ignored functions.

import os
from typing import Dict, List, Tuple

import ts

CALLS = []


@ts.jit.ignore
def tally(names: List[str], weight: int = 2) -> Dict[str, int]:
    try:
        return {name: len(name) * weight for name in names if name}
    finally:
        CALLS.append(os.sep and len(names))


@ts.jit.ignore()
def split(x: float) -> Tuple[int, float]:
    yes = [whole for whole in {int(x)}]
    return yes[0], x - yes[0]


@ts.jit.ignore
def commented(n):
    # type: (int) -> str
    return f"{n:04d}"


def main():
    found = tally(["ab", "", "abc"])
    print(found["abc"])  # expect: 6
    print(tally(["x"], weight=5))  # expect: {x: 5}  (python: {'x': 5})
    whole, rest = split(2.25)
    print(whole, rest)  # expect: 2 0.25
    print(commented(7) + "!")  # expect: 0007!
