"""An enum without members may be subclassed."""
# rule: enum.subclass

from enum import Enum

import ts as torch


class BaseColor(Enum):
    def foo(self):
        pass


class Color(BaseColor):
    RED = 1
    GREEN = 2


def enum_fn(x: Color, y: Color) -> bool:
    if x == Color.RED:
        return True

    return x == y


m = torch.jit.script(enum_fn)
print("TorchScript: ", m(Color.RED, Color.GREEN))  # expect: TorchScript:  True
print("Eager: ", enum_fn(Color.RED, Color.GREEN))  # expect: Eager:  True
