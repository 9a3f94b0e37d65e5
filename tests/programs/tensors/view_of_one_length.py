"""`x.view(n)` with an int selects the shape overload, although dtypes are ints in the language, too."""

import ts


def main():
    x = ts.arange(4)
    n = 4
    print(list(x.view(-1).shape), bool(x.view(n).sum() == 6))  # expect: [4] True
    print(list(ts.zeros([2, 3]).view(6).shape))  # expect: [6]
