"""A tensor with one element as a condition."""

import ts


def main():
    x = ts.ones([1])
    if x.sum() > 0:
        print("positive")  # expect: positive
    while x.sum() < 10:
        x = x * 2
    print(x.item())  # expect: 16. (python: 16.0)
