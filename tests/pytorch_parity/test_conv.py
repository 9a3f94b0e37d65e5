"""Convolutions compared with PyTorch: random geometries, all dtypes, and invalid arguments."""

import random

import numpy as np
import pytest

import ts

torch = pytest.importorskip("torch")

TOLERANCE = {  # relative to the largest element of the result in the widest type
    torch.float32: 2e-6, torch.float64: 1e-14, torch.complex64: 3e-6, torch.float16: 1e-3,
    torch.bfloat16: 8e-3, torch.int64: 0,
}  # fmt: skip


def ours(x):
    if x is None:
        return None
    if x.dtype == torch.bfloat16:
        return ts.from_numpy(x.float().numpy()).to(ts.bfloat16)
    return ts.from_numpy(x.numpy())


def wide(x):
    if x is None:
        return None
    return x.to(torch.complex128 if x.dtype.is_complex else torch.float64)


def draw(seed):
    """Return a random convolution: its name, operands and options."""
    r = random.Random(seed)
    torch.manual_seed(seed)
    n = r.choice([1, 2, 2, 3])
    groups, per_group, filters = r.choice([1, 1, 1, 2, 4]), r.choice([1, 1, 2, 5]), r.choice([1, 2, 3, 9])
    dtype = r.choice(list(TOLERANCE))
    transposed = r.random() < 0.4

    def random_tensor(*shape):
        if dtype == torch.int64:
            return torch.randint(-5, 5, shape)
        return torch.randn(*shape, dtype=torch.complex64 if dtype.is_complex else torch.float64).to(dtype)

    kernel, stride, dilation, padding, sizes = (
        [r.choice(choices) for _ in range(n)]
        for choices in ([1, 2, 3, 5], [1, 1, 2, 3], [1, 1, 2, 4], [0, 0, 1, 2, 5], [1, 3, 6, 11, 20])
    )
    channels = groups * per_group
    x = random_tensor(r.choice([1, 1, 2, 3]), channels, *sizes)
    weight = random_tensor(*((channels, filters) if transposed else (filters * groups, per_group)), *kernel)
    if r.random() < 0.2:
        x = random_tensor(*x.shape[::-1]).permute(*range(n + 1, -1, -1))
    if r.random() < 0.1:
        x = x[0]
    bias = random_tensor(filters * groups) if r.random() < 0.6 else None
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    if transposed:
        options["output_padding"] = [r.randrange(max(a, b)) for a, b in zip(stride, dilation)]
    return f"conv{'_transpose' * transposed}{n}d", (x, weight, bias), options


@pytest.mark.parametrize("block", range(8))
def test_drawn(block):
    compared = 0
    for seed in range(50 * block, 50 * (block + 1)):
        name, operands, options = draw(seed)
        try:
            theirs = getattr(torch, name)(*operands, **options)
        except RuntimeError:
            with pytest.raises(RuntimeError):
                getattr(ts, name)(*map(ours, operands), **options)
            continue
        if theirs.numel() == 0:
            continue
        found = getattr(ts, name)(*map(ours, operands), **options)
        assert tuple(found.shape) == tuple(theirs.shape), (seed, name, options)
        assert str(found.dtype) == str(theirs.dtype).replace("torch", "ts") or str(found.dtype) == str(
            theirs.dtype
        )
        exact = getattr(torch, name)(*map(wide, operands), **options).numpy()
        dtype = operands[0].dtype
        got = found.to(ts.float64).numpy() if dtype in (torch.bfloat16, torch.float16) else found.numpy()
        error = np.abs(got - exact).max() / max(1, np.abs(exact).max())
        assert error <= TOLERANCE[dtype], (seed, name, dtype, options, error)
        compared += 1
    assert compared > 20


HOSTILE = {
    "stride 0": ("conv2d", (1, 2, 5, 5), (3, 2, 3, 3), {"stride": 0}),
    "negative stride": ("conv2d", (1, 2, 5, 5), (3, 2, 3, 3), {"stride": -1}),
    "negative padding": ("conv2d", (1, 2, 5, 5), (3, 2, 3, 3), {"padding": -1}),
    "dilation 0": ("conv2d", (1, 2, 5, 5), (3, 2, 3, 3), {"dilation": 0}),
    "kernel larger than input": ("conv2d", (1, 2, 5, 5), (3, 2, 7, 7), {}),
    "no groups": ("conv2d", (1, 2, 5, 5), (3, 2, 3, 3), {"groups": 0}),
    "negative groups": ("conv2d", (1, 2, 5, 5), (3, 2, 3, 3), {"groups": -1}),
    "groups that do not divide the channels": ("conv2d", (1, 3, 5, 5), (4, 1, 3, 3), {"groups": 2}),
    "groups that do not divide the filters": ("conv2d", (1, 2, 5, 5), (3, 1, 3, 3), {"groups": 2}),
    "channels": ("conv2d", (1, 3, 5, 5), (4, 2, 3, 3), {}),
    "rank": ("conv2d", (5, 5), (4, 2, 3, 3), {}),
    "rank of the weight": ("conv2d", (1, 2, 5, 5), (4, 2, 3), {}),
    "same and stride": ("conv2d", (1, 2, 5, 5), (4, 2, 3, 3), {"padding": "same", "stride": 2}),
    "no padding of that name": ("conv1d", (1, 2, 5), (4, 2, 3), {"padding": "other"}),
    "huge dilation": ("conv1d", (1, 2, 5), (4, 2, 3), {"dilation": 2**40}),
    "transposed stride 0": ("conv_transpose2d", (1, 2, 5, 5), (2, 3, 3, 3), {"stride": 0}),
    "output padding": ("conv_transpose1d", (1, 2, 5), (2, 3, 3), {"output_padding": 1}),
    "transposed too small": ("conv_transpose1d", (1, 2, 2), (2, 3, 1), {"padding": 3}),
    "transposed channels": ("conv_transpose1d", (1, 3, 2), (2, 3, 1), {}),
    "transposed groups": ("conv_transpose1d", (1, 3, 2), (3, 3, 1), {"groups": 2}),
    "negative output padding": ("conv_transpose1d", (1, 2, 5), (2, 3, 3), {"output_padding": -1}),
    "stride of another rank": ("conv2d", (1, 2, 5, 5), (3, 2, 3, 3), {"stride": (1, 1, 1)}),
    "padding of another rank": ("conv2d", (1, 2, 5, 5), (3, 2, 3, 3), {"padding": (1, 1, 1)}),
    "bias": ("conv1d", (1, 2, 5), (4, 2, 3), {"bias": (3,)}),
    "rank of the bias": ("conv1d", (1, 2, 5), (4, 2, 3), {"bias": (4, 1)}),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_malicious_arguments(case):
    """Invalid convolution arguments raise PyTorch's error class and message."""
    name, x, weight, options = HOSTILE[case]
    failures = []
    for lib in (torch, ts):
        given = {k: lib.ones(v) if k == "bias" else v for k, v in options.items()}
        with pytest.raises((RuntimeError, TypeError, ValueError)) as failure:
            getattr(lib, name)(lib.ones(x), lib.ones(weight), **given)
        failures.append(failure.value)
    assert type(failures[0]) is type(failures[1])
    theirs, found = (str(e).splitlines()[0].replace("ts.", "torch.") for e in failures)
    assert found.startswith(theirs[:60]), (theirs, found)


def test_dilation_and_padding_beyond_memory():
    """Kernel positions entirely in the padding cost no time or memory."""
    x, weight = torch.ones(1, 1, 4), torch.ones(1, 1, 3)
    theirs = torch.conv1d(x, weight, padding=2**27, dilation=2**27)
    assert ts.conv1d(ours(x), ours(weight), padding=2**27, dilation=2**27).tolist() == theirs.tolist()
    theirs = torch.conv1d(x, weight, padding=2**20, stride=2**19)
    assert ts.conv1d(ours(x), ours(weight), padding=2**20, stride=2**19).tolist() == theirs.tolist()
