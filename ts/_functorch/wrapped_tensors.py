"""Properties of the tensors that function transforms make: PyTorch's `torch._C._functorch`.

`grad` and `vjp` record plain tensors: only tensors of `vmap` and `jvp` are wrapped, unlike in PyTorch.

    vmap(lambda x: is_batchedtensor(x))         True inside
    get_unwrapped(x).shape                      with the batch as first dimension
"""

from __future__ import annotations

from typing import Any

from ts._core.dispatch_layers import level_stack
from ts._core.dispatch_layers.batched_tensor import Batched
from ts._core.tensor.tensor import Tensor, layer_of


def is_batchedtensor(tensor: Tensor) -> bool:
    """Return whether a tensor stands for the examples of a batch."""
    layer = layer_of(tensor)
    return isinstance(layer, Batched) and layer.whole


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Return whether a transform made a tensor: a batch, or a value with a tangent."""
    layer = layer_of(tensor)
    return layer is not None and (not isinstance(layer, Batched) or layer.whole)


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Return whether a tensor has a tangent of a transform."""
    return is_functorch_wrapped_tensor(tensor) and not is_batchedtensor(tensor)


def is_legacy_batchedtensor(tensor: Tensor) -> bool:
    """Return False: there is one kind of batch."""
    return False


is_functionaltensor = is_dead_tensor_wrapper = is_legacy_batchedtensor


def unwrap_if_dead(tensor: Tensor) -> Tensor:
    """Return the tensor."""
    return tensor


def get_unwrapped(tensor: Tensor) -> Any:
    """Return what a tensor of a transform wraps; a batch has the examples along the first dimension."""
    layer = layer_of(tensor)
    if layer is None:
        raise RuntimeError("No wrappers present!")
    return layer.inner


def maybe_get_bdim(tensor: Tensor) -> int:
    """Return the dimension of the batch in `get_unwrapped`, -1 for a tensor that is no batch."""
    return 0 if is_batchedtensor(tensor) else -1


def maybe_get_level(tensor: Tensor) -> int:
    """Return which of the open transforms made a tensor, from 1; -1 for other tensors."""
    return level_stack.depth(layer_of(tensor).level) if is_functorch_wrapped_tensor(tensor) else -1


def maybe_current_level() -> int | None:
    """Return the number of open transforms, None for none."""
    top = level_stack.top()
    return None if top is None else level_stack.depth(top.number)


def current_level() -> int:
    """Return the number of open transforms; RuntimeError for none."""
    level = maybe_current_level()
    if level is None:
        raise RuntimeError("current_level(): no function transform is open")
    return level


def get_dynamic_layer_stack_depth() -> int:
    """Return the number of open transforms."""
    return maybe_current_level() or 0
