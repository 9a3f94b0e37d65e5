"""Function transforms for reverse-mode gradients and vector-Jacobian products: `grad`, `vjp`.

    >>> grad(lambda x: (x ** 3).sum())(ts.tensor([1.0, 2.0]))
    tensor([ 3., 12.])

A transform calls the function with new leaf tensors as arguments, and records the operators for autograd.
Afterwards, the results are detached, unless an enclosing computation needs gradients. Tensors from the
function's closure keep their autograd graph, so transforms can be nested.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import ts
from ts import Tensor
from ts._core.autograd.backward import grad as autograd_grad
from ts._core.dispatch_layers.level_stack import of_level, require_grad_at_level, requires_grad_below, top
from ts._core.tensor.tensor_metadata import creation_context_of, detached, mark_created, set_creation_context
from ts._core.thread.context import (
    GradMode,
    InferenceMode,
    TransformScope,
    current_tracer,
    is_grad_enabled,
)
from ts._core.thread.transform_state import transforming
from ts.func.pytree import TreeSpec, flatten, map_leaves, unflatten

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


class RecordedCall:
    """Call of a function that is recorded in the autograd graph, with new leaf tensors as arguments.

    constants        further arguments, to which the function can write
    checks_writes    True if writes to captured tensors raise an error
    leaves           tensors in place of the arguments, whose gradients are computed
    tracked_results  results that are connected to the leaves
    """

    def __init__(
        self, func: Function, arguments: Any, call: Callable[[Any], Any], constants: Any = (),
        checks_writes: bool = True,
    ) -> None:
        self.outer_grad = is_grad_enabled()
        inputs, self.shape = flatten(arguments)
        for x in inputs:
            if not isinstance(x, Tensor):
                raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        tracer = current_tracer()
        # tracer of the export in which this transformation runs, or None outside exports
        self.recorder = tracer if tracer is not None and tracer.is_export else None
        with InferenceMode(False), GradMode(True), transforming(), ExitStack() as stack:
            if checks_writes:
                stack.enter_context(TransformScope())
            self.leaves = [
                require_grad_at_level(x) if self.recorder is None else self.recorder.record_requires_grad(x)
                for x in inputs
            ]
            with _writable(constants):
                self.tracked_results = call(unflatten(self.leaves, self.shape))
        self.is_attached = self.outer_grad and any(x.requires_grad for x in inputs)

    def needs_outer_grad(self, tensors: list[Any]) -> bool:
        """Return True if gradients of `tensors` may be requested outside this call."""
        return (
            self.is_attached
            or self.recorder is not None
            or (
                self.outer_grad
                and (any(map(requires_grad_below, tensors)) or _depends_on_outer_leaves(tensors, self.leaves))
            )
        )

    def out(self, x: Any, needs_outer_grad: bool) -> Any:
        """Return `x`, a result of the call, and detach it if `needs_outer_grad` is False."""
        if not isinstance(x, Tensor) or not x.requires_grad or needs_outer_grad:
            return x
        return detached(x)

    def gradients(
        self, outputs: list[Tensor], grad_outputs: list[Tensor | None], keep: bool, needs_outer_grad: bool
    ) -> list[Tensor]:
        """Return the gradients of the leaves. If `outputs` do not depend on a leaf, its gradient is zero."""
        pairs = [(y, g) for y, g in zip(outputs, grad_outputs, strict=True) if y.requires_grad]
        if not pairs:
            return [ts.zeros_like(x.detach()) for x in self.leaves]
        recorded = is_grad_enabled()
        with InferenceMode(False), GradMode(recorded):
            grads = autograd_grad(
                [y for y, _ in pairs], self.leaves, [g for _, g in pairs],
                retain_graph=keep or needs_outer_grad, create_graph=needs_outer_grad, allow_unused=True,
            )  # fmt: skip
        return [
            ts.zeros_like(x.detach()) if g is None else self.out(g, needs_outer_grad)
            for x, g in zip(self.leaves, grads, strict=True)
        ]


@contextmanager
def _writable(arguments: Any) -> Iterator[None]:
    """Let a differentiated function write to tensors in `arguments`, a tree, during the block."""
    tensors = [x for x in flatten(arguments)[0] if isinstance(x, Tensor)]
    before = [creation_context_of(x) for x in tensors]
    for x in tensors:
        mark_created(x)
    try:
        yield
    finally:
        for x, creation in zip(tensors, before, strict=True):
            set_creation_context(x, *creation)


def _depends_on_outer_leaves(tensors: list[Any], leaves: list[Tensor]) -> bool:
    """Return True if `tensors` depend on leaf tensors other than `leaves`."""
    level = top()
    own_leaf_ids = {id(x) for x in leaves}
    stack = []
    for x in tensors:
        if isinstance(x, Tensor) and x.requires_grad and (level is None or of_level(x, level) is not None):
            if x.grad_fn is not None:
                stack.append(x.grad_fn)
            elif id(x) not in own_leaf_ids:
                return True
    visited = set()
    while stack:
        node = stack.pop()
        if node in visited:
            continue
        visited.add(node)
        leaf = getattr(node, "variable", None)
        if leaf is not None and id(leaf) not in own_leaf_ids:
            return True
        stack += [next_node for next_node, _ in node.next_functions if next_node is not None]
    return False


# ---------------------------------------------------------------- arguments selected by index


def checked_argnums(argnums: Any, count: int) -> Any:
    """Return argument indices as nonnegative numbers. Raise RuntimeError if one is invalid."""
    if isinstance(argnums, tuple):
        indices = tuple(_checked_argnum(i, count) for i in argnums)
        if not indices:
            raise RuntimeError("argnums must be non-empty")
        if len(set(indices)) != len(indices):
            raise RuntimeError(f"argnums elements must be unique, got {indices}")
        return indices
    return _checked_argnum(argnums, count)


def _checked_argnum(i: Any, count: int) -> int:
    if not isinstance(i, int):
        raise RuntimeError(f"argnum must be int, got: {type(i)}")
    if not -count <= i < count:
        raise RuntimeError(f"Got argnum={i}, but only {count} positional inputs")
    return i % count


def select_args(args: tuple[Any, ...], argnums: Argnums) -> Any:
    """Return the argument with the index `argnums`, or a tuple of arguments for a tuple of indices."""
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)


def replace_args(args: tuple[Any, ...], argnums: Argnums, new: Any) -> tuple[Any, ...]:
    """Return the arguments with new values at `argnums`."""
    new_args = list(args)
    for i, x in zip((argnums,) if isinstance(argnums, int) else argnums,
                    (new,) if isinstance(argnums, int) else new, strict=True):  # fmt: skip
        new_args[i] = x
    return tuple(new_args)


def with_aux(outputs: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """Return a function's output and auxiliary value. Without `has_aux`, the auxiliary value is None."""
    if not has_aux:
        return outputs, None
    if not (isinstance(outputs, tuple) and len(outputs) == 2):
        raise RuntimeError(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return outputs


# ---------------------------------------------------------------- public functions


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """Return a function that computes (gradient, value): the gradient of `func` and the result of `func`.

    argnums  index of the differentiated argument, or a tuple of indices
    has_aux  `func` returns (value, aux), and the new function returns (gradient, (value, aux))

    The new function raises RuntimeError if the value is not a scalar tensor.
    """

    @functools.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        indices = checked_argnums(argnums, len(args))
        record = RecordedCall(
            func, select_args(args, indices), lambda new: func(*replace_args(args, indices, new), **kwargs),
            (replace_args(args, indices, select_args((None,) * len(args), indices)), kwargs),
        )  # fmt: skip
        output, aux = with_aux(record.tracked_results, has_aux, "grad_and_value(f)(*args)")
        if not isinstance(output, Tensor):
            raise RuntimeError(
                f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
            )
        if output.dim() != 0:
            raise RuntimeError(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        needs_outer_grad = record.needs_outer_grad([output])
        gradient = unflatten(record.gradients([output], [None], False, needs_outer_grad), record.shape)
        value = record.out(output, needs_outer_grad)
        if not has_aux:
            return gradient, value
        return gradient, (value, map_leaves(lambda x: record.out(x, record.needs_outer_grad([x])), aux))

    return differentiated


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the gradient of a scalar function.

    argnums  index of the differentiated argument, or a tuple of indices for a tuple of gradients
    has_aux  `func` returns (value, aux), and the new function returns (gradient, aux)
    """
    gradient_and_value = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        gradient, value = gradient_and_value(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return differentiated


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Return func(*primals), and a function that computes vector-Jacobian products.

    The returned function maps gradients of the results to a tuple of gradients of `primals`. With `has_aux`,
    `func` returns (results, aux), and `vjp` returns (results, function, aux).

    Raise RuntimeError if a result is not a floating-point tensor.
    """
    _, results, function, aux = recorded_vjp(func, primals, has_aux)
    return (results, function, aux) if has_aux else (results, function)


def recorded_vjp(
    func: Function, primals: tuple[Any, ...], has_aux: bool, checks_writes: bool = True
) -> tuple[RecordedCall, Any, Function, Any]:
    """Implement `vjp`: return the recorded call, the results, the function and the auxiliary value."""
    record = RecordedCall(func, primals, lambda new: func(*new), checks_writes=checks_writes)
    tracked_results, aux = with_aux(record.tracked_results, has_aux, "vjp(f, *primals)")
    outputs, shape = flatten(tracked_results)
    _check_results(tracked_results, outputs)
    needs_outer_grad = record.needs_outer_grad(outputs)

    def run_backward(*cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        grad_outputs, cotangent_spec = flatten(cotangents[0] if len(cotangents) == 1 else cotangents)
        if cotangent_spec != shape:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                "the function. "
                f"cotangents: {_describe_structure(cotangent_spec)}, "
                f"primal output: {_describe_structure(shape)}"
            )
        if create_graph is None:
            create_graph = is_grad_enabled()
        keep_graph = create_graph and (needs_outer_grad or any(g.requires_grad for g in grad_outputs))
        return unflatten(record.gradients(outputs, grad_outputs, retain_graph, keep_graph), record.shape)

    results = map_leaves(lambda x: record.out(x, needs_outer_grad), tracked_results)
    aux = map_leaves(lambda x: record.out(x, record.needs_outer_grad([x])), aux) if has_aux else None
    return record, results, run_backward, aux


def _check_results(results: Any, outputs: list[Any]) -> None:
    name = "vjp(f, *primals)"
    if not outputs:
        raise RuntimeError(
            f"{name}: Expected f to be a function that has non-empty output (got output = {results})"
        )
    for y in outputs:
        if not isinstance(y, Tensor):
            raise RuntimeError(
                f"{name}: expected f(*primals) to return only tensors, got unsupported type {type(y)}"
            )
        if not (y.is_floating_point() or y.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with "
                "dtype "
                f"{y.dtype}"
            )


def _describe_structure(shape: TreeSpec) -> str:
    return repr(unflatten([type("", (), {"__repr__": lambda _: "*"})() for _ in range(shape.count)], shape))
