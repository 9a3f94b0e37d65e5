"""None as the default of a Tensor parameter is an undefined tensor, which is not None in a script."""
# rule: calls

import ts
from ts import Tensor


def scaled(x, scale=None):
    return x * 2 if scale is None else x


def of_annotated(x: Tensor, scale: Tensor = None):
    return x


def main():
    x = ts.ones(2)
    print(int(of_annotated(x, x).sum()))  # expect: 2
