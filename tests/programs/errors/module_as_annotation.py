"""A Module subclass cannot be an argument type: attributes are known for instances only."""

import ts


class Scale(ts.nn.Module):
    def forward(self, x):
        return x * 2


def f(scale: Scale) -> int:  # expect error: Unknown type name 'Scale'
    return 1


def main():
    return 1 if f is None else f(None)
