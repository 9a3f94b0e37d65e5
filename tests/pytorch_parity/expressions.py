"""Expressions that are evaluated with `ts` and PyTorch, with equal values, dtypes, shapes and errors.

Input: a file with one expression per line, with the package `t`, its `F` (nn.functional), `N` (operators in
PyTorch's `torch._C._nn`), random tensors `r` and `u`, integers `i`; output: both outcomes.  A `$` in a line
stands for each of seven dtypes.
"""

from pathlib import Path

import numpy as np
import torch

import ts

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int8", "bool")
NAMESPACES = ((ts, ts), (torch, torch._C._nn))


def lines(name):
    """Yield the expressions of a file in `tests/pytorch_parity/expressions`, for each dtype."""
    text = (Path(__file__).parent / "expressions" / f"{name}.txt").read_text()
    for line in text.splitlines():
        if line and not line.startswith("#"):
            yield from [line.replace("$", repr(d)) for d in DTYPES] if "$" in line else [line]


def outcome(source, package, operators):
    """Return the value of an expression, or its error without parts that may differ."""
    numbers = np.random.default_rng(0)

    def r(*shape, d="float32"):
        return package.from_numpy(np.asarray(numbers.standard_normal(shape))).to(getattr(package, d))

    def u(*shape, d="float32"):
        return package.from_numpy(np.asarray(numbers.random(shape))).to(getattr(package, d))

    def i(values, d="int64"):
        return package.tensor(values, dtype=getattr(package, d))

    package.manual_seed(0)
    names = {"t": package, "F": package.nn.functional, "N": operators, "r": r, "u": u, "i": i}
    try:
        return comparable(eval(source, names))
    except Exception as error:
        if any(d in source for d in ("'int64'", "'int8'", "'bool'")):
            return "refused"  # messages and classes differ between operators
        return f"{type(error).__name__}: {error}".splitlines()[0][:50]


def comparable(value):
    """Return tensors as dtype, shape and elements."""
    if isinstance(value, (list, tuple)):
        return [comparable(v) for v in value]
    if isinstance(value, (ts.Tensor, torch.Tensor)):
        wide = value if value.is_complex() else value.double()
        return [str(value.dtype).rpartition(".")[2], list(value.shape), wide.tolist()]
    return value


def are_close(ours, theirs, tolerance):
    if isinstance(theirs, list):
        return (
            isinstance(ours, list)
            and len(ours) == len(theirs)
            and all(are_close(a, b, tolerance) for a, b in zip(ours, theirs, strict=True))
        )
    if isinstance(theirs, (float, complex)):
        return bool(np.isclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True))
    return ours == theirs


def check(source):
    ours, theirs = (outcome(source, *names) for names in NAMESPACES)
    assert are_close(ours, theirs, 2e-2 if "float16" in source else 1e-4), f"{source}\n{ours}\n{theirs}"
