"""Rules for the strides of operator results, for kernels whose strides differ from PyTorch's.

Input: the shape of the result, and the array arguments of the operator. Output: the order of the result's
dimensions in memory. The field `layout` of an operator's record names one rule per result:

    @op("aten::linalg_qr(...)", layout=("columns", "columns"))

If a result has another order, `with_result_strides` copies the result. Strides of size-1 dimensions are
ignored, except in channels-last results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ts._core.tensor import size_guards, strides
from ts._core.tensor.contiguity import are_contiguous
from ts.ops import common

Array = common.Array
Shape = tuple[int, ...]
Order = tuple[int, ...]  # dimensions from the outermost to the innermost
Rule = Callable[[Shape, Sequence[Array]], Order]


def _steps(x: Array) -> Shape:
    return tuple(step // x.dtype.itemsize for step in x.strides)


def _by_strides(steps: Sequence[int], shape: Shape) -> Order:
    return tuple(sorted(range(len(shape)), key=lambda d: (-steps[d], d)))


def contiguous(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return row-major order."""
    return tuple(range(len(shape)))


def columns(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return column-major order of the last two dimensions, as LAPACK uses."""
    n = len(shape)
    return (*range(n - 2), n - 1, n - 2) if n > 1 else tuple(range(n))


def outermost_last(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return row-major order, except that the first dimension becomes the innermost one."""
    return (*range(1, len(shape)), 0) if shape else ()


def like_first(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return the order of the first argument if it has the shape of the result, else row-major order."""
    x = arrays[0] if arrays else None
    if x is None or tuple(x.shape) != shape:
        return contiguous(shape, arrays)
    return _by_strides(strides.preserve_format_strides(shape, _steps(x)), shape)


def like_second(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return the order of the second argument if it has the shape of the result, else row-major order."""
    return like_first(shape, arrays[1:])


def like_real(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return row-major order if the first argument is complex, else `like_first`."""
    return (contiguous if arrays and arrays[0].dtype.kind == "c" else like_first)(shape, arrays)


def like_query(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return the query's order if PyTorch's fused attention applies, else row-major."""
    query, key, value, *mask = arrays
    if not have_fusible_heads(query, key, value, mask[0] if mask else None):
        return contiguous(shape, arrays)
    return like_first(shape, arrays)


def have_fusible_heads(query: Array, key: Array, value: Array, mask: Array | None) -> bool:
    """Return True if PyTorch's fused attention supports the shapes of the operands and of the mask.

    Query, key and value must be 4D and nonempty, and have contiguous rows. Their batch sizes, head counts and
    head widths must be equal. The mask, if there is one, must be 2D or 4D.
    """
    stacks = (query, key, value)
    if any(x.ndim != 4 or x.strides[3] != x.itemsize or not x.size for x in stacks):
        return False
    if any(x.shape[:2] != query.shape[:2] or x.shape[3] != query.shape[3] for x in stacks):
        return False
    return mask is None or mask.ndim in (2, 4)


def like_all(shape: Shape, arrays: Sequence[Array], dtype: common.DType | None = None) -> Order:
    """Return the order of a pointwise result, which depends on the strides of the broadcast arguments.

    The order of two dimensions is decided by the first argument in which their strides are unequal and
    nonzero. PyTorch first copies arguments that it converts to the dtype of the computation. `dtype` is the
    dtype of the result.
    """
    operands = [x for x in arrays if x.ndim <= len(shape)]
    computed = dtype
    if dtype == common.BOOL and operands:  # a comparison
        computed = common.result_type(*operands)
    # the condition of `where` is not converted
    is_condition = len(operands) == 3 and operands[0].dtype == common.BOOL
    steps = [
        _broadcast(x, shape, computed not in (None, x.dtype) and not (i == 0 and is_condition))
        for i, x in enumerate(operands)
    ]
    return _by_strides(strides.of_result(shape, *steps), shape)


def _broadcast(x: Array, shape: Shape, is_converted: bool) -> Shape:
    """Return the strides of x expanded to a shape. A converted argument has the strides of a copy."""
    missing = len(shape) - int(x.ndim)
    steps = strides.preserve_format_strides(x.shape, _steps(x)) if is_converted else _steps(x)
    pairs = zip(steps, x.shape, shape[missing:], strict=True)
    return (0,) * missing + tuple(0 if n == 1 != m else step for step, n, m in pairs)


def channels(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return channels-last order if the first argument (4 or 5 dimensions) has it, else row-major."""
    return _channels_last(len(shape), bool(arrays) and arrays[0].ndim > 3 and channels_last(arrays[0]))


def channels_of_second(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return channels-last order if the second argument (4 or 5 dimensions) has it, else row-major."""
    return channels(shape, arrays[1:])


def channels_1d(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return channels-last order if the first argument (3 to 5 dimensions) has it, else row-major."""
    return _channels_last(len(shape), bool(arrays) and channels_last(arrays[0]))


def all_channels(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return channels-last order if all arguments (4 or 5 dimensions) have it, else row-major."""
    return _channels_last(len(shape), bool(arrays) and all(x.ndim > 3 and channels_last(x) for x in arrays))


def any_channels(shape: Shape, arrays: Sequence[Array]) -> Order:
    """Return the order of a convolution result: channels-last if the operands require it, else row-major.

    For 1D convolutions, the order is channels-last if input and weight are both channels-last. For 2D and 3D
    convolutions, one of them suffices. For 3D convolutions, the batch size must also be greater than 1.
    """
    channels_last_flags = [channels_last(x) for x in arrays[:2]]
    is_channels_last = (
        any(channels_last_flags) if len(shape) > 3 else bool(channels_last_flags) and all(channels_last_flags)
    )
    return _channels_last(len(shape), is_channels_last and (len(shape) < 5 or shape[0] > 1))


def _channels_last(rank: int, is_channels_last: bool) -> Order:
    return (0, *range(2, rank), 1) if is_channels_last and rank > 2 else tuple(range(rank))


def channels_last(x: Array) -> bool:
    """Return whether an array with 3 to 5 dimensions has channels-last strides.

    Return False if the strides are ambiguous because of size-1 dimensions.
    """
    rank = x.ndim
    if rank not in (3, 4, 5) or 0 in x.shape:
        return False
    steps, min_step = _steps(x), 0
    if steps[1] == 0:
        return False
    for d in (1, *range(rank - 1, 1, -1), 0):
        if steps[d] < min_step or (d == 0 and min_step == steps[1]):
            return False
        min_step = steps[d] * max(x.shape[d], 1)
    return True


RULES: Final[dict[str, Rule]] = {
    f.__name__: f
    for f in (
        contiguous,
        columns,
        outermost_last,
        like_first,
        like_second,
        like_real,
        like_query,
        like_all,
        channels,
        channels_of_second,
        channels_1d,
        all_channels,
        any_channels,
    )
}


# Rules that may require a noncontiguous result although all arguments are contiguous.
REORDERING: Final = frozenset({"columns", "outermost_last"})


def apply_layout_rules(xp: Any, names: tuple[str, ...], result: Any, args: Sequence[Any]) -> Any:
    """Return kernel results with the strides required by the rules `names`.

    A result that is one of the arguments is returned unchanged.
    """
    if REORDERING.isdisjoint(names) and are_contiguous(result, args):
        return result
    arrays = [x for x in _flat(args) if hasattr(x, "strides")]
    if len(names) == 1:
        return _apply_rule(xp, names[0], result, arrays)
    return tuple(_apply_rule(xp, name, x, arrays) for name, x in zip(names, result, strict=True))


def _flat(args: Sequence[Any]) -> Iterator[Any]:
    for x in args:
        if type(x) is list:
            yield from x
        else:
            yield x


def _apply_rule(xp: Any, rule: str, x: Any, arrays: Sequence[Array]) -> Any:
    if type(x) is list:
        return [_apply_rule(xp, rule, y, arrays) for y in x]
    if not hasattr(x, "strides") or any(x is y for y in arrays):
        return x
    return with_result_strides(xp, rule, x, arrays)


def with_result_strides(xp: Any, rule: str, x: Array, arrays: Sequence[Array]) -> Array:
    """Return `x` with the strides required by `rule`. The array is copied only if its strides differ."""
    if _is_contiguous_as_required(rule, x, arrays):
        return x
    shape = tuple(x.shape)
    order = like_all(shape, arrays, x.dtype) if rule == "like_all" else RULES[rule](shape, arrays)
    # in channels-last order, the strides of dimensions of size 1 are checked, too
    all_count = len(order) > 3 and order[-1] == 1
    step = x.dtype.itemsize
    for d in reversed(order):
        if all_count or not size_guards.known_one(shape[d]):
            if x.strides[d] != step:
                break
            step *= shape[d]
    else:
        return x
    if not x.size:  # NumPy sets the strides of new empty arrays to zero
        steps = (s * x.dtype.itemsize for s in strides.strides_in_order(shape, order))
        return xp.lib.stride_tricks.as_strided(x, shape, tuple(steps))
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    reordered = xp.empty([shape[d] for d in order], dtype=x.dtype).transpose(inverse)
    reordered[...] = x
    return reordered


def _is_contiguous_as_required(rule: str, x: Array, arrays: Sequence[Array]) -> bool:
    """Return True only if `x` is contiguous and this suffices to know that `x` has the strides of `rule`.

    This fast check covers the common cases. It returns False for arrays with 4 or more dimensions if the rule
    may require channels-last order.
    """
    if not x.flags.c_contiguous:
        return False
    if rule in ("like_first", "like_all") and x.ndim < 4 and arrays:
        return arrays[0].shape == x.shape and bool(arrays[0].flags.c_contiguous)
    return rule == "contiguous"
