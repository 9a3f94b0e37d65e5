"""Selective checkpointing: results of some operators are cached, all others are recomputed.

The example caches the results of matrix products:

    keep = partial(create_selective_checkpoint_contexts, [ts.ops.aten.mm.default])
    y = checkpoint(block, x, use_reentrant=False, context_fn=keep)

A policy decides for each operator call whether its result is cached. As in PyTorch, the calls of
an operator are matched by number. The i-th call in the recomputation reads the result of the i-th call in the
forward run.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from ts import ops
from ts._core.dispatch.op_log import OperatorObserver
from ts._core.tensor.tensor import Tensor
from ts.ops.namespace import OpOverload, Packet


class CheckpointPolicy(enum.Enum):
    """Decision of a policy about a result. MUST and PREFER have equal effects."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVED = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
_OFFLOADED = (CheckpointPolicy.MUST_CPU_OFFLOAD, CheckpointPolicy.PREFER_CPU_OFFLOAD)

# Operators that always run again, regardless of the policy, because their results are views.
SAC_IGNORED_OPS = {ops.aten.detach.default}


class SelectiveCheckpointContext:
    """Argument of a policy function. `op_output` is the result of the operator."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


Policy = Callable[..., CheckpointPolicy | bool]


class _CachedTensor:
    """Cached detached tensor with its version at the time of caching."""

    def __init__(self, x: Tensor, offload: bool) -> None:
        self._device = x.device
        self._tensor = x.detach().cpu() if offload else x.detach()
        self._version = self._tensor._version

    def value(self, mutation: bool) -> Tensor:
        """Return the tensor. Raise RuntimeError if it was modified and `mutation` is False."""
        if self._tensor._version != self._version and not mutation:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self._tensor.to(self._device).detach()


def _map_nested(x: Any, change: Callable[[Any], Any], kind: type = Tensor) -> Any:
    """Return a copy of the nested value `x` in which `change` was applied to all objects of class `kind`."""
    if isinstance(x, kind):
        return change(x)
    return type(x)(_map_nested(y, change, kind) for y in x) if isinstance(x, list | tuple) else x


class _Region:
    """Results that the forward run of one checkpointed call has cached."""

    def __init__(self, policy: Policy, mutation: bool) -> None:
        self._policy = policy
        self._mutation = mutation
        # Dict from an operator to a list with one item for each of its calls: the cached result, or None if
        # it is not cached
        self._cached_results: dict[Any, list[Any]] = {}
        self._read_counts: dict[Any, int] = {}

    def cache_result(self, operator: Any, args: list[Any], results: list[Any]) -> None:
        """Cache the result of an operator call in the forward run, if the policy decides to cache it."""
        packet = _python_operator(operator)
        if packet in SAC_IGNORED_OPS:
            return
        result = results[0] if len(results) == 1 else tuple(results)
        context = SelectiveCheckpointContext(is_recompute=False, op_output=result)
        decision = self._policy(context, packet, *args)
        if isinstance(decision, bool):
            decision = CheckpointPolicy.MUST_SAVE if decision else CheckpointPolicy.PREFER_RECOMPUTE
        cached = None
        if decision in _SAVED + _OFFLOADED:
            cached = _map_nested(result, lambda x: _CachedTensor(x, decision in _OFFLOADED))
        self._cached_results.setdefault(packet, []).append(cached)

    def cached_result(self, operator: Any, args: list[Any]) -> Any:
        """Return the cached result for an operator call of the recomputation, or None to run the operator."""
        packet = _python_operator(operator)
        if packet in SAC_IGNORED_OPS:
            return None
        calls = self._cached_results.get(packet)
        if calls is None:
            raise RuntimeError(
                f"{operator.key.replace('::', '.')}{'' if operator.overload else '.default'} encountered "
                "during backward but not found in storage. This can happen if the operations in the "
                "checkpointed region are nondeterministic or depend on global state that changed between "
                "forward and backward."
            )
        call_index = self._read_counts.get(packet, 0)
        self._read_counts[packet] = call_index + 1
        cached = calls[call_index] if call_index < len(calls) else None
        return _map_nested(cached, lambda x: x.value(self._mutation), _CachedTensor)

    def begin_recomputation(self) -> None:
        """Start the recomputation. Raise RuntimeError if it was started before."""
        if self._read_counts:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region "
                "computed under selective activation checkpoint."
            )


class _RecomputeContext:
    """Context manager of the recomputation, in which cached results replace operator calls."""

    def __init__(self, region: _Region) -> None:
        self._region = region
        self._observer = OperatorObserver(replace_call=region.cached_result)

    def __enter__(self) -> None:
        self._region.begin_recomputation()
        self._observer.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._observer.__exit__(*error)


def _python_operator(operator: Any) -> Any:
    """Return an operator as the object in `ts.ops`, such as `ts.ops.aten.mm.default`."""
    namespace, _, name = operator.name.partition("::")
    return getattr(getattr(getattr(ops, namespace), name), operator.overload or "default")


def _display_name(operator: Any) -> str:
    return operator.qualified_name.replace("::", ".") if isinstance(operator, Packet) else str(operator)


def _check_operators(operators: Sequence[Any]) -> None:
    for operator in operators:
        if not isinstance(operator, OpOverload):
            hint = ""
            if isinstance(operator, Packet):
                hint = (
                    "Please update the OpOverloadPacket to a specific OpOverload."
                    "For example, if you have `torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                )
            raise ValueError(
                f"Expected op in `op_list` to be an OpOverload but got: {_display_name(operator)} of type "
                f"{type(operator)}. {hint}"
            )


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | Sequence[Any], allow_cache_entry_mutation: bool = False
) -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Return contexts for the forward run and the recomputation, for `context_fn` of `checkpoint`.

    `policy_fn_or_list` is a list of operators to cache, or a function policy(context, operator, *arguments).
    The function returns a `CheckpointPolicy`, or a bool: True means MUST_SAVE, and False means
    PREFER_RECOMPUTE. `allow_cache_entry_mutation` permits writes to cached results.

    Raises TypeError for another policy, and ValueError for a list with items other than operators
    (`ts.ops.aten.mm.default`). Backward raises RuntimeError if a cached result was modified. It also does so
    for a second backward pass, or if the recomputation calls an operator that the forward run did not call.
    """
    if isinstance(policy_fn_or_list, list):
        saved = list(policy_fn_or_list)
        _check_operators(saved)
        return create_selective_checkpoint_contexts(
            lambda context, operator, *args: operator in saved, allow_cache_entry_mutation
        )
    if not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    region = _Region(policy_fn_or_list, allow_cache_entry_mutation)
    return OperatorObserver(after_call=region.cache_result), _RecomputeContext(region)
