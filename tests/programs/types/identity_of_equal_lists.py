"""List literals with equal elements are separate objects."""
# rule: identity

from typing import List


def same(a: List[int], b: List[int]) -> bool:
    return a is b


def chosen(first: bool) -> bool:
    xs = [1, 2]
    ys = [1, 2]
    zs = xs if first else ys
    return zs is xs


def main():
    print(same([1, 2], [1, 2]), chosen(True), chosen(False))  # expect: False True False
    holder = [[1, 2], [1, 2]]
    print(holder[0] is holder[1], holder[0] is holder[0], holder[0] == holder[1])  # expect: False True True
    xs = [3]
    ys = [3]
    xs.append(4)
    print(xs, ys)  # expect: [3, 4] [3]
