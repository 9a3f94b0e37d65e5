"""`for` over the first dimension of a tensor, and over its sizes."""

import ts


def main():
    x = ts.arange(6).view(3, 2)
    total = 0
    for row in x:
        total += int(row[1])
    print(total)  # expect: 9
    n = 1
    for s in x.size():
        n *= s
    print(n, x.size(0), len(x))  # expect: 6 3 3
