"""Scripted functions call traced ones; traced functions call scripted ones and keep their control flow."""
# rule: trace.mixed

import ts as torch
from ts import nn


def foo(x, y):
    return 2 * x + y


traced_foo = torch.jit.trace(foo, (torch.rand(3), torch.rand(3)))


@torch.jit.script
def bar(x):
    return traced_foo(x, x)


print(bar(torch.ones(3)))  # expect: tensor([3., 3., 3.])


@torch.jit.script
def larger(x, y):
    if x.max() > y.max():
        r = x
    else:
        r = y
    return r


def sum_of_larger(x, y, z):
    return larger(x, y) + z


traced_bar = torch.jit.trace(sum_of_larger, (torch.ones(3), torch.zeros(3), torch.ones(3)))
print(traced_bar(torch.ones(3), torch.zeros(3), torch.ones(3)))  # expect: tensor([2., 2., 2.])
print(traced_bar(torch.ones(3), torch.ones(3) * 5, torch.ones(3)))  # expect: tensor([6., 6., 6.])


class MyScriptModule(torch.jit.ScriptModule):
    def __init__(self):
        super(MyScriptModule, self).__init__()
        self.means = torch.nn.Parameter(torch.tensor([103.939, 116.779, 123.68]).resize_(1, 3, 1, 1))
        # The guide uses a network of torchvision here.
        self.resnet = torch.jit.trace(nn.Sequential(nn.Conv2d(3, 2, 1), nn.ReLU()), torch.rand(1, 3, 8, 8))

    @torch.jit.script_method
    def helper(self, input):
        return self.resnet(input - self.means)

    @torch.jit.script_method
    def forward(self, input):
        return self.helper(input)


m = MyScriptModule()
x = torch.rand(2, 3, 4, 4)
print(list(m(x).shape), torch.equal(m(x), m.resnet(x - m.means)))  # expect: [2, 2, 4, 4] True
