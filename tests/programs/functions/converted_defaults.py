"""Defaults are converted to the annotated number type; operators accept `input` for the first argument."""
# rule: calls

import ts


def f(flag: bool = 1, count: int = True, rate: float = False):
    return flag, count, rate


def main():
    print(f())  # expect: (True, 1, 0.)  (python: (1, True, False))
    print(int(ts.add(input=ts.ones(2), other=ts.ones(2)).sum()))  # expect: 4
