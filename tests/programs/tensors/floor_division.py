"""`//` of a tensor and a number, and of two tensors."""

import ts


def main():
    x = ts.arange(4) * 3
    print(int((x // 2).sum()))  # expect: 8
    print(float((ts.ones([2]) * 7 // 2.0).sum()), int((x // ts.full([4], 3)).sum()))  # expect: 6. 6 (python: 6.0 6)
