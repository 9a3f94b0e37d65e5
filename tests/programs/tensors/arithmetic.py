"""Tensor arithmetic with tensors and numbers."""
# rule: arithmetic

import ts


def main():
    x = ts.ones([2, 2])
    y = x * 3 + x - 0.5
    print(float(y.sum()), list(y.shape) == [2, 2])  # expect: 14. True (python: 14.0 True)
    print(bool((y > 3).all()), int(y[0, 1] * 2))  # expect: True 7
