"""A function without a return statement returns None."""

from typing import List


def touch(xs: List[int]):
    xs.append(1)


def main():
    xs = [0]
    touch(xs)
    print(touch(xs), xs)  # expect: None [0, 1, 1]
