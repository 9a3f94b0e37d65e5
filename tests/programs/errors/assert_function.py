"""`torch._assert` takes a bool or a tensor, and fails as the statement does."""

import ts


def main():
    ts._assert(2 > 1, "numbers")
    ts._assert(ts.ones(2).sum() > 1, "tensors")
    n = 3
    try_again = ts.zeros(1) > n
    print("so far")  # expect: so far
    ts._assert(try_again, f"not above {n}")  # expect runtime error: not above 3
