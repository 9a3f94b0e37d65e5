"""Scripting of a function and of a module with a parameter; submodules that are traces."""
# rule: script_module, trace.mixed

import ts as torch
import ts.nn as nn
import ts.nn.functional as F


@torch.jit.script
def foo(x, y):
    if x.max() > y.max():
        r = x
    else:
        r = y
    return r


print(foo(torch.ones(2), torch.zeros(2)))  # expect: tensor([1., 1.])


class MyModule(torch.jit.ScriptModule):
    def __init__(self, N, M):
        super(MyModule, self).__init__()
        self.weight = torch.nn.Parameter(torch.ones(N, M))

    @torch.jit.script_method
    def forward(self, input):
        return self.weight.mv(input)


print(MyModule(2, 3)(torch.ones(3)).tolist())  # expect: [3.0, 3.0]


class MyScriptModule(torch.jit.ScriptModule):
    def __init__(self):
        super(MyScriptModule, self).__init__()
        # torch.jit.trace produces a ScriptModule's conv1 and conv2
        self.conv1 = torch.jit.trace(nn.Conv2d(1, 20, 5), torch.rand(1, 1, 16, 16))
        self.conv2 = torch.jit.trace(nn.Conv2d(20, 20, 5), torch.rand(1, 20, 16, 16))

    @torch.jit.script_method
    def forward(self, input):
        input = F.relu(self.conv1(input))
        input = F.relu(self.conv2(input))
        return input


print(list(MyScriptModule()(torch.rand(2, 1, 16, 16)).shape))  # expect: [2, 20, 8, 8]
