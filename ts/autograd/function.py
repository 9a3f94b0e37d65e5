"""Custom gradients of differentiable functions that users define.

Example:

    class Cube(ts.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x**2

    y = Cube.apply(x)

`ctx` is the node of the call in the autograd graph. With `create_graph=True`, `backward` is recorded, so that
second derivatives can be computed.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ts._core.autograd.function_node import FunctionNode, run_function
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer, is_grad_enabled
from ts.autograd.grad_mode import no_grad

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]


class FunctionCtx:
    """Methods of `ctx` that `forward` of a custom function calls."""

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save arguments and results for `backward`, which reads them as `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save tensors for `jvp`."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as "
                    "attributes on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Mark arguments as modified in place. `forward` must return them."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Mark results as non-differentiable."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether `backward` receives zeros instead of None for undefined gradients."""
        self.materialize_grads = value


class BackwardCFunction(FunctionNode, FunctionCtx):
    """Base class of `ctx` objects: the backward node of one call of a custom function."""

    _forward_cls: type[_OneLevel]

    def apply(self, *gradients: Any) -> Any:
        """Return the gradients of the arguments, by the method `backward` or `vjp` (the overridden one).
        """
        function = self._forward_cls
        if function.backward is _OneLevel.backward:
            return function.vjp(self, *gradients)
        if function.vjp is not _OneLevel.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
                "only implement one of them."
            )
        return function.backward(self, *gradients)

    def apply_jvp(self, *tangents: Any) -> Any:
        """Call `jvp` of the function."""
        return self._forward_cls.jvp(self, *tangents)


class FunctionMeta(type):
    """Metaclass that creates the node class of each custom function: `CubeBackward` for `Cube`."""

    _backward_cls: type[BackwardCFunction]

    def __init__(cls, name: str, bases: tuple[type, ...], attributes: dict[str, Any]) -> None:
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls})
        super().__init__(name, bases, attributes)


class _OneLevel(FunctionCtx, metaclass=FunctionMeta):
    """Base class of `Function` with the static methods that custom functions override."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Return the results. The first argument is `ctx`, unless the class overrides `setup_context`."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Store the values that `backward` needs in `ctx`. This is called after `forward`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the arguments from the gradients of the results.

        If an argument has no gradient, the result has None in its place.
        """
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangents of the results from the tangents of the arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )


class Function(_OneLevel):
    """Base class of functions with custom derivatives. `apply` calls the function."""

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
            "should invoke them on the class itself. Instantiating an autograd function will raise an error "
            "in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError, because a custom function is called by `apply`, not by calling an instance.

        In PyTorch's legacy interface, `forward` was not static, and programs called instances of the class.
        """
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
            "autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """Return the results under `vmap`, and the batch dimensions of the results."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, and connect the results to a node that runs `backward`."""
        setup = None if cls.setup_context is _OneLevel.setup_context else cls.setup_context
        if kwargs or setup is not None:
            args = _by_position(cls.forward, args if setup else (None, *args), kwargs)
            args = args if setup else args[1:]
        tracer = current_tracer()
        if tracer is not None and tracer.is_trace:
            return tracer.python_function(
                cls, args, lambda: run_function(cls._backward_cls(), cls.forward, setup, args)
            )
        # `in_function` tells an export that a custom function runs. The export then creates no graph block if
        # `forward` changes the grad mode.
        with nullcontext() if tracer is None else tracer.in_function():
            outputs = run_function(cls._backward_cls(), cls.forward, setup, args)
        if tracer is not None and tracer.tape is not None:
            tracer.tape.note_function(cls.__name__, list(args), outputs)
        return outputs


def _by_position(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Return all arguments of `forward` as positional arguments.

    Raise TypeError for keyword-only arguments.
    """
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"forward() takes no keyword-only arguments: {', '.join(bound.kwargs)}")
    return bound.args


class InplaceFunction(Function):
    """Deprecated name of `Function` for functions that modify arguments in place."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


# ---------------------------------------------------------------- no second derivative


class _RaiseInBackward(Function):
    """Identity function whose backward raises RuntimeError."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        return tuple(x.detach() for x in args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


_RaiseInBackward._backward_cls.__name__ = "torch::autograd::Error"


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate `backward`, so that autograd does not record its operators (once-differentiable).

    Differentiating the results of `backward` raises RuntimeError.
    """

    @functools.wraps(backward)
    def once(ctx: Any, *gradients: Any) -> Any:
        with no_grad():
            gradients_of_inputs = backward(ctx, *gradients)
        if not is_grad_enabled() or not any(isinstance(g, Tensor) and g.requires_grad for g in gradients):
            return gradients_of_inputs
        is_tuple = isinstance(gradients_of_inputs, tuple)
        gradient_list = list(gradients_of_inputs) if is_tuple else [gradients_of_inputs]
        tensor_indices = [i for i, x in enumerate(gradient_list) if isinstance(x, Tensor)]
        marked = _RaiseInBackward.apply(*[gradient_list[i].detach()._marked(True) for i in tensor_indices])
        for i, x in zip(tensor_indices, marked, strict=True):
            gradient_list[i] = x
        return tuple(gradient_list) if is_tuple else gradient_list[0]

    return once
