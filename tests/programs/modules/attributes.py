"""Members of modules: parameters, buffers, constants, submodules, properties, exported methods."""

from typing import Dict, List, Optional

import ts
from ts import nn


class Block(nn.Module):
    __constants__ = ["steps"]
    names: Dict[str, int]

    def __init__(self, steps: int, bias: Optional[float]):
        super().__init__()
        self.weight = nn.Parameter(ts.ones(2) * 2)
        self.register_buffer("seen", ts.zeros(1))
        self.steps = steps
        self.bias = bias
        self.names = {}
        self.pair = (1, "one")

    def scaled(self, x, times: int = 2):
        return x * times

    def forward(self, x):
        self.seen += 1
        self.names["calls"] = self.names.get("calls", 0) + 1
        for _ in range(self.steps):
            x = x * self.weight
        if self.bias is not None:
            x = x + self.bias
        if self.training:
            x = self.scaled(x)
        return x

    @property
    def total(self) -> int:
        return self.steps + self.pair[0]

    @ts.jit.export
    def describe(self, names: List[str]) -> str:
        return self.pair[1] + " " + " ".join(names) + " " + str(self.total)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block(1, None), Block(2, 0.5)])
        self.last = Block(2, 0.5)
        self.heads = nn.ModuleDict({"a": nn.Identity(), "b": nn.ReLU()})
        self.extra = nn.ParameterList([ts.ones(2), ts.zeros(2)])
        self.chain = nn.Sequential(nn.Flatten(0), nn.ReLU())

    def forward(self, x, head: str):
        for i, layer in enumerate(self.layers):
            x = layer(x) + i
        for p in self.extra:
            x = x + p
        for name, module in self.heads.items():
            if name == head:
                x = module(x)
        self.last(x)
        return self.chain(x) + len(self.layers) + self.layers[1].weight + self.layers[-1].steps


net = ts.jit.script(Net())
print(net(ts.tensor([1.0, -20.0]), "b").tolist())  # expect: [41.0, 6.0]
net.eval()
print(net(ts.tensor([1.0, -20.0]), "a").tolist())  # expect: [16.5, 6.0]
print(net.last.seen.tolist(), net.last.names)  # expect: [2.0] {'calls': 2}
net.layers[0].weight.data.fill_(3)
print(net(ts.tensor([1.0, 1.0]), "a").tolist())  # expect: [20.5, 20.5]
block = net.last
print(block.describe(["x", "y"]))  # expect: one x y 3
block.names = {"calls": 10}
block(ts.ones(2))
print(block.names)  # expect: {'calls': 11}
print(list(net.state_dict()))  # expect: ['layers.0.weight', 'layers.0.seen', 'layers.1.weight', 'layers.1.seen', 'last.weight', 'last.seen', 'extra.0', 'extra.1']
print(net.original_name, net.chain.original_name, len(net.layers))  # expect: Net Sequential 2
