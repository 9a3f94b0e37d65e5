"""Dual tensors (dual numbers) for forward-mode automatic differentiation.

Input: an operator and its arguments, of which at least one has a tangent at a level. Output: the results with
tangents.

The formulas in `ts.ops.derivatives.forward` compute tangents by operators. Therefore, autograd can record the
computation and `vmap` can batch it. A tangent can have tangents at other levels. For x with the tangent x_t
and y without a tangent:

    x * y has the tangent x_t * y
"""

from __future__ import annotations

import itertools
import textwrap
from typing import Any

from ts._core.autograd.views import gather_view, scatter_view
from ts._core.dispatch_layers.layer import Layer
from ts._core.dispatch_layers.level_stack import (
    Level,
    below_level,
    call_decomposition,
    depth,
    layered,
    of_level,
    requires_grad_below,
)
from ts._core.late_binding import resolve
from ts._core.tensor.python_operators import operator
from ts._core.tensor.tensor import Tensor, rebind_array
from ts._core.tensor.tensor_metadata import (
    has_hidden_elements,
    hide_elements,
    layer_of,
    set_layer,
    share_memory,
    sunk,
)
from ts._core.thread.context import current_tracer
from ts.errors import UserError


class Dual(Layer):
    """Layer of a dual tensor, with its primal and its tangent (None if the tangent is zero).

    writes         number of writes to the tangent
    synced_writes  for a view: value of `writes` of the base at the last update of the view's tangent
    """

    def __init__(
        self, level: Level, inner: Tensor, tangent: Tensor | None, writes: int = 0, synced_writes: int = 0
    ) -> None:
        super().__init__(level.level_id, inner)
        self.tangent = tangent
        self.writes = writes
        self.synced_writes = synced_writes
        self.hides_elements = level.hides_elements or has_hidden_elements(inner)
        self.is_open = level.is_open

    def describe(self) -> str:
        """Return the `repr` of a tensor at an open level of `jvp`, or "" for other dual tensors."""
        if not self.hides_elements:
            return ""
        inner = textwrap.indent(repr(self.inner), "    ")
        level_depth = depth(self.level) if self.is_open() else -2
        return f"GradTrackingTensor(lvl={level_depth}, value=\n{inner}\n)"

    def check_memory(self) -> None:
        """Raise RuntimeError for an access to the memory of a tensor while the level is open."""
        if self.is_open():
            super().check_memory()


def raise_recording_unsupported() -> None:
    """Raise UserError during an export, because exported programs cannot represent tangents."""
    tracer = current_tracer()
    if tracer is not None and tracer.is_export:
        raise UserError(
            "derivatives in forward mode (jvp, jacfwd, hessian, forward_ad) are not supported inside of an "
            "exported program: use grad, vjp or jacrev"
        )


def without_tangent(level: Level, x: Tensor) -> Dual:
    """Return the layer of a tensor whose tangent is zero."""
    return Dual(level, x, None)


def with_tangent(level: Level, x: Any, tangent: Tensor | None, viewed: Tensor | None = None) -> Any:
    """Return a tensor that shares the elements of `x`, has a tangent, and is a view of `viewed` if given.

    Return `x` itself if `viewed` is None and no tangent is set. No tangent is set if `tangent` is None, or
    `x` is not a floating or complex tensor.
    """
    if not isinstance(x, Tensor) or not (x.is_floating_point() or x.is_complex()):
        tangent = None
    if not isinstance(x, Tensor) or (tangent is None and viewed is None):
        return x
    layer_of_result = Dual(level, x, None if tangent is None else convert_tangent(tangent, x))
    if viewed is not None:
        layer_of_result.synced_writes = writes(level, viewed)
    return layered(x, layer_of_result, viewed)


def writes(level: Level, x: Tensor) -> int:
    """Return the number of writes to the tangent of `x`, or of its base if `x` is a view."""
    layer = of_level(x if x._base is None else x._base, level)
    return 0 if layer is None else layer.writes  # type: ignore[attr-defined,no-any-return]


def convert_tangent(tangent: Tensor, x: Tensor) -> Tensor:
    """Convert a tangent to the shape and dtype of `x`, and to contiguous memory if `x` is contiguous."""
    if tangent.dtype is not x.dtype:
        tangent = tangent.real if tangent.is_complex() and not x.is_complex() else tangent.to(x.dtype)
    if tangent.shape != x.shape:
        tangent = tangent.expand(x.shape)
    if tangent.stride() != x.stride() and x.is_contiguous():
        tangent = tangent.contiguous()
    return tangent


def unwrap_dual(level: Level, x: Any) -> tuple[Tensor, Tensor | None]:
    """Return the primal and tangent of `x` at a level.

    The tangent of a view is updated if its base was written.
    """
    layer: Any = of_level(x, level)
    base = x._base if isinstance(x, Tensor) else None
    now = 0 if base is None else writes(level, x)
    if base is None or now == (0 if layer is None else layer.synced_writes):
        return (x, None) if layer is None else (layer.inner, layer.tangent)
    base_layer: Any = of_level(base, level)
    inner = sunk(x, base_layer.inner) if layer is None else layer.inner
    with below_level(level):
        tangent = gather_view(inner, base_layer.inner, base_layer.tangent)
    _replace_layer(x, Dual(level, inner, tangent, 0, now))
    return inner, tangent


def _replace_layer(x: Tensor, layer: Dual) -> None:
    """Replace the layer of `x`, and its array if the layer hides elements."""
    if layer.hides_elements:
        hide_elements(x, layer.inner, False)
    set_layer(x, layer)


def run(level: Level, op: Any, args: list[Any]) -> Any:
    """Run an operator on tensors that have tangents at the level."""
    forward = resolve("forward_derivatives")
    record = op.record
    decomposition = forward.composite(record)
    if decomposition is not None:
        return call_decomposition(decomposition, args)
    if record.variant == "out":
        raise RuntimeError(
            f"{record.name.removeprefix('aten::')}(): functions with out=... arguments don't support "
            "automatic differentiation, but one of the arguments requires grad."
        )
    pairs = [
        [unwrap_dual(level, y) for y in x] if isinstance(x, list) else unwrap_dual(level, x) for x in args
    ]
    primals = [[p for p, _ in x] if isinstance(x, list) else x[0] for x in pairs]
    tangents = [[t for _, t in x] if isinstance(x, list) else x[1] for x in pairs]
    declared = op.signature
    # Indices of the arguments that the operator modifies and also returns. A modified argument that the
    # operator does not return gets a tangent only if the operator returns nothing.
    given_back = {r.alias_of for r in declared.returns}
    written = [
        i for i, p in enumerate(declared.parameters)
        if p.written and isinstance(args[i], Tensor) and (i in given_back or not declared.returns)
    ]  # fmt: skip
    with below_level(level):
        before = list(primals)
        for i in written:
            before[i] = operator("clone")(primals[i])
        outputs = op.call_list(primals)
        several = isinstance(outputs, (tuple, list))
        results = list(outputs) if several else [outputs]
        output_tangents = forward.tangents_of(record, before, tangents, results)
        if not written:
            output_tangents = [
                _copy_if_shared(r, t, pairs) for r, t in zip(results, output_tangents, strict=True)
            ]
    if written:
        for i in written:
            tangent = output_tangents[0] if output_tangents else None
            if record.reshapes and args[i] is not primals[i]:
                _update_in_place(level, args[i], primals[i], tangent)
            else:
                _write_tangent(level, args[i], primals[i], tangent)
        alias = [r.alias_of for r in declared.returns]
        values = [args[a] if a >= 0 else r for a, r in zip(alias, results, strict=True)]
        return tuple(values) if len(values) > 1 else values[0] if values else None
    returns = declared.returns
    viewed = args[returns[0].view_of] if len(returns) == 1 and returns[0].view_of >= 0 else None
    values = [with_tangent(level, r, t, viewed) for r, t in zip(results, output_tangents, strict=True)]
    if not several:
        return values[0]
    return values if isinstance(outputs, list) else type(outputs)(values)


def _copy_if_shared(result: Any, tangent: Tensor | None, pairs: list[Any]) -> Tensor | None:
    """Return a copy of `tangent` if it shares memory with an argument's tangent but `result` is no view.

    Otherwise, return `tangent` itself.
    """
    if tangent is None or not isinstance(result, Tensor):
        return tangent
    for primal, old in itertools.chain(*(x if isinstance(x, list) else [x] for x in pairs)):
        if old is not None and share_memory(old, tangent) and not share_memory(primal, result):
            copy: Tensor = operator("clone")(tangent)
            return copy
    return tangent


def _update_in_place(level: Level, target: Tensor, inner: Any, tangent: Tensor | None) -> None:
    """Set inner tensor and tangent of `target` after an operator such as `t_` has changed its shape."""
    layer: Any = of_level(target, level)
    layer_of_result = Dual(level, inner, tangent, layer.writes, layer.synced_writes)
    if not layer_of_result.hides_elements:
        rebind_array(target, inner.array)
    _replace_layer(target, layer_of_result)


def _write_tangent(level: Level, target: Tensor, x: Any, tangent: Tensor | None) -> None:
    """Store the new tangent of a tensor that was written in place, and update its base's tangent.

    Other views of the base update their tangents at the next access (`unwrap_dual`).
    """
    _, old = unwrap_dual(level, target)
    if tangent is None and old is None:
        return
    base = target._base
    with below_level(level):
        tangent = convert_tangent(operator("zeros_like")(x) if tangent is None else tangent, x)
        if (
            old is not None
            and _can_copy_tangent(old, tangent)
            and (base is None or _shares_tangent_storage(level, old, base))
        ):
            old.copy_(tangent)
            _written(level, target if base is None else base)
        elif base is None:
            _written(level, target, tangent)
        else:
            below, before = unwrap_dual(level, base)
            room = tangent.new_zeros(below.shape, dtype=below.dtype)
            base_tangent = scatter_view(target, base, room if before is None else room + before, tangent)
            _written(level, base, base_tangent)
    unwrap_dual(level, target)


def _can_copy_tangent(old: Tensor, new: Tensor) -> bool:
    """Return whether the values of the tangent `new` can be copied into the tangent `old` in place.

    The values cannot be copied if `new` is batched and `old` is not. They also cannot be copied if `old` or
    `new` requires grad. A backward node may have saved `old`.
    """
    if old.shape != new.shape or any(x.requires_grad or requires_grad_below(x) for x in (old, new)):
        return False
    return _batches(new) <= _batches(old)


def _batches(x: Tensor | None) -> set[int]:
    """Return the levels at which `x` or a tensor that its layers wrap has a batch dimension."""
    levels = set()
    while x is not None and (layer := layer_of(x)) is not None:
        if getattr(layer, "has_batch_dim", False):
            levels.add(layer.level)
        x = layer.inner
    return levels


def _shares_tangent_storage(level: Level, tangent: Tensor, base: Tensor) -> bool:
    """Return whether the tangent of a view uses the storage of the tangent of `base`."""
    of_base = getattr(of_level(base, level), "tangent", None)
    return of_base is not None and tangent._base is (of_base if of_base._base is None else of_base._base)


def _written(level: Level, x: Tensor, tangent: Tensor | None = None) -> None:
    """Increment `writes` of the base tensor `x`, and set its tangent unless `tangent` is None."""
    layer: Any = of_level(x, level)
    if layer is None:  # `x` had no tangent before, so it needs a layer
        _replace_layer(x, Dual(level, sunk(x, None), tangent, writes=1))
        return
    layer.writes += 1
    if tangent is not None:
        layer.tangent = tangent
