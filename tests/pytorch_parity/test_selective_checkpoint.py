"""Selective checkpoints compared with PyTorch's: policy calls, gradients and errors."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import torch.utils.checkpoint  # noqa: E402

import ts  # noqa: E402


@pytest.fixture(autouse=True)
def restore_grad_mode():
    """Restore PyTorch's grad mode, which scripts that end with gradients disabled change for the thread."""
    with torch.enable_grad():
        yield


def chain(library, x, y):
    return (x @ y).sigmoid().mm(y).exp() * y


def several(library, x, y):
    values, indices = library.max(x * y, 1)
    return library.addmm(values, x, y.t()).tanh() + indices


def written(library, x, y):
    z = x.mm(y)
    w = z.sin()
    z.add_(1)
    return w * w


def convolved(library, x, y):
    return library.nn.functional.relu(library.conv2d(x[None, None], y[None, None, :2, :2])).cos()


def run(library, function, names, mutation=False):
    """Return the operators passed to the policy and the gradients, or the error."""
    calls = []

    def policy(context, operator, *args, **kwargs):
        # the public name of the operator
        name = next((n for n in names if operator is getattr(getattr(library.ops.aten, n[0]), n[1])), None)
        calls.append((name, tuple(getattr(context.op_output, "shape", ()))))
        return name is not None

    numbers = [
        np.linspace(-1, 1, 9, dtype="f4").reshape(3, 3),
        np.linspace(2, -1, 9, dtype="f4").reshape(3, 3),
    ]
    x, y = (library.from_numpy(n).requires_grad_() for n in numbers)
    tools = library.utils.checkpoint
    contexts = partial(
        tools.create_selective_checkpoint_contexts, policy, allow_cache_entry_mutation=mutation
    )
    try:
        tools.checkpoint(
            partial(function, library), x, y, use_reentrant=False, context_fn=contexts
        ).sum().backward()
    except RuntimeError as error:
        return str(error)
    return [a for a in calls if a[0]], x.grad.numpy(), y.grad.numpy()


@pytest.mark.parametrize(
    "function, names",
    [
        (chain, [("mm", "default"), ("exp", "default")]),
        (chain, [("sigmoid", "default"), ("mul", "Tensor")]),
        (several, [("max", "dim"), ("addmm", "default"), ("tanh", "default")]),
        (convolved, [("convolution", "default"), ("relu", "default")]),
    ],
)
def test_policies_and_gradients(function, names):
    theirs, ours = run(torch, function, names), run(ts, function, names)
    assert ours[0] == theirs[0] and ours[0]
    for x, y in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_allclose(x, y, 1e-5, 1e-6)


@pytest.mark.parametrize("mutation", [False, True])
def test_modified_cached_results(mutation):
    theirs, ours = (run(library, written, [("mm", "default")], mutation) for library in (torch, ts))
    assert ours == theirs if isinstance(theirs, str) else np.allclose(ours[1], theirs[1], 1e-5)
