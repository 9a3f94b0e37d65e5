"""In-place operators and index assignment change the tensor for all variables that refer to it."""

import ts


def main():
    x = ts.zeros([3])
    y = x
    x += 1
    y[1] = 5
    x[2:] = 7
    print(float(x[1]) == 5.0, y.sum().item())  # expect: True 13. (python: True 13.0)
