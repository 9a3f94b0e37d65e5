"""A class of modules is no type of arguments: what a module holds is known of instances only."""

import ts


class Scale(ts.nn.Module):
    def forward(self, x):
        return x * 2


def f(scale: Scale) -> int:  # expect error: Unknown type name 'Scale'
    return 1


def main():
    return 1 if f is None else f(None)
