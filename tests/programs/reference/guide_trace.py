"""Tracing of a function and of a module; the traced function does not depend on Python."""
# rule: trace.function, trace.module

import ts as torch
from ts import nn


def foo(x, y):
    return 2 * x + y


traced_foo = torch.jit.trace(foo, (torch.ones(3), torch.ones(3)))
print(traced_foo(torch.ones(3), torch.zeros(3)))  # expect: tensor([2., 2., 2.])
print(traced_foo.code.strip().splitlines()[-2].strip())  # expect: _0 = torch.add(torch.mul(x, CONSTANTS.c0), y)


def f(x):
    return x * 2


traced_f = torch.jit.trace(f, torch.ones(1))
print(traced_f(torch.ones(2, 2)))
# expect: tensor([[2., 2.],
# expect:         [2., 2.]])


# The guide traces a network of torchvision.
class Network(nn.Module):
    def __init__(self):
        super(Network, self).__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.dropout = nn.Dropout(0.5)
        self.fc = nn.Linear(4, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        x = x.mean(dim=[2, 3])
        return self.fc(self.dropout(x))


torch.manual_seed(0)
network = Network().eval()
traced_net = torch.jit.trace(network, torch.rand(1, 3, 8, 8))
x = torch.rand(2, 3, 16, 16)
print(torch.allclose(traced_net(x), network(x)), list(traced_net(x).shape))  # expect: True [2, 10]
print(len(list(traced_net.parameters())) == len(list(network.parameters())))  # expect: True

# The trace of a module in evaluation mode always runs in evaluation mode.
traced_net.train()
print(torch.allclose(traced_net(x), network(x)))  # expect: True
