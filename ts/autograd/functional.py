"""Derivatives of functions: vector products, Jacobians and Hessians.

Input: a function of one or several tensors, and its arguments. Output: derivatives, nested as the arguments
and the results of the function. Example:

>>> jacobian(lambda x: x * x, ts.tensor([1.0, 2.0]))
tensor([[2., 0.],
        [0., 4.]])

With `create_graph`, the derivatives are differentiable. If a result does not depend on an argument, `strict`
raises a RuntimeError. Without `strict`, the derivative is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import ts
from ts import Tensor
from ts._core.autograd.backward import grad
from ts._core.dispatch_layers.batched_tensor import batched, opened_batch, unbatched
from ts.autograd import forward_ad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Function = Callable[..., Any]
Tensors = tuple[Tensor, ...]


# ---------------------------------------------------------------- arguments and results


def _as_checked_tuple(x: Any, argument: str, name: str) -> tuple[bool, Tensors]:
    """Return (True, x) if `x` is a tuple of tensors, or (False, (x,)) if it is a tensor.

    Otherwise raise TypeError.
    """
    is_tuple = isinstance(x, tuple)
    items = x if is_tuple else (x,)
    for i, item in enumerate(items):
        if not isinstance(item, Tensor):
            reason = f"the value at index {i} has type" if is_tuple else f"the given {argument} has type"
            raise TypeError(
                f"The {argument} given to {name} must be either a Tensor or a tuple of Tensors but {reason} "
                f"{type(item)}."
            )
    return is_tuple, items


def _results(function: Function, inputs: Tensors, name: str) -> tuple[bool, Tensors]:
    return _as_checked_tuple(function(*inputs), "outputs of the user-provided function", name)


def _detach_inputs(inputs: Tensors, create_graph: bool, requires_grad: bool) -> Tensors:
    """Detach `inputs`.

    If `create_graph`, replace inputs that require grad by differentiable views instead.
    """
    return tuple(
        x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_(requires_grad)
        for x in inputs
    )


def _detach_results(x: Any, create_graph: bool) -> Any:
    """Detach results, unless `create_graph` is True."""
    if isinstance(x, Tensor):
        return x if create_graph else x.detach()
    return tuple(_detach_results(item, create_graph) for item in x)


def _one_or_all(x: tuple[Any, ...], is_tuple: bool) -> Any:
    return x if is_tuple else x[0]


def _check_vector(v: Tensors, like: Tensors, is_tuple: bool) -> None:
    if len(v) != len(like):
        if is_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (x, y) in enumerate(zip(v, like, strict=True)):
        if x.shape != y.shape:
            entry = f"Entry {i} in " if is_tuple else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {y.size()} but got {x.size()}.")


_DETACHED = {
    "outputs": "Output {i} of the user-provided function does not require gradients. The outputs must be "
    "computed in a differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {i} is independent of the inputs of the "
    "user-provided function. This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect to input {i} is independent of the input. This is not allowed in strict mode. You should "
    "ensure that your function is twice differentiable and that the jacobian depends on the inputs (this "
    "would be violated by a linear function for example).",
    "hessian": "The hessian of the user-provided function with respect to input {i} is independent of the "
    "input. This is not allowed in strict mode. You should ensure that your function is thrice "
    "differentiable and that the hessian depends on the inputs.",
}


def _check_attached(results: tuple[Tensor | None, ...], subject: str, strict: bool) -> None:
    """Raise RuntimeError in strict mode if a result does not depend on the inputs."""
    if not strict:
        return
    for i, x in enumerate(results):
        if x is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {i}. This is not "
                "allowed in strict mode."
            )
        if not x.requires_grad:
            raise RuntimeError(_DETACHED[subject].format(i=i))


# Error texts of strict mode for a result that does not depend on an input. The keys are values of the
# argument `step` of `_fill_missing`.
_OF_FIRST = (
    "The jacobian of the user-provided function is independent of input {i}. "
    "This is not allowed in strict mode"
)
_OF_SECOND = _OF_FIRST.replace("jacobian", "hessian")
_ABSENT = {
    "back": "The output of the user-provided function is independent of input {i}. This is not allowed in "
    "strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the grad_outputs "
    "when using "
    "the double backward trick to compute forward mode gradients. This is not allowed in strict mode.",
    "double_back": _OF_FIRST + ".",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in the "
    "grad_jacobian. This is not allowed in strict mode as it prevents from using the double backward "
    "trick to replace forward mode AD.",
}
_CONSTANT = {
    "back": _OF_FIRST, "back_trick": _OF_FIRST, "double_back": _OF_SECOND, "double_back_trick": _OF_SECOND,
}  # fmt: skip


def _fill_missing(
    gradients: tuple[Tensor | None, ...], like: Tensors, strict: bool, create_graph: bool, step: str
) -> Tensors:
    """Replace missing gradients (None) by zeros.

    In strict mode, raise RuntimeError for missing or constant ones.
    """
    filled = []
    for i, (x, y) in enumerate(zip(gradients, like, strict=True)):
        if x is None and strict:
            raise RuntimeError(_ABSENT[step].format(i=i))
        if x is not None and strict and create_graph and not x.requires_grad:
            raise RuntimeError(_CONSTANT[step].format(i=i) + " when create_graph=True.")
        filled.append(ts.zeros_like(y) if x is None else x)
    return tuple(filled)


def _gradients(
    outputs: tuple[Tensor | None, ...],
    inputs: Tensors,
    grad_outputs: Tensors | None = None,
    *,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    batched: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of `inputs`, computed from the outputs that require grad.

    The gradient is None for inputs on which no output depends.
    """
    starts = [None] * len(outputs) if grad_outputs is None else list(grad_outputs)
    pairs = [(y, g) for y, g in zip(outputs, starts, strict=True) if y is not None and y.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [y for y, _ in pairs], inputs, [g for _, g in pairs], allow_unused=True, create_graph=create_graph,
        retain_graph=retain_graph, is_grads_batched=batched,
    )  # fmt: skip


# ---------------------------------------------------------------- products with vectors


def vjp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return func(*inputs), and the product of `v` and the Jacobian, in the shapes of `inputs`.

    `v` has the shapes of the results. It may be omitted if `func` returns a single tensor with one element.
    """
    with ts.enable_grad():
        is_tuple, xs = _as_checked_tuple(inputs, "inputs", "vjp")
        xs = _detach_inputs(xs, create_graph, True)
        is_output_tuple, ys = _results(func, xs, "vjp")
        _check_attached(ys, "outputs", strict)
        vs = None
        if v is not None:
            _, vs = _as_checked_tuple(v, "v", "vjp")
            vs = _detach_inputs(vs, create_graph, False)
            _check_vector(vs, ys, is_output_tuple)
        elif len(ys) != 1 or ys[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with "
                "a single element."
            )
    with ts.set_grad_enabled(create_graph or ts.is_grad_enabled()):
        product = _fill_missing(
            _gradients(ys, xs, vs, create_graph=create_graph), xs, strict, create_graph, "back"
        )
    ys, product = _detach_results(ys, create_graph), _detach_results(product, create_graph)
    return _one_or_all(ys, is_output_tuple), _one_or_all(product, is_tuple)


def _vector_of_inputs(v: Any, xs: Tensors, is_tuple: bool, create_graph: bool, name: str) -> Tensors | None:
    if v is not None:
        _, vs = _as_checked_tuple(v, "v", name)
        vs = _detach_inputs(vs, create_graph, False)
        _check_vector(vs, xs, is_tuple)
        return vs
    if len(xs) != 1 or xs[0].numel() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor "
            "with a single element."
        )
    return None


def jvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return func(*inputs), and the product of the Jacobian and `v`, in the shapes of the results.

    `v` has the shapes of `inputs`. It may be omitted if the only input is a tensor with one element. The
    product is computed by two backward passes, because `create_graph` and `strict` require them.
    `ts.func.jvp` needs no backward pass and is faster.
    """
    with ts.enable_grad():
        is_tuple, xs = _as_checked_tuple(inputs, "inputs", "jvp")
        xs = _detach_inputs(xs, create_graph, True)
        vs = _vector_of_inputs(v, xs, is_tuple, create_graph, "jvp")
        is_output_tuple, ys = _results(func, xs, "jvp")
        _check_attached(ys, "outputs", strict)
        us = tuple(ts.zeros_like(y, requires_grad=True) for y in ys)
        first = _gradients(ys, xs, us, create_graph=True)
        _check_attached(first, "grad_inputs", strict)
    with ts.enable_grad() if create_graph else nullcontext():
        product = _fill_missing(
            _gradients(first, us, vs, create_graph=create_graph), ys, strict, create_graph, "back_trick"
        )
    ys, product = _detach_results(ys, create_graph), _detach_results(product, create_graph)
    return _one_or_all(ys, is_output_tuple), _one_or_all(product, is_output_tuple)


def _first_derivative_of_scalar(
    func: Function, inputs: Any, v: Any, create_graph: bool, strict: bool, name: str
) -> tuple[bool, Tensors, Tensors | None, Tensors, tuple[Tensor | None, ...]]:
    """Return whether `inputs` is a tuple, the inputs, the vector `v`, the scalar result, and its gradient."""
    is_tuple, xs = _as_checked_tuple(inputs, "inputs", name)
    xs = _detach_inputs(xs, create_graph, True)
    vs = _vector_of_inputs(v, xs, is_tuple, create_graph, name)
    is_output_tuple, ys = _results(func, xs, name)
    _check_attached(ys, "outputs", strict)
    if is_output_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if ys[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    first = _gradients(ys, xs, create_graph=True)
    _check_attached(first, "jacobian", strict)
    return is_tuple, xs, vs, ys, first


def vhp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return the scalar func(*inputs), and the product of `v` and the Hessian."""
    with ts.enable_grad():
        is_tuple, xs, vs, ys, first = _first_derivative_of_scalar(
            func, inputs, v, create_graph, strict, "vhp"
        )
    with ts.set_grad_enabled(create_graph or ts.is_grad_enabled()):
        product = _fill_missing(
            _gradients(first, xs, vs, create_graph=create_graph), xs, strict, create_graph, "double_back"
        )
    return _detach_results(ys, create_graph)[0], _one_or_all(_detach_results(product, create_graph), is_tuple)


def hvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return the scalar func(*inputs), and the product of the Hessian and `v`.

    If the second derivatives are continuous, the Hessian is symmetric: `vhp` then returns the same product
    faster.
    """
    with ts.enable_grad():
        is_tuple, xs, vs, ys, first = _first_derivative_of_scalar(
            func, inputs, v, create_graph, strict, "hvp"
        )
        us = tuple(ts.zeros_like(x, requires_grad=True) for x in xs)
        second = _gradients(first, xs, us, create_graph=True)
        _check_attached(first, "hessian", strict)
    with ts.set_grad_enabled(create_graph or ts.is_grad_enabled()):
        product = _fill_missing(
            _gradients(second, us, vs, create_graph=create_graph),
            xs,
            strict,
            create_graph,
            "double_back_trick",
        )
    return _detach_results(ys, create_graph)[0], _one_or_all(_detach_results(product, create_graph), is_tuple)


# ---------------------------------------------------------------- Jacobian and Hessian matrices


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian of func(*inputs) with respect to each input.

    The shape of each Jacobian is the shape of the result followed by the shape of the input.

    vectorize  compute all rows in one pass
    strategy   "reverse-mode" (by rows), or "forward-mode" (by columns), which requires `vectorize`
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has '
            "more outputs "
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use '
            '"reverse-mode".'
        )
    if strategy == "forward-mode":
        return _by_columns(func, inputs, create_graph, strict, vectorize)
    with ts.enable_grad():
        is_tuple, xs = _as_checked_tuple(inputs, "inputs", "jacobian")
        xs = _detach_inputs(xs, create_graph, True)
        is_output_tuple, ys = _results(func, xs, "jacobian")
        _check_attached(ys, "outputs", strict)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                "supported together. Please either set `strict=False` or `vectorize=False`."
            )
        rows = _all_rows(ys, xs, create_graph) if vectorize else _each_row(ys, xs, create_graph, strict)
        return _nested(_detach_results(rows, create_graph), is_output_tuple, is_tuple)


def _nested(rows: Any, is_output_tuple: bool, is_tuple: bool) -> Any:
    return _one_or_all(tuple(_one_or_all(row, is_tuple) for row in rows), is_output_tuple)


def _each_row(ys: Tensors, xs: Tensors, create_graph: bool, strict: bool) -> tuple[Tensors, ...]:
    matrices = []
    for i, y in enumerate(ys):
        rows: list[list[Tensor]] = [[] for _ in xs]
        for k in range(y.numel()):
            gradients = _gradients((y.reshape(-1)[k],), xs, retain_graph=True, create_graph=create_graph)
            for j, (row, g, x) in enumerate(zip(rows, gradients, xs, strict=True)):
                if strict and g is None:
                    raise RuntimeError(
                        f"Output {i} of the user-provided function is independent of input {j}. This is "
                        "not allowed in strict mode."
                    )
                if strict and create_graph and g is not None and not g.requires_grad:
                    raise RuntimeError(_OF_FIRST.format(i=i) + " when create_graph=True.")
                row.append(ts.zeros_like(x) if g is None else g)
        matrices.append(tuple(
            ts.stack(row, 0).view(y.size() + x.size()) for row, x in zip(rows, xs, strict=True)
        ))  # fmt: skip
    return tuple(matrices)


def _all_rows(ys: Tensors, xs: Tensors, create_graph: bool) -> tuple[Tensors, ...]:
    counts = [y.numel() for y in ys]
    flat = tuple(y.reshape(-1) for y in ys)
    gradients = _gradients(flat, xs, _units(ys), create_graph=create_graph, batched=True)
    by_input = []
    for g, x in zip(gradients, xs, strict=True):
        if g is None:
            g = ts.zeros_like(x).expand((sum(counts), *x.shape))
        blocks = zip(g.split(counts, 0), ys, strict=True)
        by_input.append(tuple(block.reshape(y.size() + x.size()) for block, y in blocks))
    return tuple(zip(*by_input, strict=True))


def _units(tensors: Tensors) -> Tensors:
    """Return an identity matrix with one row and one column for each element of `tensors`.

    The columns are split into one block for each tensor.
    """
    total, first_row, matrices = sum(x.numel() for x in tensors), 0, []
    for x in tensors:
        matrix = x.detach().new_zeros(total, x.numel())
        matrix.diagonal(-first_row).fill_(1)
        first_row += x.numel()
        matrices.append(matrix)
    return tuple(matrices)


def _by_columns(func: Function, inputs: Any, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    if create_graph:
        raise NotImplementedError(
            'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not '
            "supported "
            'together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not '
            "supported together "
            '(yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    is_tuple, xs = _as_checked_tuple(inputs, "inputs", "jacobian")
    shapes: list[Any] = []
    is_output_tuple = False

    def tangents(*steps: Tensor) -> Tensors:
        nonlocal is_output_tuple
        with forward_ad.dual_level():
            duals = tuple(forward_ad.make_dual(x, step.view_as(x)) for x, step in zip(xs, steps, strict=True))
            is_output_tuple, ys = _as_checked_tuple(func(*duals), "outputs", "None")
            pairs = [forward_ad.unpack_dual(y) for y in ys]
            shapes[:] = [p.shape for p, _ in pairs]
            return tuple(ts.zeros_like(p) if t is None else t for p, t in pairs)

    counts = [x.numel() for x in xs]
    with opened_batch(sum(counts)) as level:
        columns = [unbatched(level, t) for t in tangents(*(batched(level, u) for u in _units(xs)))]
    rows: Any = [
        [
            block.permute(*range(1, block.dim()), 0).reshape((*shape, *x.shape))
            for block, x in zip(column.split(counts, 0), xs, strict=True)
        ]
        for column, shape in zip(columns, shapes, strict=True)
    ]
    if not is_tuple:
        rows = tuple(row[0] for row in rows)
    return rows if is_output_tuple else rows[0]


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the Hessian of a scalar func(*inputs) for all pairs of elements of `inputs`.

    `vectorize` and `outer_jacobian_strategy` apply to the Jacobian of the gradient (see `jacobian`).
    """
    is_tuple, xs = _as_checked_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar_result(*arguments: Tensor) -> Tensor:
        is_output_tuple, ys = _results(func, arguments, "hessian")
        _check_attached(ys, "outputs", strict)
        if is_output_tuple:
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if ys[0].numel() != 1:
            raise RuntimeError(
                "The Tensor returned by the function given to hessian should contain a single element"
            )
        return ys[0].squeeze()

    def gradient(*arguments: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            arguments = tuple(x.requires_grad_(True) for x in arguments)
        gradients = jacobian(scalar_result, arguments, create_graph=True)
        _check_attached(gradients, "jacobian", strict)
        return gradients

    blocks = jacobian(
        gradient,
        xs,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return blocks if is_tuple else blocks[0][0]


# Private helpers that optimizer packages import from PyTorch, with PyTorch's names.


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> tuple[bool, Tensors]:
    """Return (True if `inp` is a tuple else False, `inp` as a tuple).

    If `arg_name` and `fn_name` are given, raise TypeError for an item that is not a tensor.
    """
    if arg_name is None and fn_name is None:
        return isinstance(inp, tuple), inp if isinstance(inp, tuple) else (inp,)
    is_tuple = isinstance(inp, tuple)
    items = inp if is_tuple else (inp,)
    for i, item in enumerate(items):
        if not isinstance(item, Tensor):
            reason = f"the value at index {i} has" if is_tuple else f"the given {arg_name} has"
            raise TypeError(
                f"The {arg_name} given to {fn_name} must be either a Tensor or a tuple of Tensors but "
                f"{reason} type {type(item)}."
            )
    return is_tuple, items


def _tuple_postprocess(res: Any, to_unpack: Any) -> Any:
    """Undo `_as_tuple`: replace a one-item tuple by its item at each level where `to_unpack` is False."""
    if isinstance(to_unpack, tuple):
        if not to_unpack[1]:
            res = tuple(item[0] for item in res)
        return res if to_unpack[0] else res[0]
    return res if to_unpack else res[0]


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Return the gradients, detached unless `create_graph` is True."""
    return _detach_results(inputs, create_graph)


def _construct_standard_basis_for(tensors: Tensors, tensor_numels: tuple[int, ...]) -> Tensors:
    """Return an identity matrix with a row per element of all tensors, as one block of columns per tensor."""
    if len(tensors) != len(tensor_numels) or not tensors:
        raise AssertionError("as many tensors as numbers of elements are needed, and at least one")
    return _units(tensors)
