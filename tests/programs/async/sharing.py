from typing import List

import ts


def same(xs: List[int]) -> List[int]:
    return xs


def grow(xs: List[int]) -> int:
    xs.append(3)
    return len(xs)


def main():
    # The result of a future may be an argument of its function.
    xs = [1]
    ys = ts.jit.wait(ts.jit.fork(same, xs))
    before = len(ys)
    xs.append(2)
    print(before, len(ys))  # expect: 1 2
    # A forked function changes its argument in place.
    size = len(xs)
    print(ts.jit.wait(ts.jit.fork(grow, xs)), size, len(xs))  # expect: 3 2 3
