"""Operator calls of `test_native_kernels`, with its tensors and comparison of results.

A call takes a module (`ts` or `torch`) and one tensor, and creates other arguments from these.  To add an
operator, add a line to a table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import ts

LAYOUTS = ("in order", "transposed", "with gaps", "expanded", "behind others")
KINDS = ("float32", "float64", "int64", "int32", "uint8", "bool", "float16", "complex64")
FLOATS = ("float32", "float64", "float16")
WHOLE = ("int64", "int32", "uint8")
VECTORS = ((0,), (1,), (2,), (17,))
MATRICES = ((0, 3), (1, 1), (3, 4), (4, 3), (2, 3, 5), (2, 0, 3))
SHAPES = ((), *VECTORS, *MATRICES)


@dataclass
class Call:
    """An operator with one set of arguments."""

    name: str
    run: Callable[[Any, Any], Any]
    kinds: tuple[str, ...] = KINDS
    shapes: tuple[tuple[int, ...], ...] = SHAPES
    exact: bool = True  # bit for bit; otherwise up to rounding


def _turns() -> list[Call]:
    flips: list[tuple[int, ...]] = [(0,), (-1,), (0, 1), (), (1, 1), (2,), (-3, -1)]
    rolls: list[tuple[Any, Any]] = [
        (1, 0), (-2, -1), (7, None), ((1, -1), (0, 1)), ((1, 2), (0, 0)), ((1, 2), (0,)), (1, 3), ((), ()),
    ]  # fmt: skip
    return [
        *[Call(f"flip {dims}", lambda m, x, dims=dims: x.flip(dims)) for dims in flips],
        Call("flipud", lambda m, x: m.flipud(x)),
        Call("fliplr", lambda m, x: m.fliplr(x)),
        *[
            Call(f"roll {s} {d}", lambda m, x, s=s, d=d: x.roll(s) if d is None else x.roll(s, d))
            for s, d in rolls
        ],
    ]


def _triangles() -> list[Call]:
    one = {"kinds": ("float32",), "shapes": ((),)}
    sizes = [
        (3, 4, 0),
        (4, 3, 1),
        (4, 3, -2),
        (3, 3, 9),
        (3, 3, -9),
        (0, 3, 0),
        (3, 0, 1),
        (2, 2, 1 << 62),
        (-1, 3, 0),
    ]
    return [
        *[Call(f"{name} {d}", lambda m, x, name=name, d=d: getattr(x, name)(d))
          for name in ("tril", "triu") for d in (0, 1, -1, 5, -5, 1 << 40)],
        *[Call(f"{name} {size}", lambda m, x, name=name, size=size: getattr(m, name)(*size), **one)
          for name in ("tril_indices", "triu_indices") for size in sizes],
        *[Call(f"eye {size} {kind}", lambda m, x, size=size, kind=kind: m.eye(*size, dtype=getattr(m, kind)), **one)
          for size in ((3,), (0,), (2, 3), (3, 2), (-1,)) for kind in KINDS],
        *[Call(f"linspace {a} {b} {n} {kind}", lambda m, x, a=a, b=b, n=n, kind=kind: m.linspace(a, b, n, dtype=getattr(m, kind)),
               exact=False, **one)
          for a, b in ((0, 1), (-3.5, 7), (2, 2), (0.0, float("inf"))) for n in (0, 1, 2, 5, 100, -1)
          for kind in ("float32", "float64")],
    ]  # fmt: skip


def _vector(m: Any, n: int, x: Any) -> Any:
    """Return a vector of `n` numbers of the dtype of x."""
    return (m.arange(n) % 7 - 2).to(x.dtype)


def _vectors() -> list[Call]:
    numbers: dict[str, Any] = {"kinds": ("float32", "float64", "int64"), "exact": False}
    rows: dict[str, Any] = {"shapes": ((0,), (1,), (3,), (64,), (200,)), **numbers}
    matrices: dict[str, Any] = {
        "shapes": ((1, 1), (3, 4), (70, 130), (0, 3), (3, 0), (2, 3, 5), (3,)),
        **numbers,
    }
    threes: dict[str, Any] = {"shapes": ((3,), (3, 3), (2, 3, 5), (4, 3), (0, 3), (2, 2), ()), **numbers}
    return [
        Call("dot", lambda m, x: m.dot(x, _vector(m, len(x), x)), **rows),
        Call("dot with itself", lambda m, x: m.dot(x, x), **rows),
        Call("vdot", lambda m, x: m.vdot(_vector(m, len(x), x), x), **rows),
        Call("dot of two dtypes", lambda m, x: m.dot(x, x.to(m.float16)), **rows),
        Call("vector @ vector", lambda m, x: x @ _vector(m, len(x), x), **rows),
        Call("outer", lambda m, x: m.outer(x, _vector(m, 5, x)), **rows),
        Call("ger", lambda m, x: m.ger(_vector(m, 2, x), x), **rows),
        Call("mv", lambda m, x: m.mv(x, _vector(m, x.shape[-1], x)), **matrices),
        Call("mv that does not fit", lambda m, x: m.mv(x, _vector(m, x.shape[-1] + 1, x)), **matrices),
        Call("matrix @ vector", lambda m, x: x @ _vector(m, x.shape[-1], x), **matrices),
        Call("vector @ matrix", lambda m, x: _vector(m, x.shape[0], x) @ x, **matrices),
        *[Call(f"cross {dim}", lambda m, x, dim=dim: m.cross(x, _vector(m, x.numel(), x).view(x.shape), dim), **threes)
          for dim in (0, -1, 1)],
        Call("cross", lambda m, x: m.linalg.cross(x, x + 1), **threes),
        Call("cross of two shapes", lambda m, x: m.linalg.cross(x, x[:1] - 2), **threes),
    ]  # fmt: skip


def _conversions() -> list[Call]:
    kinds = ("float32", "float64", "int64", "int32", "bool", "float16", "bfloat16", "uint8", "complex64")
    given = ("float32", "float64", "int64", "int32", "uint8", "bool", "float16")
    return [
        *[Call(f"to {kind}", lambda m, x, kind=kind: x.abs().to(getattr(m, kind)).to(m.float64 if kind != "complex64" else None),
               given) for kind in kinds if kind != "complex64"],
        *[Call(f"to {kind}, copied", lambda m, x, kind=kind: x.to(getattr(m, kind), copy=True), given) for kind in kinds[:5]],
        Call("to itself", lambda m, x: [x.to(x.dtype) is x, x.flatten() is x, x.contiguous() is x]),
        Call("flatten", lambda m, x: x.flatten(0, -1)),
        Call("flatten one", lambda m, x: x.flatten(-1, -1)),
        Call("flatten backwards", lambda m, x: x.flatten(1, 0)),
        Call("shape", lambda m, x: [tuple(x.shape), tuple(x.size()), x.dim(), x.numel(), [x.size(d) for d in range(-x.dim(), x.dim())]]),
        Call("no such dimension", lambda m, x: x.size(x.dim())),
        *[Call(f"zeros of {kind}", lambda m, x, kind=kind: m.zeros(x.shape, dtype=getattr(m, kind))) for kind in kinds[:5]],
        Call("full of a negative zero", lambda m, x: 1 / m.full(x.shape, -0.0), ("float32",)),
    ]  # fmt: skip


def _moments() -> list[Call]:
    return [
        *[Call(f"{name} {args}", lambda m, x, name=name, args=args: getattr(m, name)(x, *args[0], **args[1]),
               ("float32", "float64"), exact=False)
          for name in ("var", "std")
          for args in (((), {}), ((0,), {}), (((0, -1),), {}), ((), {"correction": 0}), ((-1,), {"correction": 2, "keepdim": True}))],
    ]  # fmt: skip


def _target(m: Any, x: Any, first: int = 0) -> Any:
    """Return a class index for each sample of (N, C, ...) or (C)."""
    classes = x.shape[1] if x.dim() > 1 else x.shape[0]
    shape = [n for d, n in enumerate(x.shape) if d != (1 if x.dim() > 1 else 0)]
    count = int(np.prod(shape)) if shape else 1
    return (m.arange(first, first + count) * 7 % max(classes, 1)).view(shape)


def _class_losses() -> list[Call]:
    scores: dict[str, Any] = {
        "kinds": ("float32", "float64", "float16"), "exact": False,
        "shapes": ((3, 4), (1, 1), (17, 33), (2, 3, 5), (2, 4, 3, 2), (5,), (0, 3), ()),
    }  # fmt: skip
    rows: dict[str, Any] = scores | {
        "kinds": ("float32", "float64", "int64"),
        "shapes": ((3, 4), (1, 1), (6, 9), (5,), (2, 3, 5)),
    }
    weights = lambda m, x: (m.arange(x.shape[1] if x.dim() > 1 else x.shape[0]) + 1).to(x.dtype) / 4
    f = lambda m: m.nn.functional
    return [
        *[Call(f"{name} {how}", lambda m, x, name=name, how=how: getattr(f(m), name)(x, _target(m, x), reduction=how), **scores)
          for name in ("nll_loss", "cross_entropy") for how in ("none", "mean", "sum")],
        *[Call(f"{name}, weighted {how}",
               lambda m, x, name=name, how=how: getattr(f(m), name)(x, _target(m, x), weights(m, x), reduction=how), **scores)
          for name in ("nll_loss", "cross_entropy") for how in ("none", "mean", "sum")],
        *[Call(f"{name}, some ignored", lambda m, x, name=name: getattr(f(m), name)(x, _target(m, x), ignore_index=1), **scores)
          for name in ("nll_loss", "cross_entropy")],
        Call("nll_loss of no such class", lambda m, x: f(m).nll_loss(x, _target(m, x) + 1), **scores),
        Call("nll_loss of classes below 0", lambda m, x: f(m).cross_entropy(x, _target(m, x) - 1), **scores),
        Call("nll_loss of too few targets", lambda m, x: f(m).nll_loss(x, _target(m, x)[:-1]), **scores),
        Call("nll_loss of wrong weights", lambda m, x: f(m).nll_loss(x, _target(m, x), weights(m, x)[:-1]), **scores),
        Call("cross_entropy, smoothed", lambda m, x: f(m).cross_entropy(x, _target(m, x), label_smoothing=0.1), **scores),
        Call("cross_entropy of probabilities", lambda m, x: f(m).cross_entropy(x, x.abs()), **scores),
        Call("cross_entropy of infinities", lambda m, x: f(m).cross_entropy(x / 0, _target(m, x)), **scores),
        *[Call(f"multi_margin_loss {p} {margin} {how}",
               lambda m, x, p=p, margin=margin, how=how: f(m).multi_margin_loss(x, _target(m, x), p, margin, reduction=how), **rows)
          for p, margin, how in ((1, 1, "none"), (2, 0.5, "mean"), (2, 1, "sum"), (3, 1, "mean"))],
        Call("multi_margin_loss, weighted", lambda m, x: f(m).multi_margin_loss(x, _target(m, x), weight=weights(m, x)), **rows),
        *[Call(f"multilabel_margin_loss {how}", lambda m, x, how=how: f(m).multilabel_margin_loss(
            x, (m.arange(x.numel()) % 5 - 1).view(x.shape).clamp(max=x.shape[-1] - 1), reduction=how), **rows)
          for how in ("none", "mean", "sum")],
        Call("multilabel_margin_loss of no such class", lambda m, x: f(m).multilabel_margin_loss(x, m.arange(x.numel()).view(x.shape) + 1), **rows),
    ]  # fmt: skip


def _written(index: Any, value: Any) -> Callable[[Any, Any], Any]:
    """Return a function that assigns `x[index] = value` in a copy; index and value may be functions of the
    module."""

    def run(m: Any, x: Any) -> Any:
        result = x.clone()
        result[index(m) if callable(index) else index] = value(m, x) if callable(value) else value
        return result

    return run


def _subscripts() -> list[Call]:
    two: dict[str, Any] = {"shapes": ((3, 4), (4, 3), (5,), (2, 3, 5), ())}
    views = [
        0,
        -1,
        (1, 2),
        (0, slice(None, 2)),
        slice(1, None, 2),
        Ellipsis,
        None,
        (None, 1),
        (Ellipsis, 0),
        9,
        (0, 0, 0, 0),
    ]
    values: list[Any] = [2, -1.5, True, float("nan"), 2j, "a"]
    several = lambda m: (m.tensor([0, 2, 1, 0]), m.tensor([1, 0, 2, 1]))
    one = lambda m: m.tensor([2, 0, -1])
    return [
        *[Call(f"x[{index}] = {value}", _written(index, value), **two) for index in views for value in (values if index in (0, None) else values[:2])],
        *[Call(f"x[{index}] = another", _written(index, lambda m, x, index=index: x[index].clone() * 2), **two) for index in views],
        Call("x[0] = the other way round", _written(0, lambda m, x: x.flip(0)[0].half()), **two),
        Call("x[:2] = a row of it", _written(slice(2), lambda m, x: x[1:2]), **two),
        Call("x[indices] = number", _written(one, 3), **two),
        Call("x[i, j] = number", _written(several, 1.5), **two),
        Call("x[i, j] = tensor", _written(several, lambda m, x: x[several(m)] * 2), **two),
        Call("x[indices out of range] = number", _written(lambda m: m.tensor([9]), 1), **two),
        Call("x[mask of rows] = number", _written(lambda m: m.tensor([True, False, True]), 1), **two),
        Call("masks", lambda m, x: [x[x > 1], _written(lambda m: x > 1, 7)(m, x), _written(lambda m: x > 1, x.flatten()[:1])(m, x)],
             ("float32", "int64"), **two),
        *[Call(f"x[{before} :, i {after}]", lambda m, x, before=before, after=after: x[(slice(None),) * before + (i,) + (slice(None),) * after]
               if (i := one(m)) is not None else None, **two) for before in range(3) for after in range(2)],
        Call("x[:, indices of two dimensions]", lambda m, x: x[:, m.tensor([[0, 1], [2, -2]])], **two),
        Call("x[:, no such]", lambda m, x: x[:, m.tensor([0, 7])], **two),
    ]  # fmt: skip


def _literals() -> list[Call]:
    data: list[Any] = [
        1.5, 2, True, [1.0, 2], [[1, 2], [3, 4]], [[True], [False]], [True, 2], [True, 2.5, 3], (1, [2]), [(1, 2), [3, 4]], [], [[]], [[1], []],
        [[1, 2], [3]], [1 << 63], [1e39], ["a"], [1, "a"], 1j, [1j, 2], list(range(5000)), [[[[[[[[[1]]]]]]]]], float("nan"), [1, [2]],
    ]  # fmt: skip
    dtypes = (None, "float32", "float64", "int64", "bool", "float16", "uint8", "complex64")
    return [
        Call(f"tensor({str(given)[:40]}, {dtype})",
             lambda m, x, given=given, dtype=dtype: m.tensor(given, dtype=dtype and getattr(m, dtype)), ("float32",), ((),))
        for given in data for dtype in dtypes if not (dtype == "uint8" and given == [1e39])
    ]  # fmt: skip


CALLS = [
    *_turns(), *_triangles(), *_vectors(), *_conversions(), *_moments(), *_class_losses(), *_subscripts(), *_literals(),
]  # fmt: skip


def tensors(shape: tuple[int, ...], kind: str, layout: str, seed: int = 0) -> tuple[Any, Any]:
    """Return tensors of both libraries with equal numbers and strides."""
    n = int(np.prod(shape))
    random = np.random.default_rng(seed)
    host = random.integers(0, 9, n) if kind in WHOLE else random.standard_normal(n) * 3
    host = host.reshape(shape)
    host = host > 0 if kind == "bool" else host.astype(kind)
    return _laid(ts, host, layout), _laid(torch, host, layout)


def _laid(m: Any, host: Any, layout: str) -> Any:
    whole = m.from_numpy(np.ascontiguousarray(host).reshape(host.shape))
    if layout == "behind others":
        return m.stack([whole, whole])[1]
    if layout == "in order" or not host.ndim:
        return whole
    if layout == "transposed":
        last = whole.dim() - 1
        return whole.transpose(0, last).contiguous().transpose(0, last)
    if layout == "with gaps":
        return m.stack([whole, whole], -1)[..., 0]
    return whole[:1].expand(whole.shape)


def outcome(m: Any, call: Call, x: Any) -> Any:
    """Return the results as a list of tensors, or the error."""
    try:
        result = call.run(m, x)
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        return error
    return list(result) if isinstance(result, (tuple, list)) else [result]


def close(found: Any, wanted: Any, what: str, exact: bool = True) -> None:
    """Check equal values, dtypes, shapes and strides, or errors of one class."""
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        assert type(found) is type(wanted), f"{what}: {found!r} for {wanted!r}"
        return
    assert len(found) == len(wanted), what
    for ours, theirs in zip(found, wanted, strict=True):
        if not isinstance(theirs, torch.Tensor):
            assert ours == theirs, what
            continue
        assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1], what
        assert tuple(ours.shape) == tuple(theirs.shape), what
        if theirs.numel():
            assert _steps(ours) == _steps(theirs), f"{what}: lies {ours.stride()} for {theirs.stride()}"
        a, b = ours.numpy(), theirs.resolve_conj().numpy()
        if exact or a.dtype.kind not in "fc":
            np.testing.assert_array_equal(a, b, err_msg=what)
        else:
            eps, finite = float(np.finfo(b.dtype).eps), np.abs(b[np.isfinite(b)])
            scale = max(1.0, float(finite.max())) if finite.size else 1.0
            np.testing.assert_allclose(a, b, rtol=16 * eps, atol=16 * eps * scale, err_msg=what)


def _steps(x: Any) -> list[int]:
    """Return the strides without dimensions of size 1."""
    return [step for n, step in zip(x.shape, x.stride(), strict=True) if n != 1]
