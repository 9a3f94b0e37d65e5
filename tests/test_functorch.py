"""The package `functorch`, and private names and properties of function transforms in PyTorch."""

import subprocess
import sys
import warnings

import pytest

import ts
from ts._functorch import make_functional as modules
from ts._functorch import vmap as steps


class Tied(ts.nn.Module):
    """Two layers that share their weight."""

    def __init__(self):
        super().__init__()
        self.a, self.b = ts.nn.Linear(2, 2), ts.nn.Linear(2, 2)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.a(x))


def test_make_functional():
    """A tied parameter is one argument, used by both layers; the module keeps its parameters."""
    net, x = Tied(), ts.ones(1, 2)
    functional, params = modules.make_functional(net)
    assert functional.param_names == ("a.weight", "a.bias", "b.bias")
    assert functional.names_map["a.weight"] == ["a.weight", "b.weight"]
    assert params[0] is not net.a.weight and functional(params, x).tolist() == net(x).tolist()
    assert functional([p * 0 + 1 for p in params], x).tolist() == [[7.0, 7.0]]
    assert {p.device.type for p in functional.parameters()} == {"meta"}
    grads = ts.func.grad(lambda p: functional(p, x).sum())(params)
    assert [g.shape for g in grads] == [(2, 2), (2,), (2,)]
    assert not any(p.requires_grad for p in modules.make_functional(net, disable_autograd_tracking=True)[1])


def test_make_functional_with_buffers():
    net, x = ts.nn.BatchNorm1d(2), ts.ones(3, 2)
    with pytest.raises(RuntimeError, match=r"`model` has buffers. Please use make_functional_with_buffers\(model\)"):
        modules.make_functional(net)
    functional, params, buffers = modules.make_functional_with_buffers(net)
    assert functional.buffer_names == ("running_mean", "running_var", "num_batches_tracked")
    assert functional(params, buffers, x).shape == (3, 2) and int(buffers[2]) == 1 and int(net.num_batches_tracked) == 0


def test_combine_state_for_ensemble():
    nets = [Tied(), Tied(), Tied()]
    functional, params, buffers = modules.combine_state_for_ensemble(nets)
    assert [p.shape for p in params] == [(3, 2, 2), (3, 2), (3, 2)] and buffers == ()
    result = ts.vmap(functional, (0, 0, None))(params, buffers, ts.ones(1, 2))
    assert ts.allclose(result, ts.stack([net(ts.ones(1, 2)) for net in nets]))
    for models, text in (([], "at least one model"), ([Tied(), ts.nn.ReLU()], "same class"), ([Tied(), Tied().eval()], "mode")):
        with pytest.raises(RuntimeError, match=f"combine_state_for_ensemble: .*{text}"):
            modules.combine_state_for_ensemble(models)


def test_package():
    """`functorch` is a separate package; its functions warn, and unsupported names raise errors."""
    program = """
import warnings, ts
ts.install_as_torch()
import functorch, functorch.compile, functorch.dim, torch
from functorch.experimental.control_flow import cond
from functorch import FunctionalModule, make_fx, dim
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    assert functorch.vmap(torch.sin)(torch.zeros(2)).tolist() == [0.0, 0.0]
assert "`functorch.vmap` is deprecated" in str(seen[0].message) and "`torch.vmap`" in str(seen[0].message)
assert functorch.compile.make_boxed_func(max)([1, 2]) == 2
assert not isinstance(torch.ones(1), dim.Tensor) and dim.Dim is functorch.dim.Dim
for refused in (lambda: functorch.compile.aot_function(max), lambda: dim.dims(2)):
    try:
        refused()
    except NotImplementedError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "torch._functorch.aot_autograd.aot_function is not implemented" in done.stdout
    assert "functorch.dim.dims is not implemented" in done.stdout and "torch.functorch" not in done.stdout


def test_wrapped_tensors():
    """Inside of `vmap`, batched tensors are wrappers of a tensor with the batch as first dimension."""
    f = ts._C._functorch
    seen = []

    def inspect_wrappers(x, y):
        seen.append((f.is_batchedtensor(x), f.get_unwrapped(x).shape, f.maybe_get_bdim(x), f.maybe_get_level(x)))
        seen.append((f.is_batchedtensor(y), f.maybe_get_bdim(y), f.maybe_get_level(y), f.maybe_current_level()))
        return x * 1

    ts.vmap(inspect_wrappers, (1, None))(ts.ones(2, 3), ts.ones(2))
    assert seen == [(True, (3, 2), 0, 1), (False, -1, -1, 1)]
    x = ts.ones(2)
    assert (f.is_functorch_wrapped_tensor(x), f.maybe_current_level(), f.get_dynamic_layer_stack_depth()) == (False, None, 0)
    with pytest.raises(RuntimeError, match="No wrappers present!"):
        f.get_unwrapped(x)


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_replaced_steps(monkeypatch, chunk_size):
    """`vmap` uses replaced functions of `_functorch.vmap`, with equal results."""
    calls = []
    create = steps._create_batched_inputs
    monkeypatch.setattr(steps, "_create_batched_inputs", lambda *a: calls.append(a[2]) or create(*a))
    x, y = ts.arange(6.0).reshape(3, 2), ts.arange(3.0)

    def function(x, pair):
        return {"sum": x.sum() + pair[0], "both": (x * 2, pair[1])}

    result = ts.vmap(function, (0, (0, None)), {"sum": 0, "both": (1, None)}, chunk_size=None)(x, (y, 5))
    assert result["sum"].tolist() == [1.0, 6.0, 11.0] and result["both"][0].tolist() == (x * 2).T.tolist() and result["both"][1] == 5
    doubled = ts.vmap(lambda x: ts.vmap(lambda e: e * 2)(x), chunk_size=chunk_size)(x)
    assert doubled.tolist() == (x * 2).tolist() and set(calls) == {1, 2}
    with pytest.raises(ValueError, match="Expected all tensors to have the same size in the mapped dimension"):
        ts.vmap(ts.add)(x, ts.ones(2))
    with pytest.raises(ValueError, match="must only return Tensors, got type <class 'int'>"):
        ts.vmap(lambda x: 3)(x)


def test_steps_are_not_used_unless_replaced():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ts.vmap(ts.sin)(ts.zeros(2)).tolist() == [0.0, 0.0]
    assert not steps._are_functions_replaced()
