"""Lists of tensors, `cat` and `stack`."""

from typing import List

import ts


def main():
    xs: List[ts.Tensor] = []
    for i in range(3):
        xs.append(ts.ones([2]) * i)
    print(list(ts.stack(xs).shape) == [3, 2], float(ts.cat(xs).sum()))  # expect: True 6. (python: True 6.0)
