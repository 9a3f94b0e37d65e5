"""Tensors with tangents: forward mode.

In: an operator, of whose arguments some have a tangent at a level; out: its results with theirs.

    x + x_t e, y        x * y is (x * y) + (x_t * y) e

The tangents are computed from the rows of derivatives (`ts.ops.derivatives.forward`), by operators: they are
recorded for
gradients, batched, or have tangents themselves, as what they are computed from.
"""

from __future__ import annotations

import itertools
from typing import Any

from ts._core.dispatch.signature import signature
from ts._core.dispatch.writer import identity
from ts._core.layers.layer import Layer
from ts._core.layers.levels import Level, beneath, layered, of_level
from ts._core.tensor.tensor import Tensor, detached, operator, set_layer


class Dual(Layer):
    """A tensor and its tangent, which may be None: zero."""

    def __init__(self, level: int, inner: Tensor, tangent: Tensor | None) -> None:
        super().__init__(level, inner)
        self.tangent = tangent


def without_tangent(level: Level, x: Tensor) -> Dual:
    """The layer of a tensor whose tangent is zero."""
    return Dual(level.number, x, None)


def with_tangent(level: Level, x: Any, tangent: Tensor | None) -> Any:
    """`x`, with a tangent if there is one and it can have any."""
    if tangent is None or not isinstance(x, Tensor) or not (x.is_floating_point() or x.is_complex()):
        return x
    return layered(x, Dual(level.number, x, fitting(tangent, x)))


def fitting(tangent: Tensor, x: Tensor) -> Tensor:
    """A tangent in the shape and dtype of its tensor, and in memory as that where views need it."""
    if tangent.dtype is not x.dtype:
        tangent = tangent.real if tangent.is_complex() and not x.is_complex() else tangent.to(x.dtype)
    if tangent.shape != x.shape:
        tangent = tangent.expand(x.shape)
    if tangent.stride() != x.stride() and x.is_contiguous():
        tangent = tangent.contiguous()
    return tangent


def parts(level: Level, x: Any) -> tuple[Tensor, Tensor | None]:
    """A tensor and its tangent at a level."""
    layer = of_level(x, level)
    return (x, None) if layer is None else (layer.inner, layer.tangent)  # type: ignore[attr-defined]


def run(level: Level, op: Any, args: list[Any]) -> Any:
    """Run an operator on tensors with tangents of that level."""
    from ts.ops.derivatives.forward import composite, tangents_of

    record = op.record
    whole = composite(record)
    if whole is not None:
        return whole(*args)
    if record.variant == "out":
        raise RuntimeError(
            f"{record.name.removeprefix('aten::')}(): functions with out=... arguments don't support "
            "automatic "
            "differentiation, but one of the arguments requires grad."
        )
    pairs = [[parts(level, y) for y in x] if isinstance(x, list) else parts(level, x) for x in args]
    primals = [[p for p, _ in x] if isinstance(x, list) else x[0] for x in pairs]
    tangents = [[t for _, t in x] if isinstance(x, list) else x[1] for x in pairs]
    declared = signature(record.schema_text)
    given_back = {r.alias_of for r in declared.returns}  # what else it writes has no tangent
    written = [
        i for i, p in enumerate(declared.parameters)
        if p.written and isinstance(args[i], Tensor) and (i in given_back or not declared.returns)
    ]  # fmt: skip
    with beneath(level):
        before = list(primals)
        for i in written:
            before[i] = operator("clone")(primals[i])
        found = op.call_list(primals)
        several = isinstance(found, (tuple, list))
        results = list(found) if several else [found]
        given = tangents_of(record, before, tangents, results)
        if not written:
            given = [_own(r, t, pairs) for r, t in zip(results, given, strict=True)]
    if written:
        for i in written:
            _write_tangent(level, args[i], x=primals[i], tangent=given[0] if given else None)
        alias = [r.alias_of for r in declared.returns]
        values = [args[a] if a >= 0 else r for a, r in zip(alias, results, strict=True)]
        return tuple(values) if len(values) > 1 else values[0] if values else None
    values = [with_tangent(level, r, t) for r, t in zip(results, given, strict=True)]
    if not several:
        return values[0]
    return values if isinstance(found, list) else type(found)(values)


def _own(result: Any, tangent: Tensor | None, pairs: list[Any]) -> Tensor | None:
    """A tangent that an argument handed on is copied, unless the result is that argument."""
    if tangent is None or not isinstance(result, Tensor):
        return tangent
    for primal, old in itertools.chain(*(x if isinstance(x, list) else [x] for x in pairs)):
        if old is not None and identity(old) == identity(tangent) and identity(primal) != identity(result):
            copy: Tensor = operator("clone")(tangent)  # each may be written in place
            return copy
    return tangent


def _write_tangent(level: Level, target: Tensor, x: Any, tangent: Tensor | None) -> None:
    """What was written in place has another tangent; views of it that share the old one see that."""
    layer = of_level(target, level)
    old = None if layer is None else layer.tangent  # type: ignore[attr-defined]
    if tangent is None:
        if old is None:
            return
        with beneath(level):
            tangent = operator("zeros_like")(x)
    with beneath(level):
        tangent = fitting(tangent, x)
        if old is not None and old.shape == tangent.shape and not (old.requires_grad and old.is_leaf):
            old.copy_(tangent)
            return
    inner = detached(x) if layer is None else x  # the tensor itself is the one with the tangent now
    set_layer(target, Dual(level.number, inner, tangent))
