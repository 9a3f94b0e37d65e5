"""Optimizers over local parameters, created and stepped by remote processes.

    name = wire_name(ts.optim.SGD, agent)                        ["optim", "SGD"]
    handle = make(agent, name, [rref], (), {"lr": 0.1})      in the owner, while the caller receives `handle`
    step(handle, context_id)                                 a step with the gradients of the context

Classes are sent by name. Classes of `ts.optim` are always allowed, user classes only with `allow_python`.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import ts.optim
from ts.optim import Optimizer

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import RpcAgent
    from ts.distributed.rpc.rref import RRef

# held during each step, because several optimizers in this process may update the same parameters
_one_at_a_time = threading.Lock()


def wire_name(optimizer_class: type[Any], agent: RpcAgent) -> list[str]:
    """Return the wire name of an optimizer class: `["optim", name]` for a class of `ts.optim`.

    Raise TypeError for other classes, PermissionError for a user class that is not allowed.
    """
    if not isinstance(optimizer_class, type) or not issubclass(optimizer_class, Optimizer):
        raise TypeError(f"expected an optimizer class, got {optimizer_class!r}")
    name = optimizer_class.__name__
    if getattr(ts.optim, name, None) is optimizer_class:
        return ["optim", name]
    return list(agent.name_callee(optimizer_class))


def _class_of(name: Any, agent: RpcAgent) -> type[Optimizer]:
    match name:
        case ("optim", str(class_name)) if class_name in ts.optim.__all__:
            optimizer_class = getattr(ts.optim, class_name)
        case ("python", *_):
            optimizer_class = agent.find_callee(name)
        case _:
            optimizer_class = None
    if not isinstance(optimizer_class, type) or not issubclass(optimizer_class, Optimizer):
        raise ValueError(f"unknown optimizer class {name!r}")
    return optimizer_class


class LocalOptimizer:
    """Optimizer over parameters that this process owns, given as RRefs `handles`."""

    def __init__(self, agent: RpcAgent, kind: type[Optimizer], handles: Any, args: Any, kwargs: Any) -> None:
        self._agent = agent
        self._params = [handle.local_value() for handle in handles]
        self._optimizer = kind(self._params, *args, **kwargs)

    def step(self, context_id: int) -> None:
        """Run one optimizer step with the gradients of a context, then restore `grad` of the parameters."""
        with _one_at_a_time:
            gradients = self._agent.contexts.find(context_id).gradients()
            before = [param.grad for param in self._params]
            try:
                for param in self._params:
                    param.grad = gradients.get(param)
                self._optimizer.step()
            finally:
                for param, gradient in zip(self._params, before, strict=True):
                    param.grad = gradient


def make(agent: RpcAgent, name: Any, handles: Any, args: Any, kwargs: Any) -> RRef:
    """Create an optimizer over parameters owned by this process, and return an RRef to it."""
    return agent.rref_context.create_owned(
        LocalOptimizer(agent, _class_of(name, agent), handles, args, kwargs)
    )


def step(handle: RRef, context_id: int) -> None:
    """Run a step of the local optimizer to which `handle` refers, with the gradients of a context."""
    local = handle.local_value()
    if not isinstance(local, LocalOptimizer):
        raise TypeError(f"{handle!r} does not refer to an optimizer")
    local.step(context_id)
