"""A tuple argument of the wrong length."""

from typing import Tuple


def main(x: Tuple[int, int]):
    return x


# call: main((1, 2, 3))

# error: RuntimeError
# main() Expected a value of type 'Tuple[int, int]' for argument 'x' but instead found type 'tuple'.
# Position: 0
# Value: (1, 2, 3)
# Declaration: main((int, int) x) -> ((int, int))
# Cast error details: Object (1, 2, 3) had a different number of elements than type Tuple[int, int]
