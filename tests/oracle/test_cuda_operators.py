"""The samples of PyTorch's operator database on the cuda backend, against the CPU's results.

On a GPU where there is one, else on the double of CuPy.  What the CPU does with the samples is held against PyTorch
elsewhere; here the two devices must agree.
"""

import warnings

import numpy as np
import pytest
import torch

import ts
from tests.test_cuda_operators import SIGN_FREE, WITHOUT_ORDER, compiled  # noqa: F401

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

pytestmark = pytest.mark.cuda

DTYPES = {"float32": 2e-4, "int64": 0, "complex64": 2e-4, "bfloat16": 5e-2}
MOST = 2  # samples of an operator and dtype
RANDOM = ("rand", "normal", "empty", "dropout", "bernoulli", "uniform", "exponential", "cauchy", "geometric", "rrelu",
          "multinomial", "lowrank", "fractional", "multi_head")  # fmt: skip


class Unfit(Exception):
    """A sample that cannot be carried over."""


def carried(x, device):
    """PyTorch's sample as ts values on a device."""
    if isinstance(x, torch.Tensor):
        if x.layout is not torch.strided or x.is_quantized:
            raise Unfit
        t = x.detach().resolve_conj().resolve_neg().contiguous()
        host = ts.from_numpy((t.view(torch.int16) if t.dtype is torch.bfloat16 else t).numpy().copy())
        return (host.view(ts.bfloat16) if t.dtype is torch.bfloat16 else host).to(device)
    if isinstance(x, torch.dtype | torch.memory_format | torch.layout):
        return getattr(ts, str(x).split(".")[-1])
    if isinstance(x, torch.device) or x == "cpu":
        return device
    if isinstance(x, list | tuple):
        return (
            [carried(y, device) for y in x] if isinstance(x, list) else tuple(carried(y, device) for y in x)
        )
    if isinstance(x, slice):
        return x
    if x is None or x is Ellipsis or isinstance(x, bool | int | float | complex | str):
        return x
    raise Unfit


def spelled(name, first):
    """The function or method of that name."""
    found = ts
    for part in name.split("."):
        found = getattr(found, part, None)
    leaf = name.split(".")[-1]
    if callable(found) and not name.startswith("__"):
        return found
    if callable(getattr(type(first), leaf, None)):
        return lambda x, *args, **kwargs: getattr(x, leaf)(*args, **kwargs)
    raise Unfit


def flat(x):
    if isinstance(x, list | tuple):
        for y in x:
            yield from flat(y)
    else:
        yield x


def complaint(op, want, got, tolerance):
    for w, g in zip(flat(want), flat(got), strict=True):
        if not isinstance(w, ts.Tensor):
            if w != g and w == w and not any(word in op.name for word in RANDOM):
                return f"{g} instead of {w}"
            continue
        if (w.dtype, w.shape) != (g.dtype, g.shape):
            return f"{g.dtype}{list(g.shape)} instead of {w.dtype}{list(w.shape)}"
        if any(word in op.name for word in (*RANDOM, *WITHOUT_ORDER)):
            continue
        a, b = (
            t.detach().cpu().to(ts.float64 if t.dtype is ts.bfloat16 else t.dtype).numpy() for t in (w, g)
        )
        if any(word in op.name for word in SIGN_FREE):
            a, b = abs(a), abs(b)
        if a.dtype.kind in "fc":
            tolerance = tolerance or 2e-4
            size = np.nanmax(abs(a[np.isfinite(a)]), initial=1)
            if not np.allclose(a, b, rtol=tolerance, atol=tolerance * size, equal_nan=True):
                return "elements differ"
        elif not np.array_equal(a, b):
            return "elements differ"
    return None


@pytest.mark.parametrize("dtype", DTYPES)
def test_samples(compiled, dtype):
    """Every sample that the CPU computes."""
    compiled(dtype)
    held, complaints = set(), []
    kind = getattr(torch, dtype)
    for op in op_db:
        if kind not in op.dtypes or "sparse" in op.name or "chalf" in op.name:
            continue
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            samples = iter(op.sample_inputs_func(op, "cpu", kind, False))  # without its look at the call stack
            for n in range(MOST):
                try:
                    sample = next(samples)
                    if sample.kwargs.get("dropout_p"):
                        continue
                    values = [[sample.input, *sample.args], list(sample.kwargs.values())]
                    here, there = (carried(values, place) for place in ("cpu", "cuda"))
                    function = spelled(op.name, here[0][0])
                    want = function(*here[0], **dict(zip(sample.kwargs, here[1])))
                except StopIteration:
                    break
                except Exception:  # no sample for ts: what it lacks on the CPU is told elsewhere
                    continue
                try:
                    got = function(*there[0], **dict(zip(sample.kwargs, there[1])))
                    wrong = complaint(op, want, got, DTYPES[dtype])
                except Exception as error:
                    wrong = f"{type(error).__name__}: {error}"
                held.add(op.name)
                if wrong:
                    complaints.append(f"{op.name} {dtype} sample {n}: {wrong}")
    assert not complaints, "\n".join(complaints[:40])
    assert len(held) > {"float32": 450, "complex64": 250}.get(dtype, 200)
