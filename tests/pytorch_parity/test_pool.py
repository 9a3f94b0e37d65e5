"""Pooling compared with PyTorch: random geometries with NaN, infinities and ties, all dtypes, errors."""

import itertools
import random

import numpy as np
import pytest

import ts

torch = pytest.importorskip("torch")

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8]


def ours(x):
    if not isinstance(x, torch.Tensor):
        return x
    if x.dtype == torch.bfloat16:
        return ts.from_numpy(x.float().numpy()).to(ts.bfloat16)
    return ts.from_numpy(x.numpy())


def numbers(x):
    return x.float().numpy() if "float16" in str(x.dtype) else x.numpy()


def draw(seed):
    """Return a random pooling call: its name, input and arguments."""
    r = random.Random(seed)
    torch.manual_seed(seed)
    n, dtype = r.choice([1, 2, 3]), r.choice(DTYPES)
    sizes = [r.choice([1, 2, 5, 9, 17]) for _ in range(n)]
    x = (torch.randint(0, 6, (2, 3, *sizes)) if r.random() < 0.5 else torch.randn(2, 3, *sizes) * 5).to(dtype)
    if dtype.is_floating_point and r.random() < 0.4:
        x[torch.rand(x.shape) < 0.2] = float("nan")
    if dtype.is_floating_point and r.random() < 0.3:
        x[torch.rand(x.shape) < 0.6] = float("-inf")
    if r.random() < 0.2:
        x = x.transpose(0, 1)
    if r.random() < 0.2:
        x = x[0]
    kernel, stride = [r.choice([1, 2, 3, 5]) for _ in range(n)], [r.choice([1, 2, 3]) for _ in range(n)]
    padding = [r.randrange(k // 2 + 1) for k in kernel]
    ceil = r.random() < 0.4
    kind = r.choice(["max", "avg", "adaptive_avg", "adaptive_max"])
    more = {"return_indices": r.random() < 0.5} if "max" in kind else {}
    if kind == "max":
        arguments = (kernel, stride, padding, [r.choice([1, 1, 2, 3]) for _ in range(n)], ceil)
    elif kind == "avg":
        arguments = (kernel, stride, padding, ceil, r.random() < 0.5)
        if n > 1 and r.random() < 0.3:
            more = {"divisor_override": r.choice([3, -2])}
    else:
        arguments = ([r.choice([1, 2, 4, 7]) for _ in range(n)],)
    return f"{kind}_pool{n}d", x, arguments, more


@pytest.mark.parametrize("block", range(8))
def test_drawn(block):
    compared = 0
    for seed in range(60 * block, 60 * (block + 1)):
        name, x, arguments, more = draw(seed)
        try:
            theirs = getattr(torch.nn.functional, name)(x, *arguments, **more)
        except (RuntimeError, NotImplementedError) as error:
            if name == "avg_pool3d" and ("Half" in str(error) or "BFloat16" in str(error)):
                continue  # PyTorch has no kernel
            with pytest.raises((RuntimeError, NotImplementedError)):
                getattr(ts.nn.functional, name)(ours(x), *arguments, **more)
            continue
        found = getattr(ts.nn.functional, name)(ours(x), *arguments, **more)
        if isinstance(theirs, tuple):
            assert np.array_equal(found[1].numpy(), theirs[1].numpy()), (seed, name, arguments)
            theirs, found = theirs[0], found[0]
        assert str(found.dtype).partition(".")[2] == str(theirs.dtype).partition(".")[2]
        expected, got = numbers(theirs), numbers(found)
        close = 3e-2 if x.dtype in (torch.float16, torch.bfloat16) and "avg" in name else 2e-6
        assert np.allclose(got, expected, rtol=close, atol=close, equal_nan=True), (
            seed,
            name,
            arguments,
            more,
        )
        compared += 1
    assert compared > 25


def hostile():
    for n in (1, 2, 3):
        x = torch.ones(2, 3, *(9,) * n)
        for name in (f"max_pool{n}d", f"avg_pool{n}d"):
            for given in (
                (0,), (3, 0), (3, -1), (3, 1, 2), (3, 1, -1), (20,), (-2,), ((2,) * (n + 1),), (2, (2,) * (n + 1)),
                (2, 1, (1,) * (n + 1)),
            ):  # fmt: skip
                yield name, x, given
            for bad in (x[..., :0], x[:, :0], x.bool(), x.to(torch.complex64), x.flatten()):
                yield name, bad, (2,)
        for given in ((3, 1, 1, 0), (3, 1, 1, -1), (3, 1, 1, (1,) * (n + 1)), (3, 1, 2, 2)):
            yield f"max_pool{n}d", x, given
        for kind in ("avg", "max"):
            for given in ((-1,), ((1,) * (n + 1),)):
                yield f"adaptive_{kind}_pool{n}d", x, given
            for bad in (x[..., :0], x.to(torch.int64), x.bool(), x.flatten()):
                yield f"adaptive_{kind}_pool{n}d", bad, (2,)


@pytest.mark.parametrize("number", range(3))
def test_malicious_arguments(number):
    """Invalid pooling arguments raise PyTorch's error class and message."""
    checked = 0
    for name, x, given in itertools.islice(hostile(), number, None, 3):
        with pytest.raises(Exception) as theirs:
            getattr(torch.nn.functional, name)(x, *given)
        with pytest.raises(Exception) as found:
            getattr(ts.nn.functional, name)(ours(x), *given)
        words = str(theirs.value).splitlines()[0]
        assert type(theirs.value) is type(found.value), (name, given)
        assert str(found.value).startswith(words[:70]), (name, given, words)
        checked += 1
    assert checked > 30
