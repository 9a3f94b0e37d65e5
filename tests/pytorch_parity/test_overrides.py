"""`__torch_function__` compared with PyTorch: functions passed to classes and modes, result classes, errors."""

import importlib

import pytest

torch = pytest.importorskip("torch")
import ts  # noqa: E402

EXPRESSIONS = """
    a + 1; 1 + a; a - 1; a * a; a / 2; -a; abs(a); a < 2; a >= a; a[0]; a[0, 1]; a[None]; a.shape; a.T; a.size()
    a.to(lib.float64); a.sum(); lib.sum(a); lib.add(lib.ones(2, 2), a); F.relu(a); F.linear(a, a); F.softmax(a, dim=-1)
    lib.cat([a, a]); lib.stack((lib.ones(2, 2), a)); a.clone(); a.detach(); a.requires_grad; a.requires_grad_(); a.dim()
    a.device; a.dtype; lib.split(a, 1); a.unbind(); lib.is_tensor(a); lib.ones_like(a); a @ a; lib.max(a, 0)
    a.new_zeros(2); a.float(); a.data; a.grad; a.is_cuda; a.ndim; a.numel(); a.tolist(); lib.where(a > 0, a, a); a.int()
    lib.zeros(2).copy_(a[0]); F.cross_entropy(a, a); lib.allclose(a, a); a.contiguous().view(4)
    F.dropout(a, training=False); lib.nn.Linear(2, 2)(a); F.mse_loss(a, a); a.mul_(2); a.topk(1); lib.einsum("ij->ji", a)
    hash(a) and None; lib.linalg.norm(a); lib.fft.fft(a); a.is_floating_point()
    lib.broadcast_tensors(a, a); lib.special.expit(a); lib.nn.functional.pad(a, (1, 1)); a.expand(3, 2, 2)
    F.layer_norm(a, (2,)); F.max_pool1d(a, 2); F.interpolate(a[None], scale_factor=2); lib.chunk(a, 2); a.chunk(2)
"""


def named(function):
    """Return the name of a function, or of the property for a `__get__`."""
    name = getattr(function, "__name__", str(function))
    return function.__self__.__name__ + ".__get__" if name == "__get__" else name


def kinds(result):
    if type(result) in (tuple, list):
        return [type(item).__name__ for item in result]
    return type(result).__name__


def seen(lib, expression, by_mode):
    """Return the functions called by an expression and the class of its result."""
    calls = []

    def note(function, args, kwargs):
        calls.append((named(function), len(args)))

    class Logged(lib.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if not by_mode:
                note(func, args, kwargs)
            return super().__torch_function__(func, types, args, kwargs)

    class Mode(importlib.import_module(f"{lib.__name__}.overrides").TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            note(func, args, kwargs)
            return func(*args, **(kwargs or {}))

    a = lib.tensor([[1.0, 2.0], [3.0, 4.0]])
    names = {"lib": lib, "F": lib.nn.functional, "a": a if by_mode else a.as_subclass(Logged)}
    if not by_mode:
        return kinds(eval(expression, names)), calls
    with Mode():
        result = eval(expression, names)
    return kinds(result), calls


# Functions for which modes receive another function than in PyTorch: a tensor method instead of an operator,
# or an operator instead of Python code.
UNSEEN_BY_MODES = {
    "a.requires_grad", "a.requires_grad_()", "a.dim()", "a.device", "a.dtype", "a.data", "a.grad", "a.is_cuda", "a.ndim",
    "a.tolist()", "a.is_floating_point()", "a.float()", "a.int()", "a.T", "lib.nn.Linear(2, 2)(a)",
    "a.detach()", "lib.is_tensor(a)", "hash(a) and None",
}  # fmt: skip

@pytest.mark.parametrize("expression", [e.strip() for e in EXPRESSIONS.replace("\n", ";").split(";") if e.strip()])
def test_expressions(expression):
    assert seen(ts, expression, False) == seen(torch, expression, False)
    if expression not in UNSEEN_BY_MODES:
        assert seen(ts, expression, True) == seen(torch, expression, True)


def message(lib, run):
    class ReturnsNotImplemented:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError) as error:
        run(lib, ReturnsNotImplemented())
    return str(error.value).replace("ts.Tensor", "Tensor")


@pytest.mark.parametrize(
    "run",
    [
        lambda lib, x: lib.add(x, 1),
        lambda lib, x: lib.ones(1) + x,
        lambda lib, x: x + lib.ones(1),
        lambda lib, x: lib.ones(1) @ x,
        lambda lib, x: lib.cat([lib.ones(1), x]),
        lambda lib, x: lib.nn.functional.relu(x),
    ],
)
def test_rejected_calls(run):
    assert message(ts, run).split(" on types")[0] == message(torch, run).split(" on types")[0]
