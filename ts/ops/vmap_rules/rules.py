"""Selection of batching rules: a registered rule, a generic rule by kind of operator, or a loop.

Input: a `Call` of an operator. Output: the results, with the batch as first dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import ts
from ts._core.dispatch_layers.batched_tensor import Batched, Call, one_of
from ts._core.dispatch_layers.level_stack import open_levels
from ts._core.tensor import size_guards
from ts._core.tensor.tensor import Tensor
from ts._core.thread.warnings import warn
from ts.ops.derivatives.formula_registry import derivative_of
from ts.ops.derivatives.formulas import get_decomposition
from ts.ops.operator_record import OperatorRecord
from ts.ops.vmap_rules.rule_registry import rule_of

# Families of elementwise operators, in addition to those that records mark as elementwise.
_POINTWISE = frozenset({"activation_backward", "polynomial"})


@cache
def composite(record: OperatorRecord) -> Callable[..., Any] | None:
    """Return the decomposition or composite kernel that runs instead of an operator under vmap, or None.

    If the operator has a batching rule, return None.
    """
    by_forms = record.variant and not (record.nondeterministic and record.variant == "inplace")
    if by_forms or rule_of(record) is not None:
        return None
    derivative = derivative_of(record)
    if derivative is not None and derivative.decomposition:
        return get_decomposition(record)  # type: ignore[no-any-return]
    if derivative is None and record.tensor_kernel:
        return record.kernel
    return None


def writes_first_argument(record: OperatorRecord) -> bool:
    """Return whether an operator writes to its first argument but is no variant of a functional operator."""
    parameters = record.operator.signature.parameters
    return bool(parameters) and parameters[0].written and not record.variant


def run_batched(call: Call) -> Any:
    """Return the batched results of a call, by the first applicable rule."""
    rule = rule_of(call.record)
    if rule is not None:
        return rule(call)
    if not any("Tensor" in r.kind for r in call.record.operator.signature.returns):
        return call_once_for_batch(call)
    return pointwise(call) if _is_pointwise(call.record) else run_in_loop(call)


def _is_pointwise(record: OperatorRecord) -> bool:
    return bool(record.elementwise or record.preserves_dtype or record.family in _POINTWISE)


def has_rule(record: OperatorRecord) -> bool:
    """Return whether an operator runs once for the whole batch, without a loop over the batch elements."""
    gives_tensors = any("Tensor" in r.kind for r in record.operator.signature.returns)
    return rule_of(record) is not None or not gives_tensors or _is_pointwise(record)


def call_once_for_batch(call: Call) -> Any:
    """Run an operator without tensor results for the first batch element only.

    The result is equal for all batch elements, because it does not depend on tensor elements.

    If the operator reads elements of a batched tensor, raise RuntimeError.
    """
    for x, is_batched in zip(call.values, call.batch_flags, strict=True):
        if is_batched is True and call.record.reads_elements:
            raise_element_read_error(call, Batched(call.level.level_id, x, True))
    return call.run(select_element(call, 0))


def raise_element_read_error(call: Call, layer: Batched) -> None:
    """Raise RuntimeError, because a batch has no single number or truth value."""
    declared = call.record.operator.signature
    if len(declared.parameters) > 1:
        raise RuntimeError(
            f"Batching rule not implemented for {call.record.key}. We could not generate a fallback."
        )
    if declared.returns[0].kind == "bool":
        layer.check_condition()
    layer.check_elements()


# ---------------------------------------------------------------- pointwise operators


def pointwise(call: Call) -> Any:
    """Apply the batching rule of pointwise operators.

    Size-1 dimensions are inserted after the batch dimension, so that all ranks are equal.
    """
    return call.run(align_ranks(call, range(len(call.values))))


def align_ranks(call: Call, indices: Any) -> list[Any]:
    """Return the arguments of the call, with the ranks of batched tensors at `indices` made equal.

    Dimensions of size 1 are inserted in these tensors, up to the maximal rank of the tensors at `indices`.
    Unbatched tensors are not changed.
    """
    tensors = [i for i in indices if isinstance(call.values[i], Tensor)]
    rank = max(call.rank(i) for i in tensors)
    values = list(call.values)
    for i in tensors:
        if call.batch_flags[i]:
            values[i] = pad_rank(promote_scalar_batch(call, tensors, i), rank + 1)
    return values


def flatten_elements(x: Tensor) -> Tensor:
    """Flatten each batch element to one dimension."""
    length = math.prod(x.shape[1:]) if size_guards.known_zero(x.shape[0]) else -1
    return x.reshape(x.shape[0], length)


def pad_rank(x: Tensor, rank: int) -> Tensor:
    """Insert size-1 dimensions after the batch dimension, until x has `rank` dimensions."""
    missing = rank - x.dim()
    return x if missing <= 0 else x.reshape([x.shape[0], *[1] * missing, *x.shape[1:]])


def promote_scalar_batch(call: Call, tensors: list[int], i: int) -> Tensor:
    """Return argument `i`, converted to the dtype of the other tensors if it is a batch of 0-dim tensors.

    A 0-dim tensor does not change the dtype of a result, unless its category is higher. The batch is a vector
    and would change the dtype.
    """
    x: Tensor = call.values[i]
    if call.rank(i) > 0:
        return x
    others = [call.values[k] for k in tensors if call.rank(k) > 0]
    if not others or any(y.dtype is x.dtype for y in others):
        return x
    scalar = ts.zeros((), dtype=x.dtype)
    common_dtype = others[0].dtype
    for y in others[1:]:
        common_dtype = ts.promote_types(common_dtype, y.dtype)
    result = ts.result_type(ts.zeros(1, dtype=common_dtype), scalar)
    return x if x.dtype is ts.bool or result is not common_dtype else x.to(result)


# ---------------------------------------------------------------- loop over batch elements


def run_in_loop(call: Call) -> Any:
    """Run the operator in a loop over the batch elements. Raise RuntimeError for an empty batch."""
    warn(
        "There is a performance drop because we have not yet implemented the batching rule for "
        f"{call.record.key}. "
        "Please file us an issue on GitHub so that we can prioritize its implementation."
    )
    if call.size == 0:
        raise RuntimeError(
            f"The fallback path does not support vmap over dims of size 0. The operator is {call.record.key}."
        )
    rows = [call.run(select_element(call, k)) for k in range(call.size)]
    if any(_shapes(row) != _shapes(rows[0]) for row in rows):
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap "
            f"over {call.record.key}. Please file an issue at https://github.com/pytorch/pytorch/issues if "
            "you need this feature."
        )
    return stack_results(rows)


def _shapes(result: Any) -> Any:
    """Return the shapes of the tensors in a result."""
    if isinstance(result, (tuple, list)):
        return [_shapes(x) for x in result]
    return result.shape if isinstance(result, Tensor) else None


def select_element(call: Call, k: int) -> list[Any]:
    """Return the arguments of the call for batch element `k`."""

    def of(x: Any, is_batched: Any) -> Any:
        if isinstance(x, list):
            return [of(y, w) for y, w in zip(x, is_batched, strict=True)]
        return x.select(0, k) if is_batched else x

    return [of(x, w) for x, w in zip(call.values, call.batch_flags, strict=True)]


def stack_results(rows: list[Any]) -> Any:
    """Stack the results `rows` of all batch elements along a new first dimension."""
    first = rows[0]
    if isinstance(first, Tensor):
        return ts.stack(rows)
    if isinstance(first, (tuple, list)):
        stacked_columns = [stack_results(list(column)) for column in zip(*rows, strict=True)]
        return stacked_columns if type(first) is list else type(first)(stacked_columns)
    return first


# ---------------------------------------------------------------- random numbers


SAME_OF_BATCH = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with "
    "functorch"
)
DIFFERENT_IN_ONE = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
    "randomness. If this is necessary for your usage, please file an issue with functorch."
)


def draws(record: OperatorRecord, args: list[Any]) -> bool:
    """Return whether the operator draws random numbers: not for a probability of 0 or outside of training."""
    for p, x in zip(record.operator.signature.parameters, args, strict=True):
        if (p.name in ("p", "dropout_p", "dropout") and x == 0) or (
            p.name in ("train", "training") and x is False
        ):
            return False
    return True


def run_random(call: Call) -> tuple[Any, bool]:
    """Run a random operator under vmap. Return (result, True if the result is batched).

    Raise RuntimeError if the randomness mode is "error", or if the mode is "same" and the random numbers
    depend on batched values.
    """
    has_batched_args = any(call.is_batched(i) for i in range(len(call.values)))
    randomness = call.level.random
    if randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' "
            "or 'different' randomness flags on vmap or perform the randomness operation out of vmap"
        )
    if call.operator.record.variant == "inplace" and call.record.key != "aten::rrelu_with_noise":
        return _run_random_in_place(call)
    if randomness == "same":
        return _run_random_once(call) if has_batched_args else (call.run_as_called(call.values), False)
    values = list(call.values)
    if "size" in call.names:
        values[call.at("size")] = [call.size, *call["size"]]
        return call.run_as_called(values), True
    tensor_indices = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
    if not tensor_indices or call.record.key == "aten::randperm":
        return stack_results([call.run_as_called(call.values) for _ in range(call.size)]), True
    filled = call.record.family in ("random", "dropout", "copy_variants")
    if filled or call.record.name == "aten::bernoulli":
        values[tensor_indices[0]] = call.expanded(tensor_indices[0])
        return call.run_as_called(values), True
    return stack_results([call.run_as_called(select_element(call, k)) for k in range(call.size)]), True


def _run_random_once(call: Call) -> tuple[Any, bool]:
    """Draw random numbers once and share them across the batch.

    Raise RuntimeError if the numbers depend on batched values.
    """
    first = [one_of(x) if call.batch_flags[i] is True else x for i, x in enumerate(call.values)]
    if call.record.name.endswith("_like"):
        return call.run_as_called(first), False
    if call.record.name != "aten::native_dropout":
        raise RuntimeError(SAME_OF_BATCH)
    scales, mask = call.run_as_called([ts.ones_like(first[0]), *first[1:]])
    return (call.values[0] * scales, mask.expand(call.values[0].shape)), True


def _run_random_in_place(call: Call) -> tuple[Any, bool]:
    """Run an in-place random operator.

    The randomness mode determines whether all batch elements get the same random numbers.
    """
    target, is_batched = call.values[0], call.batch_flags[0]
    others = any(call.is_batched(i) for i in range(1, len(call.values)))
    if call.level.random == "same":
        if others:
            raise RuntimeError(SAME_OF_BATCH)
        if not is_batched:
            return call.run_as_called(call.values), False
        return target.copy_(call.run_as_called([one_of(target).clone(), *call.values[1:]])), True
    if not is_batched:
        raise RuntimeError(unbatched_write_message(call) if others else DIFFERENT_IN_ONE)
    tensors = [i for i, x in enumerate(call.values) if isinstance(x, Tensor)]
    return call.run_as_called(align_ranks(call, tensors)), True


# In-place operators by PyTorch's error for a batched value and an unbatched target: operators whose batching
# rules share one name, operators whose batching rule states their name, and operators that broadcast the
# batches. PyTorch runs other operators example by example.
_ARITHMETIC = """
    sub_ mul_ multiply_ div_ divide_ true_divide_ copy_ clamp_min_ clamp_max_ logical_and_ logical_or_
    logical_xor_ masked_fill_
"""
_WITH_NAME = "fill_ index_add_ index_fill_ index_put_ scatter_add_ scatter_reduce_"
_BROADCASTING = """
    add_ atan2_ arctan2_ bitwise_and_ bitwise_or_ bitwise_xor_ bitwise_left_shift_ bitwise_right_shift_
    copysign_ gcd_ lcm_ __iand__ __ior__ __ixor__ __ilshift__ __irshift__
"""
_ERROR_KINDS = {
    **dict.fromkeys(_ARITHMETIC.split(), "arithmetic"),
    **dict.fromkeys(_WITH_NAME.split(), "named"),
    **dict.fromkeys(_BROADCASTING.split(), "broadcast"),
}


def unbatched_write_message(call: Call) -> str:
    """Return the error message for an in-place write of a batched value into an unbatched tensor."""
    name, place = call.operator.name.removeprefix("aten::"), "in a vmap"
    kind = "" if call.operator.key == "aten::masked_fill_.Tensor" else _ERROR_KINDS.get(name, "")
    if kind == "broadcast":
        target, other = call.values[:2]
        shape = (call.size, *[1] * (target.dim() + 1 - other.dim()), *other.shape[1:])
        broadcast = list(ts.broadcast_shapes(target.shape, shape))
        return f"output with shape {list(target.shape)} doesn't match the broadcast shape {broadcast}"
    if kind == "arithmetic" or call.record.family == "dropout":
        name = "inplace arithmetic"
    elif name == "bernoulli_":
        name = "inplace bernoulli"
    elif kind != "named" and not call.record.nondeterministic:
        depth = sum(level.level_id < call.level.level_id for level in open_levels()) + 1
        name, place = f"aten::{name}", f"at level {depth}"
    return (
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in "
        "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
        "`self` not "
        f"being vmapped over {place}. Please try to use out-of-place operators instead of {name}. If said "
        "operator is being called inside the PyTorch framework, please file a bug report instead."
    )
