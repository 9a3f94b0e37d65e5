"""Batching rules of views and data movement, which adapt size and dimension arguments to the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ts
from ts._core.dispatch_layers.batched_tensor import Call
from ts._core.tensor.tensor import Tensor
from ts.ops.transpose import check_rank_of_t
from ts.ops.vmap_rules.rule_registry import batch
from ts.ops.vmap_rules.rules import pad_rank


def shift_dim(dim: int, rank: int) -> int:
    """Convert a dimension of an element to a dimension of the batched tensor.

    Raise IndexError if `dim` is out of range for `rank` dimensions.
    """
    n = max(rank, 1)
    if not -n <= dim < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim % n + 1


def along_dims(*names: str, optional_dims: str = "", more: int = 0) -> Callable[[Call], Any]:
    """Return a batching rule that adds 1 to the dimension arguments `names`.

    `optional_dims` names a list argument. An empty or missing list means all dimensions. `more` is the number
    of dimensions that the operator inserts. If it is not 0, dimension arguments refer to the operator's
    result.
    """

    def rule(call: Call) -> Any:
        tensors = [
            i for i, x in enumerate(call.values) if isinstance(x, (Tensor, list)) and _contains_tensors(x)
        ]
        values = list(call.values)
        for i in tensors:
            values[i] = call.expanded(i)
        first = values[tensors[0]]
        rank = (first[0] if isinstance(first, list) else first).dim() - 1
        is_scalar = rank == 0 and not more
        if is_scalar:  # insert a dimension into 0-dim elements, and remove it from the result
            values = [
                x.unsqueeze(1) if i in tensors and isinstance(x, Tensor) else x for i, x in enumerate(values)
            ]
        for name in (*names, *([optional_dims] if optional_dims else [])):
            i = call.at(name)
            x = values[i]
            if name == optional_dims and (x is None or x == []):
                values[i] = list(range(1, max(rank, 1) + 1))
            elif isinstance(x, list):
                values[i] = [shift_dim(d, rank + more) for d in x]
            elif x is not None:
                values[i] = shift_dim(x, rank + more)
        result = call.run(values)
        return _squeeze_inserted_dim(result) if is_scalar else result

    return rule


def _contains_tensors(x: Any) -> bool:
    return isinstance(x, Tensor) or (bool(x) and any(isinstance(y, Tensor) for y in x))


def _squeeze_inserted_dim(result: Any) -> Any:
    """Remove the size-1 dimension that was inserted for 0-dim elements."""
    if isinstance(result, Tensor):
        return result.squeeze(1) if result.dim() == 2 and result.shape[1] == 1 else result
    squeezed = [_squeeze_inserted_dim(x) for x in result]
    return squeezed if type(result) is list else type(result)(squeezed)


def with_batched_size(call: Call) -> Any:
    """Apply the batching rule of operators whose second argument is the size of the result."""
    return call.run([call.expanded(0), [call.size, *call.values[1]], *call.values[2:]])


def run_unchanged(call: Call) -> Any:
    """Run the operator on the batched tensors without changing its other arguments."""
    return call.run(
        [call.expanded(i) if isinstance(x, (Tensor, list)) else x for i, x in enumerate(call.values)]
    )


def on_last_dims(min_rank: int) -> Callable[[Call], Any]:
    """Return a batching rule for operators on the last `min_rank` dimensions.

    If an argument has a lower rank, the operator runs in a loop.
    """

    def rule(call: Call) -> Any:
        from ts.ops.vmap_rules.rules import run_in_loop

        return (
            run_unchanged(call)
            if all(call.rank(i) >= min_rank for i in _tensors(call))
            else run_in_loop(call)
        )

    return rule


def _tensors(call: Call) -> list[int]:
    return [i for i, x in enumerate(call.values) if isinstance(x, Tensor)]


def _expand(call: Call) -> Any:
    values = list(call.values)
    values[1] = [call.size, *call.values[1]]
    values[0] = pad_rank(call.expanded(0), len(values[1]))
    return call.run(values)


def _like(function: str) -> Callable[[Call], Any]:
    """Return the batching rule of `view_as` and similar operators, which read the shape of a second tensor.

    The second tensor may be batched.
    """

    def rule(call: Call) -> Any:
        shape = list(call.values[1].shape[int(call.batch_flags[1]) :])
        return getattr(
            pad_rank(call.expanded(0), len(shape) + 1) if function == "expand" else call.expanded(0), function
        )([call.size, *shape])

    return rule


def _squeeze(call: Call) -> Any:
    x = call.values[0]
    return x.squeeze([d for d in range(1, x.dim()) if x.shape[d] == 1])


def _flatten(call: Call) -> Any:
    x = call.values[0]
    if x.dim() == 1:
        return x.unsqueeze(1)
    return x.flatten(shift_dim(call.values[1], x.dim() - 1), shift_dim(call.values[2], x.dim() - 1))


def _t(call: Call) -> Any:
    x = call.values[0]
    check_rank_of_t(call.operator.record.name.removeprefix("aten::"), x.dim() - 1)
    return x if x.dim() < 3 else x.transpose(1, 2)


def _transpose(call: Call) -> Any:
    """Apply the batching rule of `transpose`. A batch of 0-dim tensors is returned unchanged."""
    if call.rank(0) == 0 and {call["dim0"], call["dim1"]} <= {0, -1}:
        return call.values[0]
    return along_dims("dim0", "dim1")(call)


def _clone(call: Call) -> Any:
    """Apply the batching rule of `clone`. As in PyTorch, raise RuntimeError for channels-last formats."""
    memory_format = call["memory_format"]
    if memory_format is not None and memory_format not in (
        ts.contiguous_format.code,
        ts.preserve_format.code,
    ):
        raise RuntimeError(
            "NYI: Tensor.clone(memory_format) inside vmap is only supported with memory_format "
            "torch.preserve_format or torch.contiguous_format (got "
            f"{'ChannelsLast' if memory_format == ts.channels_last.code else 'ChannelsLast3d'})"
        )
    return run_unchanged(call)


def _view_as_complex(call: Call) -> Any:
    if call.rank(0) == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    return run_unchanged(call)


def _reversed(call: Call) -> Any:
    x = call.values[0]
    return x.permute([0, *range(x.dim() - 1, 0, -1)])


def _permute(call: Call) -> Any:
    return call.values[0].permute([0, *(shift_dim(d, call.rank(0)) for d in call["dims"])])


def _movedim(call: Call) -> Any:
    values = list(call.values)
    for i in (1, 2):
        rank = call.rank(0)
        values[i] = (
            [shift_dim(d, rank) for d in values[i]]
            if isinstance(values[i], list)
            else shift_dim(values[i], rank)
        )
    return call.run(values)


def _repeat(call: Call) -> Any:
    repeats = call["repeats"]
    return pad_rank(call.values[0], len(repeats) + 1).repeat([1, *repeats])


def _tile(call: Call) -> Any:
    dims = call["dims"]
    return pad_rank(call.values[0], len(dims) + 1).tile([*[1] * max(call.rank(0) + 1 - len(dims), 0), *dims])


def _roll(call: Call) -> Any:
    x, shifts, dims = call.values[:3]
    if not dims:
        return x.reshape(x.shape[0], -1).roll(shifts, [1]).reshape(x.shape)
    return x.roll(shifts, [shift_dim(d, call.rank(0)) for d in dims])


def _diagonal(call: Call) -> Any:
    values = list(call.values)
    for name in ("dim1", "dim2"):
        values[call.at(name)] = shift_dim(call[name], call.rank(0))
    return call.run(values)


def _diag_embed(call: Call) -> Any:
    values = list(call.values)
    for name in ("dim1", "dim2"):
        values[call.at(name)] = shift_dim(call[name], call.rank(0) + 1)
    return call.run(values)


def _as_strided(call: Call) -> Any:
    x = call.values[0]
    offset = call["storage_offset"]
    start = x.select(0, 0).storage_offset() if offset is None else offset + x.storage_offset()
    return x.as_strided([call.size, *call["size"]], [x.stride(0), *call["stride"]], start)


def storage_span(size: Sequence[int], stride: Sequence[int]) -> int:
    """Return the number of storage elements that a tensor spans."""
    return 0 if 0 in size else 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))


def _as_strided_scatter(call: Call) -> Any:
    """Apply the batching rule of `as_strided_scatter`.

    Batch elements are consecutive in memory, each with its original strides.
    """
    x, offset = call.values[0], call["storage_offset"]
    one = x.select(0, 0) if call.batch_flags[0] else x
    length = storage_span(one.shape, one.stride())
    buffer = ts.empty_strided(
        [call.size, *one.shape], [length, *one.stride()], dtype=x.dtype, device=x.device
    )
    start = 0 if offset is None else offset - one.storage_offset() + buffer.storage_offset()
    buffer.copy_(call.expanded(0))
    size, stride = [call.size, *call["size"]], [length, *call["stride"]]
    return buffer.as_strided_scatter(call.expanded(1), size, stride, start)


def _broadcast_tensors(call: Call) -> Any:
    """Apply the batching rule of `broadcast_tensors`."""
    rank = max(x.dim() - int(w) for x, w in zip(call.values[0], call.batch_flags[0], strict=True))
    tensors = [
        pad_rank(call.spread(x, w), rank + 1)
        for x, w in zip(call.values[0], call.batch_flags[0], strict=True)
    ]
    return ts.broadcast_tensors(*tensors)


def _narrow_by_tensor(call: Call) -> Any:
    return call.values[0].narrow(shift_dim(call["dim"], call.rank(0)), int(call["start"]), call["length"])


batch("view reshape _unsafe_view _reshape_copy", with_batched_size)
batch("_reshape_alias _reshape_alias_copy", lambda call: call.values[0].reshape([call.size, *call.values[1]]))
batch("expand broadcast_to", _expand)
batch("view_as", _like("view"))
batch("reshape_as", _like("reshape"))
batch("expand_as", _like("expand"))
batch("squeeze", _squeeze)
batch(
    "squeeze.dim squeeze.dims select.int slice.Tensor narrow narrow_copy unsafe_split.Tensor split.Tensor "
    "unsafe_split_with_sizes split_with_sizes split.sizes split unsafe_chunk chunk unbind.int unflatten.int",
    along_dims("dim"),
)
batch("narrow.Tensor", _narrow_by_tensor)
batch("unsqueeze", along_dims("dim", more=1))
batch("unfold", along_dims("dimension"))
batch("flatten.using_ints", _flatten)
batch("ravel", lambda call: call.values[0].reshape(call.size, -1))
batch("transpose.int", _transpose)
batch("swapaxes", along_dims("axis0", "axis1"))
batch("t", _t)
batch("numpy_T numpy_T.a", _reversed)
batch("mT mT.a matrix_H.a matrix_H mH mH.a", run_unchanged)
batch("permute", _permute)
batch("movedim.int movedim.intlist", _movedim)
batch("diagonal", _diagonal)
batch("diag_embed", _diag_embed)
batch("linalg_diagonal", _diagonal)
batch("as_strided", _as_strided)
batch("as_strided_scatter", _as_strided_scatter)
batch(
    "real imag view_as_real conj _conj _conj_copy resolve_conj resolve_neg _neg_view alias lift "
    "lift_fresh lift_fresh_copy _lazy_clone detach detach_copy _to_copy to.dtype to.device "
    "to.dtype_layout to.prim_dtype to.prim_Device pin_memory view.dtype tril triu pixel_shuffle "
    "pixel_unshuffle _cast_Double _cast_Float _cast_Half cpu cuda data is_pinned contiguous zero",
    run_unchanged,
)
batch("clone", _clone)
batch("view_as_complex", _view_as_complex)
batch("select_backward slice_backward", lambda call: _view_backward(call, "dim"))
batch("unfold_backward", lambda call: _view_backward(call, "dim"))
batch("diagonal_backward", lambda call: _view_backward(call, "dim1", "dim2"))
batch("flip", along_dims("dims"))
batch("roll", _roll)
batch("rot90", along_dims("dims"))
batch("repeat", _repeat)
batch("tile", _tile)
batch("cat", along_dims("dim"))
batch("stack _stack", along_dims("dim", more=1))
batch("broadcast_tensors", _broadcast_tensors)
batch("to.other type_as", lambda call: call.expanded(0).to(call.values[1]))


def _view_backward(call: Call, *names: str) -> Any:
    """Apply the batching rule of view backward operators: prepend the batch size to the size argument."""
    sizes = next(name for name in ("input_sizes", "input_size", "self_sizes") if name in call.names)
    values = list(call.values)
    values[0] = call.expanded(0)
    rank = len(call[sizes])
    values[call.at(sizes)] = [call.size, *call[sizes]]
    for name in names:
        values[call.at(name)] = shift_dim(call[name], rank)
    return call.run(values)
