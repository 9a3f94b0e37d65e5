"""A ScriptModule subclass is compiled at instantiation; methods defined from source strings; copies."""

import copy

import ts
from ts import nn


class Scale(ts.jit.ScriptModule):
    __constants__ = ["by"]

    def __init__(self, by: int):
        super().__init__()
        self.by = by
        self.weight = nn.Parameter(ts.ones(2))
        self.inner = nn.Linear(2, 2)

    @ts.jit.script_method
    def forward(self, x):
        return self.helped(x) * self.by

    @ts.jit.script_method
    def helped(self, x):
        return x + self.weight

    def plain(self):
        return "python"


m = Scale(3)
print(m(ts.ones(2)).tolist(), m.plain())  # expect: [6.0, 6.0] python
m.define("""
def both(self, x):
    return self.forward(x) + self.helped(x)
""")
print(m.both(ts.ones(2)).tolist())  # expect: [8.0, 8.0]
other = copy.deepcopy(m)
other.weight.data.fill_(5)
print(m(ts.ones(2)).tolist(), other(ts.ones(2)).tolist())  # expect: [6.0, 6.0] [18.0, 18.0]
print([name for name, _ in m.named_parameters()])  # expect: ['weight', 'inner.weight', 'inner.bias']
