"""`is` and `is not`: identity of objects, equality of numbers."""
# rule: identity

from typing import List, Optional


def same(a: List[int], b: List[int]) -> bool:
    return a is b


def main():
    xs = [1]
    ys = [1]
    print(same(xs, xs), same(xs, ys), xs is not ys)  # expect: True False True
    y: Optional[int] = None
    print(y is None, y is not None)  # expect: True False
