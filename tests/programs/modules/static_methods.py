"""Static methods of modules, called on the instance and on the class."""

import ts
from ts import nn


class Scale(nn.Module):
    @staticmethod
    def twice(x: int) -> int:
        return 2 * x

    def forward(self, x: int) -> int:
        return self.twice(x) + Scale.twice(x + 1)


def outside(x: int) -> int:
    return Scale.twice(x)


print(ts.jit.script(Scale())(1))  # expect: 6
print(ts.jit.script(outside)(4))  # expect: 8
