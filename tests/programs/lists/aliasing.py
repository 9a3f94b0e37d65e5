"""Two variables refer to one list."""

from typing import List


def grow(xs: List[int]) -> None:
    xs.append(len(xs))


def main():
    a = [7]
    b = a
    grow(b)
    a[0] = 8
    print(a, b)  # expect: [8, 1] [8, 1]
    a += [5]
    print(b)  # expect: [8, 1, 5]
