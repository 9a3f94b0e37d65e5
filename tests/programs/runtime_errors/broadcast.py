"""The error for shapes that do not broadcast names the last mismatched dimension."""

import ts


def main():
    x, y = ts.zeros([3, 4]), ts.zeros([2, 3])
    print(x + y)  # expect runtime error: The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1
