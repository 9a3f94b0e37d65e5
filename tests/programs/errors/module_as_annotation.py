"""A Module subclass cannot be a parameter type, because only instances have known attributes."""

import ts


class Scale(ts.nn.Module):
    def forward(self, x):
        return x * 2


def f(scale: Scale) -> int:  # expect error: Unknown type name 'Scale'
    return 1


def main():
    return 1 if f is None else f(None)
