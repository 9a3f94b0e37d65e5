"""A loop over a ModuleList is unrolled."""
# rule: for.module_list

import ts as torch
from ts import nn


class SubModule(torch.nn.Module):
    def __init__(self):
        super(SubModule, self).__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, input):
        return self.weight + input


class MyModule(torch.nn.Module):
    def __init__(self):
        super(MyModule, self).__init__()
        self.mods = torch.nn.ModuleList([SubModule() for i in range(10)])

    def forward(self, v):
        for module in self.mods:
            v = module(v)
        return v


model = torch.jit.script(MyModule())
print(model(torch.zeros(2)).tolist())  # expect: [10.0, 10.0]
