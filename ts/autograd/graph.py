"""Autograd graph (computational graph, computation graph): edges, hooks for saved tensors and gradients, DOT.

Examples of the functions and context managers:

    with saved_tensors_hooks(pack, unpack): ...     nodes save pack(x), and restore x with `unpack`
    with allow_mutation_on_saved_tensors(): ...     nodes save copies
    register_multi_grad_hook((x, y), hook)          calls `hook` when both gradients are computed
    get_gradient_edge(x)                            the edge of x in the graph, without a reference to x
    print(to_dot(loss))                             the graph in the DOT language of Graphviz
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ts._core.autograd.engine import current_task_id, find_remaining_nodes
from ts._core.autograd.history import count_write, node_of
from ts._core.autograd.node import Node
from ts._core.autograd.saved import forbid_hooks, pop_hooks, push_hooks
from ts._core.tensor.hooks import RemovableHandle
from ts._core.tensor.tensor import Tensor
from ts.autograd.graphviz import to_dot

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version",
    "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks", "to_dot",
]  # fmt: skip


# ---------------------------------------------------------------- saved tensors


class saved_tensors_hooks:
    """Context manager in which nodes save `packed = pack_hook(tensor)`.

    Backward passes read `unpack_hook(packed)`.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        push_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        pop_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Context manager in which saved tensors are moved to the CPU, and moved back when they are used."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(x: Tensor) -> tuple[Any, Tensor]:
            cpu_tensor = x.cpu()
            return (
                x.device,
                cpu_tensor.pin_memory() if pin_memory and x.device.type == device_type else cpu_tensor,
            )

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, x = packed
            return x.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Context manager in which entering `saved_tensors_hooks` raises RuntimeError(error_message)."""
    previous_message = forbid_hooks(error_message)
    try:
        yield
    finally:
        forbid_hooks(previous_message)


class _ClonedSavedTensors:
    """Clones of saved tensors. In-place writes to the tensors do not change the clones.

    When a node is freed, the clones of the tensors that it saved are freed, too.
    """

    def __init__(self) -> None:
        self._clones: weakref.WeakKeyDictionary[Any, Tensor] = weakref.WeakKeyDictionary()

    def save(self, x: Tensor) -> Any:
        handle = _SavedTensorHandle()
        self._clones[handle] = x.detach().clone()
        return handle

    def at(self, handle: Any) -> Tensor:
        if handle not in self._clones:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded."
            )
        return self._clones[handle]

    def clear(self) -> None:
        """Release all clones. A later backward pass through a node that saved a tensor fails."""
        self._clones.clear()


class _SavedTensorHandle:
    """Object that a node saves instead of a tensor. If the node is freed, so is the tensor's clone."""

    __slots__ = ("__weakref__",)


# `is_on` is True while this thread is within an `allow_mutation_on_saved_tensors` block
_copying = threading.local()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_ClonedSavedTensors]:
    """Context manager in which saved tensors may be modified in place, because nodes save copies.

    Backward passes must run within the block. The copies are freed at the end of the block, or by `clear()`.
    Blocks must not be nested.
    """
    if getattr(_copying, "is_on", False):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    copies = _ClonedSavedTensors()
    _copying.is_on = True
    try:
        with saved_tensors_hooks(copies.save, copies.at):
            yield copies
    finally:
        _copying.is_on = False
        copies.clear()


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Increment the version counters of one or more tensors after writes that were not recorded."""
    tensors: Any = [tensor] if isinstance(tensor, Tensor) else tensor
    for x in tensors:
        count_write(x)


# ---------------------------------------------------------------- edges


class GradientEdge(NamedTuple):
    """Edge of the autograd graph. `backward` and `grad` accept it like a tensor."""

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the gradient edge of `tensor`. Raise RuntimeError if it does not require grad."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    node, output = node_of(tensor)
    return GradientEdge(node, output)


# ---------------------------------------------------------------- hooks


class _Handles(RemovableHandle):
    """Handle that removes several hooks."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> RemovableHandle:
    """Register a hook that is called once in each backward pass that reaches any of `tensors`.

    "all"   fn([gradients]) after the last gradient, with None for tensors that the pass does not reach
    "any"   fn(gradient) for the first gradient
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of {('all', 'any')} but got {mode}")
    hook = _CollectAllGradients(tensors, fn).of if mode == "all" else _FirstGradientOnly(fn).of
    return _Handles([x.register_hook(hook(i)) for i, x in enumerate(tensors)])


class _CollectAllGradients:
    """Hooks of `register_multi_grad_hook` for mode "all": collect the gradients of a backward pass."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[..., None]) -> None:
        self._nodes = [node_of(x)[0] for x in tensors]
        self._fn = fn
        # id of a backward pass -> (gradients that arrived so far, [number of missing gradients])
        self._passes: dict[int, tuple[list[Tensor | None], list[int]]] = {}
        self._lock = threading.Lock()

    def of(self, i: int) -> Callable[[Tensor], None]:
        def hook(gradient: Tensor) -> None:
            pass_id = current_task_id()
            with self._lock:
                if pass_id not in self._passes:
                    remaining_nodes = find_remaining_nodes()
                    self._passes[pass_id] = (
                        [None] * len(self._nodes),
                        [sum(n in remaining_nodes for n in self._nodes)],
                    )
                gradients, left = self._passes[pass_id]
                gradients[i] = gradient
                left[0] -= 1
                if left[0]:
                    return
                del self._passes[pass_id]
            self._fn(gradients)

        return hook


class _FirstGradientOnly:
    """Hooks of `register_multi_grad_hook` for mode "any": act on the first gradient of a backward pass."""

    def __init__(self, fn: Callable[..., None]) -> None:
        self._fn = fn
        self._last_pass = -1
        self._lock = threading.Lock()

    def of(self, _: int) -> Callable[[Tensor], None]:
        def hook(gradient: Tensor) -> None:
            pass_id = current_task_id()
            with self._lock:
                if pass_id == self._last_pass:
                    return
                self._last_pass = pass_id
            self._fn(gradient)

        return hook
