"""Basic and advanced indexing."""
# rule: slices.tensor

import ts


def main():
    x = ts.arange(12).view(3, 4)
    print(int(x[1, 2]), int(x[-1].sum()), int(x[:, 1].sum()))  # expect: 6 38 15
    print(list(x[1:, ::2].shape) == [2, 2], x[None].dim(), x[..., 0].dim())  # expect: True 3 1
    print(int(x[x > 5].sum()))  # expect: 51
