"""Views in scripts have PyTorch's shape, strides, offset, elements, shared memory and errors."""

import itertools
import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

CALLS = {
    "select": ("x.select({}, {})", 2),
    "narrow": ("x.narrow({}, {}, {})", 3),
    "transpose": ("x.transpose({}, {})", 2),
    "t": ("x.t()", 0),
    "permute": ("x.permute({}, {}, {})", 3),
    "unsqueeze": ("x.unsqueeze({})", 1),
    "squeeze": ("x.squeeze()", 0),
    "squeeze_dim": ("x.squeeze({})", 1),
    "expand": ("x.expand({}, {}, {})", 3),
    "view": ("x.view({}, {})", 2),
    "reshape": ("x.reshape({}, {})", 2),
    "split": ("x.split({}, {})[-1]", 2),
    "chunk": ("x.chunk({}, {})[-1]", 2),
    "unbind": ("x.unbind({})[-1]", 1),
    "index": ("x[{}, {}:{}]", 3),
    "step": ("x[{}:{}:{}]", 3),
    "detach": ("x.detach()", 0),
}
NUMBERS = (0, 1, -1, 2, 3, -2, 6, 4, -4, 5, 12)
SHAPES = ((2, 3, 2), (4, 3), (6,), (), (1, 3, 1), (2, 0, 3))


def samples(call):
    """Return calls with all numbers for at most two arguments, and with random numbers for more."""
    text, count = CALLS[call]
    if count <= 2:
        return [text.format(*numbers) for numbers in itertools.product(NUMBERS, repeat=count)]
    draw = random.Random(call)
    return sorted({text.format(*draw.choices(NUMBERS, k=count)) for _ in range(80)})


def facts(function, x):
    try:
        y = function(x)
    except (RuntimeError, IndexError, TypeError) as error:
        return type(error)
    if min(y.shape, default=0) < 0:  # PyTorch accepts two negative sizes, whose product is positive
        return RuntimeError
    y.mul_(2) if y.numel() and 0 not in y.stride() else None  # writes through the view change x
    steps = [(n, step) for n, step in zip(y.shape, y.stride(), strict=True) if n > 1]
    return y.tolist(), tuple(y.shape), steps, y.storage_offset() if y.numel() else 0, x.tolist()


@pytest.mark.parametrize("call", CALLS)
def test_views(call):
    sources = [f"def f(x):\n    return {text}\n" for text in samples(call)]
    for source in sources:
        theirs, ours = torch.jit.CompilationUnit(source).f, ts.jit.CompilationUnit(source).f
        for shape in SHAPES:
            for transposed in (False, True):
                x = torch.arange(float(torch.Size(shape).numel())).view(shape)
                y = ts.arange(float(x.numel())).view(shape)
                if transposed and len(shape) > 1:
                    x, y = x.transpose(0, 1), y.transpose(0, 1)
                assert facts(ours, y) == facts(theirs, x), (source, shape, transposed)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bool", "half"]
)
@pytest.mark.parametrize("what", ["float(x)", "int(x)", "bool(x)", "x.item()"])
def test_elements(what, dtype):
    """A tensor with one element is converted to a number, for all dtypes; numbers and rows are assigned."""
    source = f"def f(x):\n    return {what}\n"
    theirs, ours = torch.jit.CompilationUnit(source).f, ts.jit.CompilationUnit(source).f
    for value in (0, 1, 5, 0.5, -3):
        if value < 0 and dtype == "uint8":
            continue
        for shape in ((), (1, 1), (2,)):
            results = []
            for module, function in ((torch, theirs), (ts, ours)):
                try:
                    result = function(module.full(shape, value).to(getattr(module, dtype)))
                    results.append((result, type(result)))
                except RuntimeError as error:
                    results.append(str(error).strip().rpartition("RuntimeError: ")[2])
            assert results[0] == results[1]


@pytest.mark.parametrize("target", ["x[i, 1]", "x[i]", "x[:, i]", "x[1:3]"])
@pytest.mark.parametrize("value", ["3", "2.5", "True", "x[0]", "x[0, 0]", "x[:, 0]"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool"])
def test_writes(target, value, dtype):
    source = f"def f(x, i: int):\n    {target} = {value}\n    return x\n"
    results = []
    for module in (torch, ts):
        x = module.arange(12).view(4, 3).to(getattr(module, dtype))
        try:
            results.append(module.jit.CompilationUnit(source).f(x, 1).tolist())
        except (RuntimeError, IndexError) as error:
            results.append(type(error))
    assert results[0] == results[1]


@pytest.mark.parametrize("pad", [(1, 1, 1, 1), (-1, 1, 1, -1), (2, -1, -1, 2), (-1, -1, 0, 1)])
def test_circular_padding_with_negative_widths(pad):
    x = np.arange(54.0).reshape(2, 3, 3, 3)
    want = torch.nn.functional.pad(torch.from_numpy(x), pad, mode="circular")
    got = ts.nn.functional.pad(ts.from_numpy(x), pad, mode="circular")
    assert np.array_equal(got.numpy(), want.numpy())


@pytest.mark.parametrize("call", sorted(CALLS))
def test_bases(call):
    """A result is a view exactly if it is one in PyTorch, with the same base."""
    for shape, text in itertools.product(SHAPES, samples(call)):
        ours, theirs = ts.zeros(shape), torch.zeros(shape)
        try:
            expected = eval(text, {"x": theirs})
            view = eval(text, {"x": ours})
        except (RuntimeError, IndexError, ValueError):  # errors are tested separately
            continue
        assert view._is_view() == expected._is_view(), (text, shape)
        assert (view._base is ours) == (expected._base is theirs), (text, shape)
