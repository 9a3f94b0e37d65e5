"""`__setstate__` without an annotation has the result type of `__getstate__` as its parameter type."""

import ts


class Counter(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 3

    @ts.jit.export
    def __getstate__(self):
        return (self.count + 1, self.training)

    @ts.jit.export
    def __setstate__(self, state):
        self.count = state[0]
        self.training = state[1]

    @ts.jit.export
    def again(self) -> int:
        self.__setstate__((self.count * 2, False))
        return self.count

    def forward(self, x):
        return x + self.count


scripted = ts.jit.script(Counter())
print(scripted.again(), scripted.training)  # expect: 6 False
traced = ts.jit.trace(Counter(), ts.zeros(2))
print(traced(ts.ones(1)).item())  # expect: 4.0
