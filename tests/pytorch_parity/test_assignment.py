"""`x[index] = value` agrees with PyTorch: values, gradients, tangents, batches of both operands, errors."""

import warnings

import numpy
import pytest

import ts

torch = pytest.importorskip("torch")

SHAPE = (2, 3, 4)
INDICES = {
    "int": lambda m: 1, "negative": lambda m: -1, "slice": lambda m: slice(None), "from": lambda m: slice(1, None),
    "dots": lambda m: ..., "none": lambda m: None, "true": lambda m: True, "false": lambda m: False,
    "two": lambda m: (0, 1), "column": lambda m: (slice(None), 1), "last": lambda m: (..., 2),
    "new": lambda m: (None, 0, slice(0, 2)), "step": lambda m: (slice(None), slice(None, None, 2)),
    "list": lambda m: [0, 1], "list of one": lambda m: [1], "tensor": lambda m: m.tensor([1, 0]),
    "number": lambda m: m.tensor(1), "second": lambda m: (slice(None), m.tensor([0, 2])),
    "pair": lambda m: (m.tensor([0, 1]), m.tensor([0, 2])),
    "around": lambda m: (m.tensor([0, 1]), slice(None), m.tensor([0, 2])),
    "mask": lambda m: m.tensor([[[True, False, True, False]] * 3] * 2), "rows": lambda m: m.tensor([True, False]),
    "columns": lambda m: (slice(None), m.tensor([True, False, True])), "true tensor": lambda m: m.tensor(True),
    "no rows": lambda m: m.tensor([False, False]), "all": lambda m: (0, 1, 2), "mixed": lambda m: (None, slice(None), [0, 1], ...),
    "one of": lambda m: (1, m.tensor([0, 2]), slice(0, 2)), "grid": lambda m: (m.tensor([[0], [1]]), None, m.tensor([0, 2, 1])),
    "int32": lambda m: m.tensor([0, 1]).int(), "empty": lambda m: [], "array": lambda m: numpy.array([0, 1]),
}  # fmt: skip


def ramp(m, s, shape):
    """Return a ramp of numbers of a shape, shifted by an offset."""
    count = m.zeros(shape).numel()
    return (s.reshape(-1)[0] + m.arange(float(max(1, count))))[:count].reshape(shape)


VALUES = {
    "number": lambda m, s, shape: 3.0,
    "without dimensions": lambda m, s, shape: s.sum() * 0.5 + 1,
    "same shape": ramp,
    "leading ones": lambda m, s, shape: ramp(m, s, shape)[None, None],
    "one": lambda m, s, shape: s.reshape(-1)[:1] * 2,
    "last dimension": lambda m, s, shape: ramp(m, s, shape[-1:]),
    "too large": lambda m, s, shape: s.reshape(-1)[0] * m.ones(5, 7),
    "integer": lambda m, s, shape: m.tensor(7),
}


def text(x):
    if isinstance(x, tuple | list):
        return [text(y) for y in x]
    if hasattr(x, "detach"):
        return [round(v, 4) for v in x.detach().reshape(-1).tolist()], tuple(x.shape)
    return x


def attempt(f):
    try:
        return text(f())
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0][:160]


def outcomes(m, index, value, from_argument):
    """Return the result and the derivatives of an assigning function."""
    base = m.arange(24.0).reshape(SHAPE) / 7
    source = m.tensor([0.3, -0.7, 1.1])
    shape = tuple(base[INDICES[index](m)].shape)

    def assigned(x, s):
        y = x * 1 if from_argument else m.zeros(SHAPE)
        y[INDICES[index](m)] = VALUES[value](m, s, shape)
        return y

    def weighed(x, s):
        return (assigned(x, s) * m.arange(24.0).reshape(SHAPE)).sum()

    def recorded():
        x, s = base.clone().requires_grad_(), source.clone().requires_grad_()
        y = assigned(x, s)
        if y.requires_grad:
            (y * m.arange(24.0).reshape(SHAPE)).sum().backward()
        return y, y.requires_grad, x.grad, s.grad

    bases, sources = m.stack([base, base + 1]), m.stack([source, source * 2])
    f = m.func
    return {
        "recorded": attempt(recorded),
        "grad": attempt(lambda: f.grad(weighed, argnums=(0, 1))(base, source)),
        "jvp": attempt(lambda: f.jvp(assigned, (base, source), (base * 2, m.ones(3)))),
        "jvp of the value": attempt(lambda: f.jvp(lambda s: assigned(base, s), (source,), (m.ones(3),))),
        "vmap": attempt(lambda: f.vmap(assigned)(bases, sources)),
        "vmap of the value": attempt(lambda: f.vmap(assigned, in_dims=(None, 0))(base, sources)),
        "vmap of the target": attempt(lambda: f.vmap(assigned, in_dims=(0, None))(bases, source)),
        "vmap of grad": attempt(lambda: f.vmap(f.grad(weighed, argnums=1))(bases, sources)),
    }


MASKS = ("mask", "rows", "columns", "true tensor", "no rows")


def is_left_out(index, value, how):
    """Return whether PyTorch fails or is wrong.

    In batches it puts values into wrong rows, and with a mask needs the dtype of the target; tangents of a number
    are doubles.
    """
    if how.startswith("jvp"):
        return value == "without dimensions"
    if not how.startswith("vmap"):
        return False
    return index in ("around", "grid") or (value == "integer" and index in MASKS)


@pytest.mark.parametrize("index", INDICES)
def test_assignment(index):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in VALUES:
            for from_argument in (True, False):
                ours, theirs = (outcomes(m, index, value, from_argument) for m in (ts, torch))
                for how, expected in theirs.items():
                    if is_left_out(index, value, how):
                        continue
                    if isinstance(expected, tuple) and isinstance(expected[0], str):  # names in the error messages differ
                        assert isinstance(ours[how], tuple) and ours[how][0] == expected[0], (value, how, ours[how], expected)
                    else:
                        assert ours[how] == expected, (value, from_argument, how)
