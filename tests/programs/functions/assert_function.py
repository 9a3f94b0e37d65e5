"""`torch._assert` accepts a bool or a tensor."""

import ts


def main():
    n = 3
    ts._assert(n > 1, "numbers")
    ts._assert(ts.ones(2).sum() > 1, f"above {n}")
    print("so far")  # expect: so far
