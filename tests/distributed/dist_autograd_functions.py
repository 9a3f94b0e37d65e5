"""Functions and classes that remote processes run in the tests of distributed autograd."""

import threading

import ts
from ts import nn
from ts.distributed import autograd as dist_autograd
from ts.distributed import rpc
from ts.distributed.rpc.state import current

W = ts.tensor([5.0, 6.0], requires_grad=True)
TURNS = []


def mul(a, b):
    return a * b


def times_w(x):
    return x * W


def gradient_of_w(context_id):
    return dist_autograd.get_gradients(context_id).get(W), W.grad


def nested(x, to):
    """Return a product with `x` of a product computed by another process."""
    return rpc.rpc_sync(to, mul, (x, W)) * x


def ping_pong(x, to, back, depth):
    """Double `x` by a chain of nested calls between two processes."""
    return x if depth == 0 else rpc.rpc_sync(to, ping_pong, (x * 2, back, to, depth - 1))


def nested_call(a, b, to):
    return rpc.rpc_sync(to, mul, (a, b)).tanh() * a


def both(a, b, c):
    return a * b, b.cos() + c


def written(a, b):
    a.mul_(2)
    return b.sum()


def without_gradients(x):
    with ts.no_grad():
        return x * 2


def facts(x):
    return type(x).__name__, x.requires_grad, x.is_leaf, None if x.grad_fn is None else x.grad_fn.name()


def context_here():
    return dist_autograd._current_context()._context_id()


def contexts_here():
    return len(current().contexts)


def backward_there(context_id, x):
    dist_autograd.backward(context_id, [x.sum()])


def several(x):
    return [x * 2, {"whole": x.detach().long()}, 3, x * 3]


@rpc.functions.async_execution
def later(to, x):
    return rpc.rpc_async(to, mul, (x, x)).then(lambda f: f.wait() * 10)


def counted(x):
    """Return `x` from an operator with a hook that counts backward passes."""
    y = x * 1
    y.register_hook(lambda gradient: TURNS.append(gradient))
    return y


def turns():
    found = len(TURNS)
    TURNS.clear()
    return found


class Failing(ts.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("no way back")


def failing(x):
    return Failing.apply(x)


class Slow(ts.autograd.Function):
    """Identity function with a slow backward."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        threading.Event().wait(30)


def slow(x):
    return Slow.apply(x)


def slow_elsewhere(x, to):
    return rpc.rpc_sync(to, slow, (x,))


def context_that_stays(to, x):
    """Enter a context without leaving it."""
    dist_autograd.context().__enter__()
    rpc.rpc_sync(to, mul, (x, x))


class Layer:
    """Layer with one parameter and methods that use it."""

    def __init__(self, *values):
        self.weight = nn.Parameter(ts.tensor(values))

    def __call__(self, x):
        return self.weight * x

    def parameter(self):
        return self.weight

    def gradient(self, context_id):
        return dist_autograd.get_gradients(context_id).get(self.weight)

    def state(self):
        return self.weight.detach().clone(), self.weight.grad


class OwnSGD(ts.optim.SGD):
    pass
