"""Scalars of another kind than the tensors, indices, and conversions of memory format equal PyTorch's results."""

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

FACTORS = [True, 1.0, 1j, 2]
SCALED = {
    "add": lambda t, x, y, f: t.add(x, y, alpha=f),
    "sub": lambda t, x, y, f: t.sub(x, y, alpha=f),
    "rsub": lambda t, x, y, f: t.rsub(x, y, alpha=f),
    "add a number": lambda t, x, y, f: t.add(x, 2, alpha=f),
    "sub_": lambda t, x, y, f: x.clone().sub_(y, alpha=f),
    "addmm": lambda t, x, y, f: t.addmm(x.view(1, 1), x.view(1, 1), y.view(1, 1), alpha=f),
    "addmv": lambda t, x, y, f: t.addmv(x, x.view(1, 1), y, beta=f),
    "index_add": lambda t, x, y, f: t.index_add(x, 0, t.tensor([0]), y, alpha=f),
}


def outcome(function, library, *args):
    """Return the result of a function as text, or its error."""
    try:
        result = function(library, *args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return f"{result.dtype} {tuple(result.shape)} {result.stride()} {result.tolist()}"


def check(function, *args):
    assert outcome(function, ts, *args) == outcome(function, torch, *args)


@pytest.mark.parametrize("dtype", ["int8", "bool", "float32", "complex64"])
@pytest.mark.parametrize("name", SCALED)
def test_factors(name, dtype):
    for factor in FACTORS:
        check(lambda t, f: SCALED[name](t, *(t.tensor([n]).to(getattr(t, dtype)) for n in (1, 2)), f), factor)


def written(values, index):
    def write(t):
        x = t.arange(4)
        x[t.tensor(index)] = t.tensor(values)
        return x

    return write


INDICES = {
    "no elements": lambda t: t.empty(10, 0)[:, [0, 1]],
    "of none": lambda t: t.ones(0)[t.tensor([5])],
    "beyond": lambda t: t.ones(3, 4)[:, t.tensor([7])],
    "nothing written": written([], [0, 1]),
    "three written": written([1.0, 2.0, 3.0], [0, 1]),
    "masked": written([], [True, False, True, False]),
    "other dtype": written([1.0, 2.0], [0, 1]),
    "fewer dimensions": lambda t: t.take_along_dim(t.ones(2, 1, 4), t.zeros(1, 4, dtype=t.int64), 0),
    "no dimensions": lambda t: t.take_along_dim(t.tensor(1), t.tensor(0), 0),
    "repeats": lambda t: t.repeat_interleave(t.ones(2, 2), t.ones(2, 2, dtype=t.int64), 0),
    "polar": lambda t: t.polar(t.ones(2), t.ones(2, dtype=t.float64)),
    "mapped": lambda t: t.ones(2).map_(t.ones(2, dtype=t.float64), lambda a, b: a),
    "truth": lambda t: t.tensor([1j, 0], dtype=t.bool),
    "no integer": lambda t: t.tensor([1j], dtype=t.int32),
}


@pytest.mark.parametrize("name", INDICES)
def test_indices_and_refusals(name):
    check(INDICES[name])


@pytest.mark.parametrize("method", ["byte", "double", "half", "bool", "long", "bfloat16", "cdouble"])
@pytest.mark.parametrize("memory_format", ["preserve_format", "contiguous_format", "channels_last"])
def test_conversions_in_a_memory_format(method, memory_format):
    def converted(t):
        x = t.arange(4 * 3 * 8 * 8).reshape(4, 3, 8, 8).float().contiguous(memory_format=t.channels_last)
        return getattr(x[..., ::2, ::2], method)(memory_format=getattr(t, memory_format))

    check(converted)


@pytest.mark.parametrize("dtype", ["int32", "bool", "float64", "uint8"])
def test_bernoulli_outputs_of_any_dtype(dtype):
    def random_tensor(t):
        t.manual_seed(0)
        return t.bernoulli(t.linspace(0, 1, 12).reshape(3, 4), out=t.empty(3, 4, dtype=getattr(t, dtype)))

    check(random_tensor)
