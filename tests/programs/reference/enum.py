"""Enum members as arguments and constants."""
# rule: enum

from enum import Enum

import ts as torch


class Color(Enum):
    RED = 1
    GREEN = 2


def enum_fn(x: Color, y: Color) -> bool:
    if x == Color.RED:
        return True

    return x == y


m = torch.jit.script(enum_fn)
print("Eager: ", enum_fn(Color.RED, Color.GREEN))  # expect: Eager:  True
print("TorchScript: ", m(Color.RED, Color.GREEN))  # expect: TorchScript:  True
print(m(Color.GREEN, Color.RED), m(Color.GREEN, Color.GREEN))  # expect: False True
