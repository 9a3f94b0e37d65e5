"""A ModuleList in a ScriptModule."""
# rule: for.module_list

import ts as torch
from ts import nn


class SubModule(torch.jit.ScriptModule):
    def __init__(self):
        super(SubModule, self).__init__()
        self.weight = nn.Parameter(torch.ones(2))

    @torch.jit.script_method
    def forward(self, input):
        return self.weight + input


class MyModule(torch.jit.ScriptModule):
    __constants__ = ["mods"]

    def __init__(self):
        super(MyModule, self).__init__()
        self.mods = torch.nn.ModuleList([SubModule() for i in range(10)])

    @torch.jit.script_method
    def forward(self, v):
        for module in self.mods:
            v = module(v)
        return v


print(MyModule()(torch.zeros(2)).tolist())  # expect: [10.0, 10.0]
