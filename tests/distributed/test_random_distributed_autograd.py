"""Random programs of remote calls have the gradients of a local computation."""

import random

import pytest

import ts
from tests.distributed import dist_autograd_functions as functions
from ts.distributed import autograd as dist_autograd
from ts.distributed import rpc


def random_program(seed):
    """Return a random program of calls `call(process, f, args)` on two tensors that sums the results."""
    generator = random.Random(seed)
    processes = ["worker0", "worker1", "worker2"]
    steps = [(generator.randrange(6), [generator.random() for _ in range(4)]) for _ in range(12)]

    def program(call, x, y):
        tensors = [x, y]
        for kind, (first, second, where, other) in steps:
            a, b = tensors[int(first * len(tensors))], tensors[int(second * len(tensors))]
            at, to = processes[int(where * 3)], processes[int(other * 3)]
            match kind:
                case 0:
                    tensors.append(a.sin() + b)
                case 1:
                    tensors.append(call(at, functions.mul, (a, b)).tanh())
                case 2:
                    tensors.append(call(at, functions.nested_call if call is not call_locally else here_nested, (a, b, to)))
                case 3:
                    tensors.extend(call(at, functions.both, (a, b, a)))
                case 4:
                    tensors.append(call(at, functions.without_gradients, (a,)) * b)
                case 5:
                    call(at, functions.mul, (a, b))  # an unused result
        return sum(t.sum() for t in tensors[-3:]) + x.sum() + y.sum()

    return program


def call_locally(process, f, args):
    """Call a function locally."""
    return f(*args)


def here_nested(a, b, to):
    return functions.mul(a, b).tanh() * a


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(module_workers, seed):
    """Gradients of random nested calls equal those of a local computation."""
    program = random_program(seed)
    x, y = (ts.tensor(values, requires_grad=True) for values in ([0.3, 0.7], [0.5, -0.2]))
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [program(lambda *call: rpc.rpc_sync(*call), x, y)])
        found = dist_autograd.get_gradients(context_id)
    expected = ts.autograd.grad(program(call_locally, x, y), [x, y])
    for leaf, gradient in zip((x, y), expected, strict=True):
        assert found[leaf].allclose(gradient, atol=1e-6)
