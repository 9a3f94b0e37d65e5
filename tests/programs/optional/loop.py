"""An Optional that is assigned in a loop."""
# rule: optional

from typing import List, Optional


def first_even(xs: List[int]) -> Optional[int]:
    found: Optional[int] = None
    for x in xs:
        if x % 2 == 0 and found is None:
            found = x
    return found


def main():
    print(first_even([1, 4, 6]), first_even([1]))  # expect: 4 None
