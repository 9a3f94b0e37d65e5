"""A list argument with an element of the wrong type."""

from typing import List


def main(x: List[int]):
    return x


# call: main([1, "a"])

# error: RuntimeError
# main() Expected a value of type 'List[int]' for argument 'x' but instead found type 'list'.
# Position: 0
# Value: [1, 'a']
# Declaration: main(int[] x) -> int[]
# Cast error details: Unable to cast Python instance of type <class 'str'> to int
