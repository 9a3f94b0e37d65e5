"""Ignored, unused and overloaded methods; attributes accessed by name."""

import ts
from ts import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = 3
        self.unusable = object()

    @ts.jit.ignore
    def logged(self, x: int) -> int:
        print("python", x)
        return x + 1

    @ts.jit.unused
    def never(self, x: int) -> int:
        return [x for x in self.unusable]

    @ts.jit._overload_method
    def twice(self, x: int) -> int:
        pass

    @ts.jit._overload_method
    def twice(self, x: str) -> str:
        pass

    def twice(self, x):
        return x + x

    def forward(self, x: int):
        y = self.logged(x) + self.twice(x) + getattr(self, "offset")
        if hasattr(self, "missing"):
            y = self.missing(y)
        if x > 100:
            y = self.never(y)
        return y, self.twice("a")


net = ts.jit.script(Net())
print(net(4))  # expect: python 4
print(net.logged(1))  # expect: (16, 'aa')
# expect: python 1
# expect: 2
