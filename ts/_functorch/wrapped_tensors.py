"""Queries on tensors that function transforms wrap, as in PyTorch's `torch._C._functorch`.

Example: `vmap(lambda x: is_batchedtensor(x))` calls the function with a tensor for which the query is True.

Only `vmap` and `jvp` wrap tensors. Unlike in PyTorch, `grad` and `vjp` record plain tensors.
"""

from __future__ import annotations

from typing import Any

from ts._core.dispatch_layers import level_stack
from ts._core.dispatch_layers.batched_tensor import Batched
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import layer_of


def is_batchedtensor(tensor: Tensor) -> bool:
    """Return True if a tensor is a batched tensor of `vmap`."""
    layer = layer_of(tensor)
    return isinstance(layer, Batched) and layer.has_batch_dim


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Return True if a transform wraps a tensor: a batched tensor or a dual tensor."""
    layer = layer_of(tensor)
    return layer is not None and (not isinstance(layer, Batched) or layer.has_batch_dim)


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Return True if a tensor has a tangent of a forward-mode transform."""
    return is_functorch_wrapped_tensor(tensor) and not is_batchedtensor(tensor)


def is_legacy_batchedtensor(tensor: Tensor) -> bool:
    """Return False, because `ts` does not have the legacy kind of batched tensors."""
    return False


is_functionaltensor = is_dead_tensor_wrapper = is_legacy_batchedtensor


def unwrap_if_dead(tensor: Tensor) -> Tensor:
    """Return the tensor unchanged, because `ts` has no wrappers that outlive their transform."""
    return tensor


def get_unwrapped(tensor: Tensor) -> Any:
    """Return the tensor that `tensor` wraps. The batch is its first dimension."""
    layer = layer_of(tensor)
    if layer is None:
        raise RuntimeError("No wrappers present!")
    return layer.inner


def maybe_get_bdim(tensor: Tensor) -> int:
    """Return the batch dimension of `get_unwrapped(tensor)`, or -1 if the tensor is not batched."""
    return 0 if is_batchedtensor(tensor) else -1


def maybe_get_level(tensor: Tensor) -> int:
    """Return the nesting depth, from 1, of the transform that wraps a tensor, or -1 without such a transform.

    The outermost transform has depth 1.
    """
    return level_stack.depth(layer_of(tensor).level) if is_functorch_wrapped_tensor(tensor) else -1


def maybe_current_level() -> int | None:
    """Return the number of active function transforms, or None outside of transforms."""
    top = level_stack.top()
    return None if top is None else level_stack.depth(top.level_id)


def current_level() -> int:
    """Return the number of active function transforms. Raise RuntimeError if there are none."""
    level = maybe_current_level()
    if level is None:
        raise RuntimeError("current_level(): no function transform is active")
    return level


def get_dynamic_layer_stack_depth() -> int:
    """Return the number of active function transforms."""
    return maybe_current_level() or 0
