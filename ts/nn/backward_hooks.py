"""Backward hooks of modules: functions called with the gradients of a module's results and arguments.

Example:

    handle = module.register_full_backward_hook(lambda module, grad_input, grad_output: print(grad_input))

The hook needs an autograd node before and after the module. In this diagram, the gradient that a node
receives is below the node:

    arguments -> BackwardHookFunction -> forward -> BackwardHookFunction -> results
                 grad_input                         grad_output
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import partial, update_wrapper
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import is_grad_enabled
from ts.autograd.function import Function

__all__ = ["BackwardHooks", "hook_result_node"]

Gradients = tuple[Any, ...]


class BackwardHookFunction(Function):
    """Identity function with an autograd node. Its backward is also the identity."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[x for x in args if not x.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Gradients:
        return grads


class BackwardHooks:
    """Backward hooks of one call of a module."""

    def __init__(self, module: Any, hooks: Iterable[Any], pre_hooks: Iterable[Any]) -> None:
        self._module = module
        self._hooks = tuple(hooks)
        self._pre_hooks = tuple(pre_hooks)
        self._arguments = self._results = 0  # numbers of the module's arguments and results
        # indices of the arguments that are tensors, or None if no argument requires grad
        self._argument_indices: list[int] | None = None
        self._result_indices: list[int] | None = None
        # gradients of the results, set by `_record_grad_outputs` and read by `_call_hooks`
        self._grad_outputs: Gradients | None = None

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Pass the arguments through an autograd node, which calls the backward hooks with gradients."""
        self._arguments = len(args)
        args, self._argument_indices = _through_node(args, self._call_hooks)
        return args

    def leave(self, result: Any) -> Any:
        """Pass the result through an autograd node, which calls the backward pre-hooks with gradients."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                f"received {type(result)}",
                stacklevel=2,
            )
            return result
        results = (result,) if isinstance(result, Tensor) else result
        self._results = len(results)
        changed, self._result_indices = _through_node(results, self._record_grad_outputs)
        return changed[0] if isinstance(result, Tensor) else changed

    def _record_grad_outputs(self, _: Gradients, gradients: Gradients) -> Gradients:
        assert self._result_indices is not None  # this hook is registered only if the indices are set
        grad_outputs = _scatter_gradients(self._result_indices, gradients, self._results)
        for hook in self._pre_hooks:
            replacement = hook(self._module, grad_outputs)
            grad_outputs = _replace_gradients("pre hook", "grad_output", grad_outputs, replacement)
        if self._argument_indices is None:
            self._call_without_arguments(grad_outputs)
        else:
            self._grad_outputs = grad_outputs
        return tuple(grad_outputs[i] for i in self._result_indices)

    def _call_hooks(self, gradients: Gradients, _: Gradients) -> Gradients | None:
        if self._grad_outputs is None:  # no gradients were computed for the results
            return None
        assert self._argument_indices is not None
        grad_inputs = _scatter_gradients(self._argument_indices, gradients, self._arguments)
        for hook in self._hooks:
            replacement = hook(self._module, grad_inputs, self._grad_outputs)
            grad_inputs = _replace_gradients("hook", "grad_input", grad_inputs, replacement)
        self._grad_outputs = None
        return tuple(grad_inputs[i] for i in self._argument_indices)

    def _call_without_arguments(self, grad_outputs: Gradients) -> None:
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since "
            "no inputs require gradients. See "
            "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=2,
        )
        for hook in self._hooks:
            returned = hook(self._module, (None,) * self._arguments, grad_outputs)
            if returned is not None and not (
                isinstance(returned, tuple) and all(x is None for x in returned)
            ):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or "
                    "None for all gradients."
                )


def _through_node(
    values: tuple[Any, ...], hook: Callable[..., Any]
) -> tuple[tuple[Any, ...], list[int] | None]:
    """Pass the tensors in `values` through one autograd node, and register `hook` on this node.

    Return the new values and the indices of the tensors, or `values` and None if no tensor requires grad.
    """
    tensor_indices = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
    if not is_grad_enabled() or not any(values[i].requires_grad for i in tensor_indices):
        return values, None
    changed = list(values)
    for i, x in zip(
        tensor_indices, BackwardHookFunction.apply(*[values[i] for i in tensor_indices]), strict=True
    ):
        changed[i] = x
    node = next(changed[i].grad_fn for i in tensor_indices if changed[i].grad_fn is not None)
    node.register_hook(hook)
    same = type(values)
    return (tuple(changed) if same is tuple else same(*changed)), tensor_indices


def _scatter_gradients(indices: list[int], gradients: Gradients, n: int) -> Gradients:
    """Return a tuple of length `n` with the gradients at `indices` and None elsewhere."""
    scattered: list[Any] = [None] * n
    for i, gradient in zip(indices, gradients, strict=True):
        scattered[i] = gradient
    return tuple(scattered)


def hook_result_node(module: Any, hooks: Iterable[Any], args: tuple[Any, ...], result: Any) -> None:
    """Register non-full backward hooks on the `grad_fn` of the first tensor in `result`.

    Warn if `grad_fn` does not read all arguments directly, because the hooks then get other gradients.
    """
    first = result
    while not isinstance(first, Tensor):
        first = next(iter(first.values())) if isinstance(first, dict) else first[0]
    if first.grad_fn is not None:
        before = {x.grad_fn for x in args if isinstance(x, Tensor)}
        if before != {node for node, _ in first.grad_fn.next_functions}:
            warnings.warn(
                "Using a non-full backward hook when the forward contains multiple autograd Nodes is "
                "deprecated and will be removed in future versions. This hook will be missing some "
                "grad_input. Please use register_full_backward_hook to get the documented behavior.",
                FutureWarning,
                stacklevel=2,
            )
        for hook in hooks:
            bound_hook = partial(hook, module)
            update_wrapper(bound_hook, hook)  # so that error messages contain the name of the hook
            first.grad_fn.register_hook(bound_hook)


def _replace_gradients(
    hook: str, name: str, gradients: Gradients, replacement: Gradients | None
) -> Gradients:
    """Return `replacement`, the result of a hook, or `gradients` if the hook returned None.

    Raise RuntimeError if the lengths differ.
    """
    if replacement is None:
        return gradients
    if len(replacement) != len(gradients):
        raise RuntimeError(
            f"Backward {hook} returned an invalid number of {name}, got {len(replacement)}, but expected "
            f"{len(gradients)}"
        )
    return replacement
