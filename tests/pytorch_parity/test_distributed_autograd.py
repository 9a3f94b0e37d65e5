"""Distributed autograd compared with PyTorch's: one program in three processes of each library."""

import multiprocessing

import pytest

pytest.importorskip("distributed", reason="rpc needs dask.distributed: the extra rpc")

from tests.distributed.process_groups import free_port

# Known differences, with reasons.
DIFFERENT = {
    "a parameter as an argument": "PyTorch's gradient stays with the copy in the other process",
    "a parameter as a result": "PyTorch's gradient stays with the copy in this process",
    "memory that two arguments share": "PyTorch's callee writes to both, and its gradient knows of one",
    "no list": "PyTorch lists the signatures of its C++",
}


def mul(a, b):
    return a * b


def nested(x, to):
    from torch.distributed import rpc

    return rpc.rpc_sync(to, mul, (x, x)) * x


def chained(x, to, back, depth):
    from torch.distributed import rpc

    return x if depth == 0 else rpc.rpc_sync(to, chained, (x * 2, back, to, depth - 1)) * x


def written(a, b):
    a.mul_(2)
    return b.sum()


def quiet(x):
    import torch

    with torch.no_grad():
        return x * 2


def several(x):
    return [x * 2, {"whole": x.detach().long()}, 3, x * 3]


def make(n):
    import torch

    return torch.nn.Parameter(torch.arange(1.0, n + 1))


def same(x):
    return x


def broken(x):
    import torch

    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            raise RuntimeError("no way back")

    return Broken.apply(x)


def facts(x):
    return type(x).__name__, x.requires_grad, x.is_leaf


def gradients_there(context_id):
    from torch.distributed import autograd

    return sorted(g.tolist() for g in autograd.get_gradients(context_id).values())


def backward_there(context_id, x):
    from torch.distributed import autograd

    autograd.backward(context_id, [x.sum()])


def cases():
    """Return functions of a context number and tensors by name."""
    import torch
    from torch import nn
    from torch.distributed import autograd, rpc
    from torch.distributed.optim import DistributedOptimizer

    def product(call):
        def case(c, x, y):
            autograd.backward(c, [call(x, y).sum()])
            return x.grad, y.grad

        return case

    def twice(c, x, y):
        loss = rpc.rpc_sync("worker1", mul, (x, y)).sum()
        autograd.backward(c, [loss], retain_graph=True)
        autograd.backward(c, [loss])

    def once_too_often(c, x, y):
        loss = (x * y).sum()
        autograd.backward(c, [loss])
        autograd.backward(c, [loss])

    def two_roots(c, x, y):
        autograd.backward(c, [rpc.rpc_sync("worker1", mul, (x, y)).sum(), rpc.rpc_sync("worker2", mul, (x, x)).sum()])

    def hooks(c, x, y):
        seen = []
        z = x * 1
        z.register_hook(lambda g: seen.append(g.tolist()))
        y.register_hook(lambda g: g * 10)
        one, other = (rpc.rpc_sync(f"worker{k}", mul, (z, y)) for k in (1, 2))
        autograd.backward(c, [(one + other).sum()])
        return seen

    def shared(c, x, y):
        z = x * 1
        loss = rpc.rpc_sync("worker1", written, (z, z.view(-1)))
        autograd.backward(c, [loss])
        return loss.item()

    def structures(c, x, y):
        a, b, n, d = rpc.rpc_sync("worker1", several, (x,))
        autograd.backward(c, [(a + d).sum()])
        return b["whole"].tolist(), n

    def modes(c, x, y):
        with torch.no_grad():
            inside = rpc.rpc_sync("worker1", mul, (x, y)).requires_grad
        return inside, rpc.rpc_sync("worker1", quiet, (x,)).requires_grad, rpc.rpc_sync("worker1", facts, (x,))

    def parameter(c, x, y):
        autograd.backward(c, [rpc.rpc_sync("worker1", mul, (nn.Parameter(x.detach()), y)).sum()])

    def parameter_back(c, x, y):
        weight = rpc.remote("worker1", make, (2,))
        autograd.backward(c, [(weight.to_here() * x).sum()])
        return rpc.rpc_sync("worker1", gradients_there, (c,))

    def stays(c, x, y):
        ref = rpc.remote("worker1", mul, (x, y))
        again = rpc.rpc_sync("worker2", mul, (ref.to_here(), ref.rpc_sync().mul(2)))
        autograd.backward(c, [again.sum()])

    def on_other_worker(c, x, y):
        rpc.rpc_sync("worker1", backward_there, (c, x * 2))

    def optimizer(kind, **options):
        def case(c, x, y):
            weights = [rpc.remote(f"worker{k}", make, (2,)) for k in (1, 2)]
            dist_optimizer = DistributedOptimizer(kind, weights, **options)
            out = x
            for weight in weights:
                out = rpc.rpc_sync(weight.owner(), times, (weight, out))
            autograd.backward(c, [out.sum()])
            dist_optimizer.step(c)
            return [[round(w, 5) for w in weight.to_here().tolist()] for weight in weights]

        return case

    double = dict(dtype=torch.float64, requires_grad=True)
    return {
        "sync": product(lambda x, y: rpc.rpc_sync("worker1", mul, (x, y))),
        "async": product(lambda x, y: rpc.rpc_async("worker1", mul, (x, y)).wait()),
        "remote": product(lambda x, y: rpc.remote("worker1", mul, (x, y)).to_here()),
        "operator": product(lambda x, y: rpc.rpc_sync("worker1", torch.mul, (x, y))),
        "itself": product(lambda x, y: rpc.rpc_sync("worker0", mul, (x, y))),
        "twice": product(lambda x, y: rpc.rpc_sync("worker1", mul, (x, x))),
        "nested": product(lambda x, y: rpc.rpc_sync("worker1", nested, (x, "worker2"))),
        "chained": product(lambda x, y: rpc.rpc_sync("worker1", chained, (x, "worker2", "worker1", 5)) * y),
        "double": product(lambda x, y: rpc.rpc_sync("worker1", mul, (x.double(), torch.ones(2, **double)))),
        "local": product(lambda x, y: x * y),
        "a way back that fails": product(lambda x, y: rpc.rpc_sync("worker1", broken, (x,))),
        "two passes": twice,
        "one pass too many": once_too_often,
        "two roots": two_roots,
        "hooks": hooks,
        "memory that two arguments share": shared,
        "structures": structures,
        "modes": modes,
        "a parameter as an argument": parameter,
        "a parameter as a result": parameter_back,
        "values that stay": stays,
        "from another process": on_other_worker,
        "no roots": lambda c, x, y: autograd.backward(c, []),
        "no number": lambda c, x, y: autograd.backward(c, [x * 2]),
        "no gradient": lambda c, x, y: autograd.backward(c, [torch.ones(())]),
        "a leaf": lambda c, x, y: autograd.backward(c, [torch.ones((), requires_grad=True)]),
        "no list": lambda c, x, y: autograd.backward(c, x.sum()),
        "no context": lambda c, x, y: autograd.backward(12345, [x.sum()]),
        "no gradients": lambda c, x, y: autograd.get_gradients(12345),
        "no validity": lambda c, x, y: autograd._is_valid_context(12345),
        "in another": lambda c, x, y: autograd.context().__enter__(),
        "the worker": lambda c, x, y: c >> 48,
        "SGD": optimizer(torch.optim.SGD, lr=0.05),
        "momentum": optimizer(torch.optim.SGD, lr=0.05, momentum=0.9),
        "Adam": optimizer(torch.optim.Adam, lr=0.1),
        "Adagrad": optimizer(torch.optim.Adagrad, lr=0.1),
        "ASGD": optimizer(torch.optim.ASGD, lr=0.1),
        "no step": lambda c, x, y: DistributedOptimizer(torch.optim.SGD, [], lr=0.1).step(999),
    }


def times(weight, x):
    return weight.local_value() * x


def outcome(case):
    """Return the result of a case with the gradients of its context, or its error."""
    import torch
    from torch.distributed import autograd

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, 4.0], requires_grad=True)
    try:
        with autograd.context() as context_id:
            given = case(context_id, x, y)
            found = autograd.get_gradients(context_id)
            return given, [found[t].tolist() if t in found else None for t in (x, y)], len(found)
    except Exception as error:
        return type(error).__name__, str(error).partition("\n")[0]


def program(rank, port, ours, queue):
    if ours:
        import ts

        ts.install_as_torch()
    from torch.distributed import rpc

    more = {"allow_python": True} if ours else {}
    options = rpc.TensorPipeRpcBackendOptions(init_method=f"tcp://127.0.0.1:{port}", rpc_timeout=30, **more)
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=3, rpc_backend_options=options)
    if rank == 0:
        queue.put({name: outcome(case) for name, case in cases().items()})
    rpc.shutdown()


def run(ours):
    """Run all cases in one library and return their outcomes."""
    spawn = multiprocessing.get_context("spawn")
    queue, port = spawn.Queue(), free_port()
    processes = [spawn.Process(target=program, args=(rank, port, ours, queue)) for rank in range(3)]
    for each in processes:
        each.start()
    try:
        return queue.get(timeout=240)
    finally:
        for each in processes:
            each.join(20)
            each.kill()


def test_gradients_across_calls():
    """Each case has an equal outcome in both libraries, except the listed differences."""
    ours, theirs = run(ours=True), run(ours=False)
    assert ours.keys() == theirs.keys()
    different = {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}
    assert different.keys() == DIFFERENT.keys(), different
