"""Module hooks are compiled: forward pre-hooks may change the arguments, forward hooks the result."""

from typing import Tuple

import ts
from ts import nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = 10

    def forward(self, x: int) -> int:
        return x + self.offset


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x: int) -> int:
        return self.inner(x) + self.inner.forward(x)


def doubled(self, args: Tuple[int]) -> Tuple[int]:
    return (args[0] * 2,)


def negated(self, args: Tuple[int], result: int) -> int:
    return -result


def silent(self, args: Tuple[int], result: int) -> None:
    print("saw", args[0], result)


net = Outer()
net.inner.register_forward_pre_hook(doubled)
net.inner.register_forward_hook(negated)
net.inner.register_forward_hook(silent)
scripted = ts.jit.script(net)
print(scripted(3))  # expect: saw 6 -16
print(scripted.inner(1), scripted.inner.forward(1))  # expect: -3
# expect: saw 2 -12
# expect: -12 11
