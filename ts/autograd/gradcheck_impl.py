"""Comparison of analytical and numerical gradients for `gradcheck`.

Input: a function, its arguments and `Options`. Output: a GradcheckError if the gradients differ.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import ts
from ts import Tensor
from ts._core.autograd.backward import grad
from ts._core.dispatch_layers.batched_tensor import batched, opened_batch, unbatched
from ts.autograd import forward_ad
from ts.autograd.numerical_jacobian import (
    Function,
    as_tuple,
    by_differences,
    by_tangents,
    by_tape,
    differentiable,
    differentiable_indices,
    has_tangents,
)  # fmt: skip
from ts.errors import GradcheckError


class Options(NamedTuple):
    """Options of `gradcheck`."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_batched_forward_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    fast_mode: bool
    masked: bool


class RealFunction(NamedTuple):
    """Checked function, or a variant of it that has only real arguments or only real results.

    The variant replaces the complex arguments or results by their real parts, or by their imaginary parts.
    """

    function: Function
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    forward: bool
    # index of a complex argument (if `forward`) or of a complex result -> prefix of error messages about it
    prefix: dict[int, str]

    @property
    def results(self) -> tuple[Tensor, ...]:
        """Results that require grad."""
        return differentiable(self.outputs)


def first_gradients(
    func: Function, inputs: Any, grad_outputs: Any, non_contiguous: bool
) -> tuple[Function, tuple[Any, ...]]:
    """Return (function that computes the gradients of `func`, tuple of arguments for this function).

    The arguments are `inputs`, followed by `grad_outputs`. If `grad_outputs` is None, random gradients are
    used.
    """
    first = as_tuple(inputs)
    if grad_outputs is None:
        outputs = differentiable(func(*first))
        if not outputs:
            raise ValueError("gradgradcheck expects at least one output that requires gradient")
        output_gradients = tuple(_random_gradient(y, non_contiguous) for y in outputs)
    else:
        output_gradients = as_tuple(grad_outputs)
    n = len(first)
    input_indices, gradient_indices = differentiable_indices(first), differentiable_indices(output_gradients)

    def gradients(*arguments: Any) -> tuple[Tensor, ...]:
        xs, gs = arguments[:n], arguments[n:]
        for x in (*(xs[i] for i in input_indices), *(gs[i] for i in gradient_indices)):
            x.requires_grad_()
        results = differentiable(func(*xs))
        input_gradients = grad(
            results, [xs[i] for i in input_indices], gs, create_graph=True, allow_unused=True
        )
        return tuple(g for g in input_gradients if g is not None)

    return gradients, first + output_gradients


def _random_gradient(y: Tensor, non_contiguous: bool) -> Tensor:
    shape = [*y.shape, 2] if non_contiguous and y.numel() > 1 else list(y.shape)
    gradient = ts.rand(shape, dtype=y.dtype, device=y.device) * 2 - 1
    if y.is_complex():
        gradient = gradient - 1j * ts.rand(shape, dtype=y.dtype, device=y.device)
    return (gradient[..., 0] if non_contiguous and y.numel() > 1 else gradient).detach().requires_grad_()


# ---------------------------------------------------------------- comparison of all elements


def check(func: Function, arguments: Any, options: Options) -> None:
    """Compare analytical and numerical gradients. Raise GradcheckError if they differ."""
    inputs = as_tuple(arguments)
    _check_inputs(inputs)
    outputs = func(*inputs)
    if options.check_backward_ad:
        for real_function in _real_results(func, inputs, as_tuple(outputs)):
            _compare(real_function, options)
    if options.check_forward_ad:
        for real_function in _real_arguments(func, inputs, as_tuple(outputs)):
            _compare(real_function, options)
            if options.check_undefined_grad:
                _check_absent_tangents(real_function)
    if options.check_batched_forward_grad:
        _check_batched_tangents(func, inputs)
    if not options.check_backward_ad:
        return
    results = differentiable(outputs)
    if options.check_batched_grad:
        for i, y in enumerate(results):
            _check_batched(inputs, y, i)
    _check_zero(results, inputs, options.masked)
    if options.check_undefined_grad:
        _check_absent(func, inputs)


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    for i in differentiable_indices(inputs):
        x = inputs[i]
        if x.dtype not in (ts.float64, ts.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision floating point or "
                "complex. ",
                stacklevel=4,
            )
        if x.numel() and not all(step > 0 or n <= 1 for step, n in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if not differentiable_indices(inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


def _real_results(func: Function, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> list[RealFunction]:
    """Return two variants of a function with complex results: for the imaginary and for the real parts.

    A variant returns only these parts of the results. A function without complex results is returned
    unchanged.
    """
    if not any(isinstance(y, Tensor) and y.is_complex() for y in outputs):
        return [RealFunction(func, inputs, outputs, False, {})]
    complex_indices = [i for i, y in enumerate(differentiable(outputs)) if y.is_complex()]
    real_functions = []
    for name in ("imag", "real"):

        def real_results(*arguments: Any, name: str = name) -> tuple[Any, ...]:
            return tuple(getattr(y, name) if y.is_complex() else y for y in as_tuple(func(*arguments)))

        real_functions.append(
            RealFunction(
                real_results,
                inputs,
                real_results(*inputs),
                False,
                _prefixes(name, "outputs", complex_indices),
            )
        )
    return real_functions


def _real_arguments(func: Function, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> list[RealFunction]:
    """Return two variants of a function with complex arguments: of the imaginary and of the real parts.

    The other part of each complex argument keeps its value in `inputs`. A function without complex arguments
    is returned unchanged.
    """
    complex_indices = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.is_complex()]
    if not complex_indices:
        return [RealFunction(func, inputs, outputs, True, {})]
    real_functions = []
    for name in ("imag", "real"):

        def real_results(*arguments: Any, name: str = name) -> tuple[Any, ...]:
            complex_arguments = list(arguments)
            for i in complex_indices:
                original, x = inputs[i], complex_arguments[i]
                complex_arguments[i] = original.real + x * 1j if name == "imag" else x + original.imag * 1j
            return as_tuple(func(*complex_arguments))

        real = tuple(getattr(x, name) if i in complex_indices else x for i, x in enumerate(inputs))
        real_functions.append(
            RealFunction(
                real_results, real, real_results(*real), True, _prefixes(name, "inputs", complex_indices)
            )
        )
    return real_functions


def _prefixes(name: str, subject: str, indices: list[int]) -> dict[int, str]:
    word = "imaginary" if name == "imag" else "real"
    return dict.fromkeys(indices, f"While considering the {word} part of complex {subject} only, ")


def _compare(real_function: RealFunction, options: Options) -> None:
    if not real_function.results:
        _check_flat(real_function, options)
    elif options.fast_mode:
        _compare_fast(real_function, options)
    else:
        _compare_all(real_function, options)


def _check_flat(real_function: RealFunction, options: Options) -> None:
    for i in differentiable_indices(real_function.inputs):
        for matrix in by_differences(
            real_function.function, real_function.inputs, i, options.eps, forward=real_function.forward
        ):
            if (matrix != 0).any():
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _compare_all(real_function: RealFunction, options: Options) -> None:
    numerical = [
        by_differences(
            real_function.function, real_function.inputs, i, options.eps, forward=real_function.forward
        )
        for i in differentiable_indices(real_function.inputs)
    ]
    # transposed: one list for each result that requires grad, with one Jacobian per argument
    by_result = [
        [input_jacobians[k] for input_jacobians in numerical]
        for k, y in enumerate(real_function.results)
        if y.requires_grad
    ]
    if real_function.forward:
        tangents = _by_tangents(real_function, None, options)
        analytical = [list(column) for column in zip(*tangents, strict=True)]
    else:
        analytical = [_by_tape(real_function, y, options, None) for y in real_function.results]
    for k, (numerical_row, analytical_row) in enumerate(zip(by_result, analytical, strict=False)):
        for i, (n, a) in enumerate(zip(numerical_row, analytical_row, strict=True)):
            if not _close(a, n, options.rtol, options.atol):
                raise GradcheckError(_mismatch(real_function, a, n, k, i))


def _by_tangents(
    real_function: RealFunction, directions: list[Any] | None, options: Options
) -> list[list[Tensor]]:
    try:
        return by_tangents(
            real_function.function, real_function.inputs, directions, options.check_grad_dtypes
        )
    except TypeError as error:
        if "Forward AD gradient" not in str(error):
            raise
        raise GradcheckError(str(error)) from None


def _by_tape(
    real_function: RealFunction, y: Tensor, options: Options, direction: Tensor | None
) -> list[Tensor]:
    rows, repeated = (by_tape(y, real_function.inputs, direction) for _ in range(2))
    if not rows.dtypes_hold and options.check_grad_dtypes:
        raise GradcheckError("Gradient has dtype mismatch")
    if not rows.sizes_hold:
        raise GradcheckError("Analytical gradient has incorrect size")
    for a, b in zip(rows.matrices, repeated.matrices, strict=True):
        if a.numel() and (a - b).abs().max() > options.nondet_tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                "times gives different values, although analytical gradient matches numerical gradient."
                f"The tolerance for nondeterminism was {options.nondet_tol}."
            )
    return rows.matrices


def _close(a: Tensor, b: Tensor, rtol: float, atol: float) -> bool:
    dtype = ts.promote_types(a.dtype, b.dtype)
    return bool(ts.allclose(a.to(dtype), b.to(dtype), rtol, atol))


def _mismatch(real_function: RealFunction, a: Tensor, n: Tensor, result: int, argument: int) -> str:
    prefix = real_function.prefix.get(argument if real_function.forward else result, "")
    mode = "computed with forward mode " if real_function.forward else ""
    return (
        f"{prefix}Jacobian {mode}mismatch for output {result} with respect to input {argument},\n"
        f"numerical:{n}\nanalytical:{a}\n"
    )


# ---------------------------------------------------------------- comparison along one random direction


# a separate generator, so that the check does not change the random numbers of `ts`
_draw: Final = random.Random().random


def _direction(x: Tensor, real: bool) -> Tensor:
    dtype = x.real.dtype if real and x.is_complex() else x.dtype
    samples = ts.tensor([_draw() for _ in range(x.numel())], dtype=ts.float64).to(dtype)
    return samples / samples.norm()


def _compare_fast(real_function: RealFunction, options: Options) -> None:
    input_indices = differentiable_indices(real_function.inputs)
    xs = [real_function.inputs[i] for i in input_indices]
    us: list[Any] = [
        (_direction(x, True), _direction(x, True)) if x.is_complex() else _direction(x, True) for x in xs
    ]
    vs = None if real_function.forward else [_direction(y.detach(), False) for y in real_function.results]
    numerical = [
        by_differences(
            real_function.function, real_function.inputs, i, options.eps, u, forward=real_function.forward
        )
        for i, u in zip(input_indices, us, strict=True)
    ]
    result_indices = [
        k
        for k, y in enumerate(real_function.results)
        if (has_tangents(y) if real_function.forward else y.requires_grad)
    ]
    if vs is None:
        analytical = _by_tangents(real_function, us, options)
    else:
        by_result = [
            _by_tape(real_function, y, options, v) for y, v in zip(real_function.results, vs, strict=True)
        ]
        analytical = [
            [_projected(result_row[i].reshape(-1), u) for result_row in by_result] for i, u in enumerate(us)
        ]
    for i, (numerical_row, analytical_row) in enumerate(zip(numerical, analytical, strict=True)):
        for k, a in enumerate(analytical_row):
            n = numerical_row[result_indices[k]]
            if vs is not None:
                n = (vs[k] * n).sum()
            atol = options.atol * _weight(us[i]) * (1.0 if vs is None else float(vs[k].sum()))
            if not _close(a, n, options.rtol, atol):
                raise GradcheckError(
                    _mismatch(real_function, a, n, k, i)
                    + _in_detail(real_function, options, i, k, result_indices[k])
                )


def _weight(u: Any) -> float:
    return float(u[0].sum()) + float(u[1].sum()) if isinstance(u, tuple) else float(u.sum())


def _projected(g: Tensor, u: Tensor | tuple[Tensor, Tensor]) -> Tensor:
    if isinstance(u, tuple):
        return (g.real * u[0]).sum() + 1j * (g.imag * u[1]).sum()
    return (g * u).sum()


def _in_detail(real_function: RealFunction, options: Options, i: int, result: int, result_index: int) -> str:
    """Return an error text with the complete numerical and analytical matrices that differ."""
    argument = differentiable_indices(real_function.inputs)[i]
    n = by_differences(
        real_function.function, real_function.inputs, argument, options.eps, forward=real_function.forward
    )[result_index]
    if real_function.forward:
        a = by_tangents(real_function.function, real_function.inputs, None, False)[i][result]
    else:
        a = by_tape(real_function.results[result], real_function.inputs).matrices[i]
    message = (
        "\nThese were compared along one direction (fast mode). Element by element they are\n\n"
        f"Numerical:\n {n}\nAnalytical:\n{a}\n\n"
        f"The max per-element difference (slow mode) is: {(n - a).abs().max()}.\n"
    )
    if _close(a, n, options.rtol, options.atol):
        message += "Fast gradcheck failed but element-wise differences are small: fast_mode=False would pass."
    return message


# ---------------------------------------------------------------- undefined gradients


def _check_zero(results: tuple[Tensor, ...], inputs: tuple[Any, ...], masked: bool) -> None:
    """Check that zero gradients of results give zero gradients of arguments, with equal dtype and shape."""
    if not results:
        return
    leaves = [inputs[i] for i in differentiable_indices(inputs)]
    gradients = grad(results, leaves, [ts.zeros_like(y) for y in results], allow_unused=True)
    for x, g in zip(leaves, gradients, strict=True):
        if g is None:
            continue
        if not (ts.allclose(g, ts.zeros_like(g)) if masked else (g == 0).all()):
            raise GradcheckError("backward not multiplied by grad_output")
        for is_equal, property_name in (
            (g.dtype is x.dtype, "type"), (g.device == x.device, "device"), (g.shape == x.shape, "size"),
        ):  # fmt: skip
            if not is_equal:
                raise GradcheckError(f"grad is incorrect {property_name}")


def _check_absent(func: Function, inputs: tuple[Any, ...]) -> None:
    """Check that undefined gradients act as zeros: first for all results, then for one result at a time."""
    leaves = [inputs[i] for i in differentiable_indices(inputs)]
    n = len(differentiable(func(*inputs)))
    absent: list[Callable[[int], bool]] = [lambda k: True]
    if n > 1:
        absent += [lambda k, one=one: k == one for one in range(n)]  # type: ignore[misc]
    for is_absent in absent:
        results = differentiable(func(*inputs))
        used = [y for k, y in enumerate(results) if not is_absent(k)]
        # `grad` needs an output, so use outputs whose backward function returns None for each result
        if not used:
            used = [_NoGradient.of(y) for y in results]
        if not used:
            continue
        try:
            gradients = grad(used, leaves, [ts.zeros_like(y) for y in used], allow_unused=True)
        except RuntimeError as error:
            raise GradcheckError(
                'Expected backward function to handle undefined output grads. Please look at "Notes about '
                'undefined output gradients" in "tools/autograd/derivatives.yaml"'
            ) from error
        if any(g is not None and not (g == 0).all() for g in gradients):
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or "
                "zero. "
                'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            )


class _NoGradient:
    """Identity function whose backward returns None as the gradient."""

    @staticmethod
    def of(y: Tensor) -> Tensor:
        view = y.view_as(y)
        assert view.grad_fn is not None
        view.grad_fn.register_hook(lambda grad_inputs, grad_outputs: tuple(None for _ in grad_inputs))
        return view


def _check_absent_tangents(real_function: RealFunction) -> None:
    """Check that a missing tangent has the same effect as a zero tangent."""
    input_indices = differentiable_indices(real_function.inputs)
    us = [
        _direction(real_function.inputs[i], True).reshape(real_function.inputs[i].shape)
        for i in input_indices
    ]
    with forward_ad.dual_level():

        def run(absent: int, zeros: bool) -> list[Tensor | None]:
            arguments = list(real_function.inputs)
            for i, u in zip(input_indices, us, strict=True):
                x = real_function.inputs[i].detach()
                if i != absent:
                    arguments[i] = forward_ad.make_dual(x, u)
                else:
                    arguments[i] = forward_ad.make_dual(x, ts.zeros_like(x)) if zeros else x
            outputs = [y for y in as_tuple(real_function.function(*arguments)) if has_tangents(y)]
            return [forward_ad.unpack_dual(y).tangent for y in outputs]

        for i in input_indices:
            for k, (a, b) in enumerate(zip(run(i, True), run(i, False), strict=True)):
                if a is not None and b is not None and not ts.allclose(a, b):
                    raise GradcheckError(
                        "Mismatch in tangent values for output with index: ", k, " when input: ",
                        real_function.inputs[i], " has an undefined tangent value. ", " Got: ", a,
                        " but expected: ", b,
                    )  # fmt: skip


# ---------------------------------------------------------------- batched gradients

_FAILED: Final = "gradcheck or gradgradcheck failed while testing batched gradient computation."
_FAILED_FORWARD: Final = "gradcheck failed while testing batched gradient computation with forward-mode AD."


def _check_batched(inputs: tuple[Any, ...], y: Tensor, result_index: int) -> None:
    leaves = [inputs[i] for i in differentiable_indices(inputs)]

    def run_backward(g: Tensor, batched: bool) -> list[Tensor | None]:
        return list(grad(y, leaves, g, retain_graph=True, allow_unused=True, is_grads_batched=batched))

    grad_outputs = [ts.randn_like(y) for _ in range(2)]
    expected = [run_backward(g, False) for g in grad_outputs]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="There is a performance drop")
        try:
            batched_gradients = run_backward(ts.stack(grad_outputs), True)
        except RuntimeError as error:
            raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{_FAILED}") from error
    for i, (actual, pair) in enumerate(zip(batched_gradients, zip(*expected, strict=True), strict=True)):
        _compare_batched(actual, pair, result_index, i, _FAILED)


def _compare_batched(actual: Tensor | None, pair: Any, result: int, argument: int, advice: str) -> None:
    if actual is None and pair[0] is None:
        return
    expected = ts.stack(list(pair))
    if actual is None or not ts.allclose(actual, expected):
        raise GradcheckError(
            f"For output {result} and input {argument}:\n\n{advice}\n\n"
            f"Got:\n{actual}\n\nExpected:\n{expected}"
        )


def _check_batched_tangents(func: Function, inputs: tuple[Any, ...]) -> None:
    for i in differentiable_indices(inputs):

        def tangents(direction: Tensor, i: int = i) -> tuple[Tensor, ...]:
            with forward_ad.dual_level():
                arguments = [x.detach() if isinstance(x, Tensor) else x for x in inputs]
                arguments[i] = forward_ad.make_dual(arguments[i], direction)
                pairs = [forward_ad.unpack_dual(y) for y in as_tuple(func(*arguments)) if y is not None]
                return tuple(ts.zeros_like(p) if t is None else t for p, t in pairs)

        directions = [ts.randn_like(inputs[i]) for _ in range(2)]
        expected = [tangents(d) for d in directions]
        try:
            with opened_batch(len(directions)) as level:
                batched_tangents = [
                    unbatched(level, t) for t in tangents(batched(level, ts.stack(directions)))
                ]
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\n{_FAILED_FORWARD}"
            ) from error
        for k, (actual, pair) in enumerate(zip(batched_tangents, zip(*expected, strict=True), strict=True)):
            _compare_batched(actual, pair, k, k, _FAILED_FORWARD)
