"""Numerical gradient checks, which compare gradients with finite differences.

The example checks the first and second derivatives of sin:

>>> x = ts.rand(3, dtype=ts.float64, requires_grad=True)
>>> gradcheck(ts.sin, (x,)), gradgradcheck(ts.sin, (x,))
(True, True)

The real and the imaginary part of a complex result are checked separately. In forward mode, the parts of a
complex argument are also checked separately. `fast_mode` compares the derivatives along one random direction
instead of all elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.errors import GradcheckError

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Function = Callable[..., Any]


def _iter_tensors(x: Any, only_requiring_grad: bool = False) -> Iterator[Tensor]:
    """Yield the tensors in `x`, a tensor or nested iterables. Other objects are skipped.

    With `only_requiring_grad`, yield only tensors that require grad.
    """
    if isinstance(x, Tensor):
        if x.requires_grad or not only_requiring_grad:
            yield x
    elif isinstance(x, Iterable) and not isinstance(x, str):
        for item in x:
            yield from _iter_tensors(item, only_requiring_grad)


def gradcheck(
    func: Function,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of func(*inputs) with finite differences. Return True if they match.

    eps                         step of the differences
    atol, rtol                  tolerances
    raise_exception             raise GradcheckError with the cause, instead of returning False
    nondet_tol                  maximum difference between the gradients of two identical backward passes
    check_undefined_grad        check that undefined gradients and tangents act as zeros
    check_grad_dtypes           check that gradients have the dtypes of the arguments
    check_batched_grad          check backward passes under `vmap`
    check_batched_forward_grad  check tangents under `vmap`
    check_forward_ad            check tangents of forward mode
    check_backward_ad           check gradients of backward passes
    fast_mode                   compare along a random direction instead of every element
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    from ts.autograd.gradcheck_impl import Options, check

    options = Options(
        eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad,
        check_batched_forward_grad, check_forward_ad, check_backward_ad, fast_mode, bool(masked),
    )  # fmt: skip
    try:
        check(func, inputs, options)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _get_numerical_jacobian(
    fn: Function,
    inputs: Any,
    outputs: Any = None,
    target: Any = None,
    eps: float = 1e-3,
    is_forward_ad: bool = False,
) -> list[tuple[Any, ...]]:
    """Return the numerical Jacobians of fn(*inputs), a list with one matrix per result for each target.

    target   tensors by which `fn` is differentiated if they require grad: `inputs` (default), or tensors
             that `fn` captures
    outputs  ignored
    """
    from ts.autograd.numerical_jacobian import as_tuple, by_differences, differentiable_indices

    arguments = as_tuple(inputs)
    targets = arguments if target is None else as_tuple(target)
    return [
        tuple(by_differences(lambda *_: fn(*arguments), targets, i, eps, forward=is_forward_ad))
        for i in differentiable_indices(targets)
    ]


def gradgradcheck(
    func: Function,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare second-order gradients with finite differences of first-order gradients, as `gradcheck` does.

    grad_outputs                 gradients of the results for the first backward pass (default: random)
    gen_non_contig_grad_outputs  generate non-contiguous `grad_outputs`
    check_fwd_over_rev           check tangents of the first backward pass
    check_rev_over_rev           check a backward pass of the first backward pass
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    from ts.autograd.gradcheck_impl import first_gradients

    gradients, arguments = first_gradients(func, inputs, grad_outputs, gen_non_contig_grad_outputs)
    return gradcheck(
        gradients, arguments, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, fast_mode=fast_mode, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, masked=masked,
    )  # fmt: skip
