"""Traced modules: parameters are attributes, submodules are preserved, a second call is a second method."""

import ts

nn = ts.nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(ts.ones(3, 3))
        self.register_buffer("bias", ts.zeros(3))

    def forward(self, x):
        return x @ self.weight + self.bias, {"x": [x]}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.layers = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
        self.steps = 2

    def forward(self, x):
        for _ in range(self.steps):
            x, extra = self.inner(x)
        return self.layers(x) + extra["x"][0].sum() + self.inner.weight.sum()

    def encode(self, x):
        return self.inner(x)[0]


ts.manual_seed(0)
net = Net()
traced = ts.jit.trace(net, ts.ones(2, 3))
x = ts.arange(15.0).view(5, 3)
print(ts.allclose(traced(x), net(x)))  # expect: True
print(
    [name for name, _ in traced.named_parameters()] == [name for name, _ in net.named_parameters()]
)  # expect: True
print(traced.original_name, type(traced).__name__, type(traced.inner).__name__)
# expect: Net TopLevelTracedModule TracedModule
print(hasattr(traced.inner, "forward1"), hasattr(traced.layers, "forward1"))  # expect: True False
print(traced.inner.weight is net.inner.weight)  # expect: True

with ts.no_grad():
    traced.inner.bias.add_(1.0)
print(ts.allclose(traced(x), net(x)), net.inner.bias.tolist())  # expect: True [1.0, 1.0, 1.0]
print(traced.train(False).training, traced.layers.training, net.training)  # expect: False False True

both = ts.jit.trace_module(net, {"forward": ts.ones(2, 3), "encode": ts.ones(2, 3)})
print(ts.allclose(both.encode(x), net.encode(x)), ts.allclose(both(x), net(x)))  # expect: True True


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scripted = ts.jit.script(nn.Linear(3, 3))
        self.traced = ts.jit.trace(nn.Linear(3, 3), ts.ones(1, 3))
        self.unused = None

    def forward(self, x):
        later = ts.jit.fork(self.scripted, x)
        return self.traced(x) * ts.jit.wait(later)


outer = Outer()
traced = ts.jit.trace(outer, ts.ones(1, 3))
print(ts.allclose(traced(x), outer(x)), hasattr(traced, "unused"))  # expect: True False


class Script(ts.jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.net = ts.jit.trace(net, ts.ones(2, 3))

    @ts.jit.script_method
    def forward(self, x):
        return self.net(x) + 1


print(ts.allclose(Script()(x), net(x) + 1))  # expect: True


def hook(module, inputs, output):
    return output * 10


layer = nn.Linear(2, 2)
layer.register_forward_hook(hook)
traced = ts.jit.trace(layer, ts.ones(1, 2))
y = ts.ones(3, 2)
print(ts.allclose(traced(y), layer(y)))  # expect: True
