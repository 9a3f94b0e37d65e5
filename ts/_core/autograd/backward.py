"""Backward and double backward (higher-order derivatives): accumulate gradients in leaves, or return them.

Examples:

    ts.autograd.backward(loss)                    sets parameter.grad of every parameter
    ts.autograd.grad(y, [x], create_graph=True)   returns (dy/dx,), which can be differentiated again
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts._core.autograd.engine import run_backward
from ts._core.late_binding import resolve
from ts._core.tensor.python_operators import operator
from ts._core.tensor.tensor import Size, Tensor
from ts._core.thread.context import current_tracer
from ts._core.thread.transform_state import outside_only
from ts._core.thread.warnings import warn_once
from ts.errors import UserError

Tensors = Tensor | Sequence[Tensor]


def _listed(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, Tensor) or hasattr(tensors, "output_nr") else list(tensors)


def _gradients(roots: list[Any], root_gradients: list[Any]) -> list[Any]:
    """Return one gradient per root: the given gradient, or ones if none is given for a scalar root."""
    if len(roots) != len(root_gradients):
        raise RuntimeError(f"got {len(roots)} tensors and {len(root_gradients)} gradients")
    return [
        _gradient(root, gradient, i)
        for i, (root, gradient) in enumerate(zip(roots, root_gradients, strict=True))
    ]


def _gradient(root: Any, gradient: Any, i: int) -> Any:
    if not isinstance(root, Tensor):
        return _gradient_of_edge(root, gradient, i)
    if not root.requires_grad:
        raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    if gradient is None:
        if root.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if not root.dtype.is_floating_point:
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {root.dtype}"
            )
        return operator("ones_like")(root)
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if gradient.shape != root.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {gradient.shape} and output[{i}] has a "
            f"shape of {root.shape}."
        )
    if gradient.dtype.is_complex != root.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{i}] has a dtype of {gradient.dtype} and output[{i}] has a "
            f"dtype of {root.dtype}."
        )
    return gradient if gradient.dtype is root.dtype else gradient.to(root.dtype)  # type: ignore[attr-defined]


def _gradient_of_edge(edge: Any, gradient: Any, i: int) -> Any:
    """Return the initial gradient of a `GradientEdge` root: `gradient`, or ones if `gradient` is None.

    Raise RuntimeError if `gradient` is None and the edge's value has several elements, or if `gradient` has
    another shape than this value.
    """
    like = edge.node._input_metadata[edge.output_nr]
    if gradient is None:
        if math.prod(like.shape) != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        return operator("ones")(list(like.shape), dtype=like.dtype, device=like.device)
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if tuple(gradient.shape) != like.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {gradient.shape} and output[{i}] has a "
            f"shape of {Size(like.shape)}."
        )
    return gradient if gradient.dtype is like.dtype else gradient.to(like.dtype)  # type: ignore[attr-defined]


def backward(
    tensors: Tensors,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of the sum of `tensors`, weighted by `grad_tensors`, to `grad` of the leaves.

    retain_graph   keep saved values for another pass (default: the value of `create_graph`)
    create_graph   record the operators of the pass, for higher derivatives
    inputs         tensors whose `grad` is updated (default: all leaves)

    Raises RuntimeError inside of function transforms.
    """
    outside_only(
        "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
        "functorch.vjp instead or call backward() outside of functorch transforms."
    )
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                "Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    roots = _listed(tensors)
    root_gradients = [None] * len(roots) if grad_tensors is None else _listed(grad_tensors)
    keep = create_graph if retain_graph is None else retain_graph
    gradients = _gradients(roots, root_gradients)
    tracer = _recorder()
    if tracer is not None:
        tracer.backward(roots, gradients, None if inputs is None else _listed(inputs), create_graph)
        return
    if create_graph:
        warn_once(
            "create_graph",
            "Using backward() with create_graph=True will create a reference cycle between the parameter and "
            "its gradient which can cause a memory leak. We recommend using autograd.grad when creating the "
            "graph to avoid this. If you have to use this function, make sure to reset the .grad fields of "
            "your parameters to None after use to break the cycle and avoid the leak.",
        )
    if inputs is None:
        run_backward(roots, gradients, keep, create_graph, None, True)
        return
    input_tensors = _listed(inputs)
    if not input_tensors:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    _check_inputs(input_tensors)
    results = run_backward(roots, gradients, keep, create_graph, input_tensors, True)
    for x, gradient in zip(input_tensors, results, strict=True):
        if gradient is not None and hasattr(x, "is_leaf") and not x.is_leaf:
            x.grad = gradient if x.grad is None else x.grad + gradient


def _recorder() -> Any:
    """Return the active tracer if it records backward passes in its graph, as in export.

    Otherwise return None.
    """
    tracer = current_tracer()
    return tracer if tracer is not None and tracer.is_export else None


def _pass(roots: list[Any], gradients: list[Any], keep: bool, create: bool, inputs: list[Any]) -> list[Any]:
    """Run a backward pass, or let a tracer record it. Return one gradient or None per input."""
    tracer = _recorder()
    if tracer is not None:
        return list(tracer.gradients(roots, gradients, inputs, create))
    return run_backward(roots, gradients, keep, create, inputs, False)


def _check_inputs(inputs: list[Any]) -> None:
    for x in inputs:
        if isinstance(x, Tensor) and not x.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of the sum of `outputs`, weighted by `grad_outputs`, with respect to `inputs`.

    retain_graph       keep saved values for another pass (default: the value of `create_graph`)
    create_graph       record the operators of the pass, for higher derivatives
    allow_unused       return None for inputs that do not influence the outputs, else raise RuntimeError
    is_grads_batched   compute gradients for each index of an additional first dimension of `grad_outputs`
    materialize_grads  return zeros for inputs that do not influence the outputs
    """
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    if not only_inputs:
        raise ValueError("only_inputs argument is deprecated and is ignored now (defaults to True)")
    roots, input_tensors = _listed(outputs), _listed(inputs)
    root_gradients = [None] * len(roots) if grad_outputs is None else _listed(grad_outputs)
    if not input_tensors:
        raise ValueError("grad requires non-empty inputs.")
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        results = _batched(roots, input_tensors, root_gradients, keep, create_graph)
    else:
        gradients = _gradients(roots, root_gradients)
        _check_inputs(input_tensors)
        results = _pass(roots, gradients, keep, create_graph, input_tensors)
    unused = next((i for i, gradient in enumerate(results) if gradient is None), None)
    if not allow_unused and unused is not None:
        raise RuntimeError(
            f"The differentiated Tensor at index {unused} appears to not have been used in the graph. Set "
            "allow_unused=True if this is the desired behavior."
        )
    if materialize_grads:
        results = [
            operator("zeros_like")(x) if g is None else g for x, g in zip(input_tensors, results, strict=True)
        ]
    return tuple(results)


def _batched(
    roots: list[Any], inputs: list[Any], root_gradients: list[Any], keep: bool, create: bool
) -> list[Any]:
    """Run one backward pass for `is_grads_batched`: vectorized over dimension 0 of `root_gradients`."""
    if _recorder() is not None:
        raise UserError("is_grads_batched=True is not supported in an exported program: use vmap around grad")
    batching = resolve("batched_tensor")
    _check_inputs(inputs)
    n = len(next(g for g in root_gradients if g is not None))
    with batching.opened_batch(n) as level:
        gradients = _gradients(
            roots, [None if g is None else batching.batched(level, g) for g in root_gradients]
        )
        results = _pass(roots, gradients, keep, create, inputs)
        return [None if g is None else batching.unbatched(level, g) for g in results]
