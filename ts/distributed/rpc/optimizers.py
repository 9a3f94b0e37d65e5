"""Optimizers over local parameters, created and stepped by remote processes.

A remote process sends these requests, where `name` is the name of a class such as ["optim", "SGD"]:

    ("optimizer", "new", name, [rref], (), {"lr": 0.1})          create an optimizer and return an RRef to it
    ("optimizer", "step", rref, context_id)                      take a step with the gradients of the context

Classes of `ts.optim` are always allowed. Other classes require `allow_python`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ts.optim
from ts.distributed.dist_autograd.contexts import DistAutogradContainer
from ts.optim import Optimizer

FindCallee = Callable[[Any], Callable[..., Any]]

# Only one optimizer of this process runs a step at a time, because several may update the same parameters.
_one_at_a_time = threading.Lock()


def wire_name(optimizer_class: type[Any], name_callee: Callable[[Any], tuple[str, ...]]) -> list[str]:
    """Return the wire name of an optimizer class: `["optim", name]` for a class of `ts.optim`.

    Raise TypeError if it is not an optimizer class, and PermissionError for a user class without
    `allow_python`.
    """
    if not isinstance(optimizer_class, type) or not issubclass(optimizer_class, Optimizer):
        raise TypeError(f"expected an optimizer class, got {optimizer_class!r}")
    name = optimizer_class.__name__
    if getattr(ts.optim, name, None) is optimizer_class:
        return ["optim", name]
    return list(name_callee(optimizer_class))


def _class_of(name: Any, find_callee: FindCallee) -> type[Optimizer]:
    optimizer_class: Any
    match name:
        case ("optim", str(class_name)) if class_name in ts.optim.__all__:
            optimizer_class = getattr(ts.optim, class_name)
        case ("python", *_):
            optimizer_class = find_callee(name)
        case _:
            optimizer_class = None
    if not isinstance(optimizer_class, type) or not issubclass(optimizer_class, Optimizer):
        raise ValueError(f"unknown optimizer class {name!r}")
    return optimizer_class


class LocalOptimizer:
    """Optimizer over parameters that this process owns. `handles` are RRefs to the parameters."""

    def __init__(
        self, contexts: DistAutogradContainer, kind: type[Optimizer], handles: Any, args: Any, kwargs: Any
    ) -> None:
        self._contexts = contexts
        self._params = [handle.local_value() for handle in handles]
        self._optimizer = kind(self._params, *args, **kwargs)

    def step(self, context_id: int) -> None:
        """Run one optimizer step with the gradients of a context.

        The attributes `grad` of the parameters have the same values before and after the step.
        """
        with _one_at_a_time:
            gradients = self._contexts.find(context_id).gradients()
            before = [param.grad for param in self._params]
            try:
                for param in self._params:
                    param.grad = gradients.get(param)
                self._optimizer.step()
            finally:
                for param, gradient in zip(self._params, before, strict=True):
                    param.grad = gradient


def handle(
    contexts: DistAutogradContainer,
    find_callee: FindCallee,
    create_owned: Callable[[Any], Any],
    kind: str,
    arguments: Any,
) -> Any:
    """Execute a request of another process: create an optimizer, or run one step. Return the result."""
    match kind:
        case "new":
            name, handles, args, kwargs = arguments
            optimizer_class = _class_of(name, find_callee)
            return create_owned(LocalOptimizer(contexts, optimizer_class, handles, args, kwargs))
        case "step":
            rref, context_id = arguments
            local = rref.local_value()
            if not isinstance(local, LocalOptimizer):
                raise TypeError(f"{rref!r} does not refer to an optimizer")
            local.step(context_id)
            return None
    raise ValueError(f"unknown request: optimizer {kind}")
