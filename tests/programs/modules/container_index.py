"""Module containers indexed by run-time values: an interface annotation declares the type of the elements."""

import io
from typing import Any, List

import ts
from ts import nn


@ts.jit.interface
class Step(nn.Module):
    def forward(self, x: ts.Tensor) -> ts.Tensor:
        pass


class Add(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.n = n

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return x + self.n


class Double(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        self.calls += 1
        return x * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.ModuleList([Add(1), Double(), Add(100)])
        self.row = nn.Sequential(Double(), Add(5))
        self.heads = nn.ModuleDict({"add": Add(7), "twice": Double()})
        self.scales = nn.ParameterDict({"middle": nn.Parameter(ts.ones(1) / 2)})

    def forward(self, x: ts.Tensor, program: List[int], head: str) -> ts.Tensor:
        for i in program:
            step: Step = self.steps[i]
            x = step.forward(x)
        last: Step = self.heads[head]
        return last.forward(x)

    def step(self, i: int) -> Step:
        return self.row[i]

    @ts.jit.export
    def one(self, x: ts.Tensor, i: int) -> ts.Tensor:
        return self.step(i).forward(x)

    @ts.jit.export
    def is_tensor(self, name: str) -> bool:
        found: Any = self.heads[name]
        return isinstance(found, ts.Tensor)

    @ts.jit.export
    def has(self, name: str) -> bool:
        return name in self.heads

    @ts.jit.export
    def calls(self) -> int:
        return self.steps[1].calls

    @ts.jit.export
    def scale(self, name: str) -> ts.Tensor:
        found: ts.Tensor = self.scales[name]
        return found * 3


net = ts.jit.script(Net())
print(net(ts.ones(1), [0, 1, 1], "add"))  # expect: tensor([15.])
print(net(ts.ones(1), [1, 2, 2, 0], "twice"))  # expect: tensor([406.])
print(net.calls())  # expect: 3
print(net.one(ts.zeros(1), 1))  # expect: tensor([5.])
print(net.is_tensor("add"), net.has("add"), net.has("sub"))  # expect: False True False
print(net.scale("middle").sum().item())  # expect: 1.5

try:
    net(ts.ones(1), [0], "sub")
except RuntimeError as error:
    print(
        str(error).strip().splitlines()[-1].partition(" does ")[2]
    )  # expect: not have a field with name 'sub'

buffer = io.BytesIO()
ts.jit.save(net, buffer)
buffer.seek(0)
loaded = ts.jit.load(buffer)
print(loaded(ts.ones(1), [2, 1], "add"))  # expect: tensor([209.])
print(loaded.calls(), loaded.is_tensor("twice"), loaded.has("add"))  # expect: 4 False True
