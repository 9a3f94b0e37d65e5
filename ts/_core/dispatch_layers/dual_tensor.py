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
import threading
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
    creation_context_of,
    has_hidden_elements,
    hide_elements,
    layer_of,
    mark_created,
    set_creation_context,
    set_layer,
    share_memory,
    sunk,
)
from ts._core.thread.context import GradMode, current_tracer, is_grad_enabled, is_inference_mode_enabled
from ts.dtypes import strided
from ts.errors import UserError


class _Switch(threading.local):
    enabled = True


_switch = _Switch()


def set_forward_mode(enabled: bool) -> None:
    """Enable or disable the computation of tangents by the operators of this thread."""
    _switch.enabled = enabled


def is_forward_mode_enabled() -> bool:
    """Return whether operators of this thread compute tangents, unless inference mode is enabled."""
    return _switch.enabled


def computes_tangents(level: Level) -> bool:
    """Return whether operators of this thread compute tangents at a level.

    They do not inside of an inference mode that was enabled after the start of the transform. The levels of
    `make_dual` have no tangents in inference mode.
    """
    if not _switch.enabled:
        return False
    return not is_inference_mode_enabled() or (level.hides_elements and level.in_inference)


class Dual(Layer):
    """Layer of a dual tensor, with its primal and its tangent (None if the tangent is zero).

    base           for a view: the tensor whose tangent contains the tangent of the view, or None. A result of
                   `make_dual` has no such base: it is a view of a tensor with another tangent.
    writes         number of writes to the tangent
    synced_writes  for a view: value of `writes` of the base at the last update of the view's tangent
    """

    def __init__(
        self,
        level: Level,
        inner: Tensor,
        tangent: Tensor | None,
        base: Tensor | None = None,
        writes: int = 0,
        synced_writes: int = 0,
    ) -> None:
        super().__init__(level.level_id, inner)
        self.tangent = tangent
        self.base = base
        self.writes = writes
        self.synced_writes = synced_writes
        self.hides_elements = level.hides_elements or has_hidden_elements(inner)
        self.opened_level = level

    def describe(self) -> str:
        """Return the `repr` of a tensor at an open level of `jvp`, or "" for other dual tensors."""
        if not self.hides_elements:
            return ""
        inner = textwrap.indent(repr(self.inner), "    ")
        level_depth = depth(self.level) if self.opened_level.is_open() else -2
        return f"GradTrackingTensor(lvl={level_depth}, value=\n{inner}\n)"

    def check_memory(self) -> None:
        """Raise RuntimeError for an access to the memory of a tensor while the level is open."""
        if self.opened_level.is_open():
            super().check_memory()

    def data(self, x: Tensor) -> Tensor:
        """Return the value of `x.data`: a tensor without tangent that shares the elements of `x`."""
        inner: Tensor = self.inner.data
        if not self.hides_elements:
            return inner
        return mark_created(layered(inner, Dual(self.opened_level, inner, None)))

    def suffixes(self, x: Tensor) -> list[str]:
        """Return the text about the tangent in the `repr` of `x`, as a list of at most one item."""
        if not self.opened_level.is_open() or not computes_tangents(self.opened_level):
            return []
        tangent = unwrap_dual(self.opened_level, x)[1]
        return [] if tangent is None else [f"tangent={tangent!r}"]


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


def with_tangent(
    level: Level, x: Any, tangent: Tensor | None, viewed: Tensor | None = None, is_constant: bool = False
) -> Any:
    """Return a tensor with the elements of `x` and the given tangent.

    If `viewed` is given and `x` has its memory, the result is a view of `viewed`, and its tangent is a view
    of the tangent of `viewed`. If `is_constant`, it shares the memory of `viewed`, but is no view for
    autograd and forward mode. Only floating and complex tensors have a tangent. Without tangent and
    `viewed`, the result is `x`.
    """
    if viewed is not None and isinstance(x, Tensor) and x.numel() and not share_memory(x, viewed):
        viewed = None  # an operator such as `reshape` returned a copy
    if not isinstance(x, Tensor) or not (x.is_floating_point() or x.is_complex()):
        tangent = None
    if not isinstance(x, Tensor) or (tangent is None and viewed is None):
        return x
    layer_of_result = Dual(level, x, None if tangent is None else convert_tangent(tangent, x))
    if viewed is not None and is_constant:
        result = layered(x, layer_of_result)
        set_creation_context(result, *creation_context_of(viewed))
        return result
    if viewed is not None:
        base = tangent_base(level, viewed)
        layer_of_result.base = viewed if base is None else base
        layer_of_result.synced_writes = _writes(level, layer_of_result.base)
    return layered(x, layer_of_result, viewed)


def make_argument(level: Level, x: Tensor, tangent: Tensor) -> Tensor:
    """Return the argument for a function that `jvp` differentiates: `x` with a tangent."""
    view = x.view_as(x)  # so that an operator such as `t_` does not change the shape of `x`
    if not (x.is_floating_point() or x.is_complex()):
        return mark_created(view)
    return mark_created(layered(view, Dual(level, view, lay_out_tangent(tangent, x))))


def tangent_base(level: Level, x: Tensor) -> Tensor | None:
    """Return the tensor whose tangent contains the tangent of the view `x`, or None if `x` is no view."""
    layer: Any = of_level(x, level)
    return x._base if layer is None else layer.base


def _writes(level: Level, base: Tensor) -> int:
    """Return the number of writes to the tangent of `base`."""
    layer = of_level(base, level)
    return 0 if layer is None else layer.writes  # type: ignore[attr-defined,no-any-return]


def convert_tangent(tangent: Tensor, x: Tensor) -> Tensor:
    """Convert a tangent to the shape, dtype and strides of `x`."""
    if tangent.dtype is not x.dtype:
        tangent = tangent.real if tangent.is_complex() and not x.is_complex() else tangent.to(x.dtype)
    if tangent.shape != x.shape:
        tangent = tangent.expand(x.shape)
    return tangent if _has_strides(tangent, x) else _copy_to_layout(tangent, x)


def lay_out_tangent(tangent: Tensor, x: Tensor) -> Tensor:
    """Return `tangent` itself if it has the strides and the storage size of `x`, else a copy that has them.

    Then an operator that creates a view of `x` is valid for the tangent, too. The tensors have equal shapes.
    """
    if _has_strides(tangent, x) and (
        not (_has_memory(tangent) and _has_memory(x)) or storage_elements(tangent) == storage_elements(x)
    ):
        return tangent
    return _copy_to_layout(tangent, x)


def _has_strides(tangent: Tensor, x: Tensor) -> bool:
    """Return whether two tensors of equal shape have equal strides in all dimensions of several elements."""
    if tangent.layout is not strided or x.layout is not strided or tangent.stride() == x.stride():
        return True
    return all(n < 2 or a == b for n, a, b in zip(x.shape, tangent.stride(), x.stride(), strict=True))


def _has_memory(x: Tensor) -> bool:
    return not has_hidden_elements(x) and x.layout is strided and not x.is_meta


def storage_elements(x: Tensor) -> int:
    """Return the number of elements of the storage of `x`."""
    return int(x.untyped_storage().nbytes()) // x.element_size()


def _copy_to_layout(tangent: Tensor, x: Tensor) -> Tensor:
    """Return a copy of `tangent` in a new storage with the size, the strides and the offset of `x`."""
    if not (_has_memory(tangent) and _has_memory(x)):
        return tangent.contiguous() if x.is_contiguous() else tangent
    if any(step == 0 and n > 1 for n, step in zip(x.shape, x.stride(), strict=True)):
        return tangent
    storage = tangent.new_zeros([storage_elements(x)])
    copy: Tensor = operator("as_strided")(storage, x.shape, x.stride(), x.storage_offset())
    return copy.copy_(tangent)


def unwrap_dual(level: Level, x: Any) -> tuple[Tensor, Tensor | None]:
    """Return the primal and tangent of `x` at a level.

    If the base of a view was written and has a new tangent, the tangent of the view becomes a copy of the
    elements that the view selects from it.
    """
    layer: Any = of_level(x, level)
    base = tangent_base(level, x) if isinstance(x, Tensor) else None
    now = 0 if base is None else _writes(level, base)
    if base is None or now == (0 if layer is None else layer.synced_writes):
        return (x, None) if layer is None else (layer.inner, layer.tangent)
    if (
        layer is not None
        and layer.tangent is not None
        and _shares_tangent_storage(level, layer.tangent, base)
    ):
        layer.synced_writes = now  # the write to the tangent of the base has also changed this tangent
        return layer.inner, layer.tangent
    base_layer: Any = of_level(base, level)
    inner = sunk(x, base_layer.inner) if layer is None else layer.inner
    with below_level(level):
        tangent = gather_view(inner, base_layer.inner, base_layer.tangent)
    _replace_layer(x, Dual(level, inner, tangent, base, 0, now))
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
    pairs = [
        [unwrap_dual(level, y) for y in x] if isinstance(x, list) else unwrap_dual(level, x) for x in args
    ]
    primals = [[p for p, _ in x] if isinstance(x, list) else x[0] for x in pairs]
    tangents = [[t for _, t in x] if isinstance(x, list) else x[1] for x in pairs]
    declared = op.signature
    returns = declared.returns
    viewed = args[returns[0].view_of] if len(returns) == 1 and returns[0].view_of >= 0 else None
    has_tangents = computes_tangents(level) and any(
        t is not None for x in tangents for t in (x if isinstance(x, list) else [x])
    )
    if has_tangents and record.variant == "out":
        raise NotImplementedError(
            f"Trying to use forward AD with {record.name.removeprefix('aten::')}_out that does not support "
            "it because it is an out= function"
        )
    if has_tangents and record.variant == "inplace" and tangents[0] is not None:
        forward.check_write(record)
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
        with GradMode(is_grad_enabled() and not any(_shares_base(args[i], primals[i]) for i in written)):
            outputs = op.call_list(primals)
        several = isinstance(outputs, (tuple, list))
        results = list(outputs) if several else [outputs]
        if computes_tangents(level) or viewed is not None or record.reshapes:
            output_tangents = forward.tangents_of(record, before, tangents, results)
        else:
            output_tangents = [None] * len(results)
        if not written:
            output_tangents = [
                _copy_if_shared(r, t, pairs) for r, t in zip(results, output_tangents, strict=True)
            ]
    if written:
        for i in written:
            tangent = output_tangents[0] if output_tangents else None
            if record.detaches:
                _remove_tangent(level, args[i])
            elif record.reshapes and args[i] is not primals[i]:
                _update_in_place(level, args[i], primals[i], tangent)
            elif computes_tangents(level):
                _write_tangent(level, args[i], primals[i], tangent)
        alias = [r.alias_of for r in returns]
        values = [args[a] if a >= 0 else r for a, r in zip(alias, results, strict=True)]
        return tuple(values) if len(values) > 1 else values[0] if values else None
    if not several and isinstance(outputs, Tensor):
        for x, primal in zip(args, primals, strict=True):
            if primal is outputs:  # for example `type_as`, if both tensors have equal dtypes
                return x
    is_constant = forward.is_constant(record)
    values = [
        with_tangent(level, r, t, viewed, is_constant) for r, t in zip(results, output_tangents, strict=True)
    ]
    if not several:
        return values[0]
    return values if isinstance(outputs, list) else type(outputs)(values)


def _shares_base(x: Any, inner: Any) -> bool:
    """Return whether autograd records a write to `x` in the history of a base, which `inner` also has.

    Then a write to `inner` must not be recorded, too.
    """
    return bool(x is not inner and x.requires_grad and x._base is not None and x._base is inner._base)


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


def _remove_tangent(level: Level, target: Tensor) -> None:
    """Remove the tangent of `target`, without a change of the tangents of its views."""
    layer: Any = of_level(target, level)
    if layer is not None:
        layer.tangent = None


def _update_in_place(level: Level, target: Tensor, inner: Any, tangent: Tensor | None) -> None:
    """Set inner tensor and tangent of `target` after an operator such as `t_` has changed its shape."""
    layer: Any = of_level(target, level)
    layer_of_result = Dual(level, inner, tangent, layer.base, layer.writes, layer.synced_writes)
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
    base = tangent_base(level, target)
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
