"""`manual_seed` in a script seeds the default generator, with PyTorch's random numbers."""

import ts


def main():
    ts.manual_seed(3)
    x = ts.rand([2])
    ts.manual_seed(3)
    y = ts.rand([2])
    print(bool((x == y).all()), int(x[1] * 1000000))  # expect: True 105569
