"""A subclass of Tensor as an annotation means Tensor."""
# rule: builtin_class

from typing import List, Optional

import ts


class Sub(ts.Tensor):
    pass


def total(x: Sub, others: List[Sub], last: Optional[Sub] = None) -> Sub:
    for other in others:
        x = x + other
    if last is not None:
        x = x + last
    return x


def of_buffer(x: ts.nn.Buffer, y: ts.nn.Parameter):
    return x + y


def main():
    x = ts.ones(2)
    print(int(total(x, [x, x]).sum()))  # expect: 6
    print(int(of_buffer(x, x).sum()))  # expect: 4
