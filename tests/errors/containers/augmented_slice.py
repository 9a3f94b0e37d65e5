"""An augmented assignment to a slice of a list."""

from typing import List


def main(x: List[int]):
    x[1:2] += [1]
    return x


# torch: Cannot emit expr for: (slice expr

# error: NotSupportedError
# Sliced expression not yet supported for List[int] augmented assignment. File a bug if you want this:
#   File "augmented_slice.py", line 7
# def main(x: List[int]):
#     x[1:2] += [1]
#     ~~~~~~ <--- HERE
#     return x
