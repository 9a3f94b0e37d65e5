"""The name `Ellipsis` and slice objects in subscripts, as printed by fx."""
# rule: builtin.values

import ts


def main():
    x = ts.arange(6).reshape(2, 3)
    print(int(x[Ellipsis, 0].sum()))  # expect: 3
    print(x[(Ellipsis, slice(None, 1, None))].shape)  # expect: [2, 1]  (python: torch.Size([2, 1]))
    x[Ellipsis, 1] = 9
    print(int(x.sum()))  # expect: 28
