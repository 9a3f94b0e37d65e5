"""Derivative formulas on sample arguments: decompositions equal kernels, gradients have the inputs' types."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import ts
from ts import Tensor
from ts.autograd import gradcheck
from tests import samples
from ts.ops import registry
from ts.ops.derivatives.formula_registry import derivative_of

RECORDS = [r for r in registry.records() if not r.variant and (row := derivative_of(r)) and not row.reason]
COMPOSED = [r for r in RECORDS if derivative_of(r).decomposition]
DTYPES = (ts.float64, ts.float32, ts.bfloat16, ts.complex128)
# `_sparse_mm` multiplies the dense samples without a gradient, as in PyTorch
NO_DERIVATIVE_ERRORS = (
    "is not implemented", "not implemented for", "not supported for", "doesn't support", "Could not run 'aten::_sparse_addmm'",
)  # fmt: skip
# their samples have other moments than the input's, which the decomposition recomputes
OTHER_MOMENTS = (
    "native_layer_norm_backward", "native_group_norm_backward", "native_batch_norm_backward", "batch_norm_backward",
    "_weight_norm_interface_backward",
)  # fmt: skip
# the gradients of their samples do not have the shape of the result
OTHER_GRADIENT_SHAPES = ("glu_backward", "multi_margin_loss_backward", "multilabel_margin_loss_backward")


def short(record):
    return record.key.removeprefix("aten::")


def dense(x):
    """Return a dense tensor with the elements of a strided or sparse tensor."""
    return x if x.layout is ts.strided else x.to_dense()


def leaves(x):
    """Return the tensors of an argument or result whose dtype is differentiable, in order."""
    if isinstance(x, ts.Tensor):
        return [x] if x.is_floating_point() or x.is_complex() else []
    return [y for z in x for y in leaves(z)] if isinstance(x, (tuple, list)) else []


def called(record, args):
    ts.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return samples.operator(record)(*args)


def arguments_with_gradients(record, args):
    """Return the arguments that may require gradients: all except written ones."""
    parameters = samples.operator(record).signature.parameters
    return leaves([x for p, x in zip(parameters, args, strict=True) if not p.written])


def accepted_arguments(record):
    """Yield (dtype, arguments) for each dtype that a record accepts."""
    for dtype in DTYPES:
        args = samples.arguments(record, dtype)
        if args is None or not leaves(args):
            continue
        try:
            called(record, samples.arguments(record, dtype))
        except samples.REJECTION_ERRORS:
            continue
        yield dtype, args


@pytest.mark.parametrize("record", [r for r in COMPOSED if short(r) not in OTHER_MOMENTS], ids=short)
def test_formula_parts_equal_the_kernel(record):
    for dtype, args in accepted_arguments(record):
        wanted = leaves(called(record, samples.arguments(record, dtype)))
        for x in arguments_with_gradients(record, args):
            x.requires_grad_()
        try:
            found = leaves(called(record, args))
        except samples.REJECTION_ERRORS as error:
            assert any(text in str(error) for text in NO_DERIVATIVE_ERRORS), error
            continue
        tolerance = 0.05 if dtype is ts.bfloat16 else 1e-4 if dtype is ts.float32 else 1e-9
        assert [(x.shape, x.dtype) for x in found] == [(x.shape, x.dtype) for x in wanted], dtype
        for a, b in zip(found, wanted, strict=True):
            a, b = (x.detach().to(ts.complex128).resolve_conj().numpy() for x in (a, b))
            assert np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True), dtype


@pytest.mark.parametrize("record", [r for r in RECORDS if short(r) not in OTHER_GRADIENT_SHAPES], ids=short)
def test_gradients_have_the_shape_and_dtype_of_their_tensors(record):
    for dtype, args in accepted_arguments(record):
        inputs = arguments_with_gradients(record, args)
        for x in inputs:
            x.requires_grad_()
        try:
            results = [dense(x) for x in leaves(called(record, args)) if x.requires_grad]
            if not results:
                continue
            found = ts.autograd.grad(results, inputs, [ts.ones_like(x) for x in results], allow_unused=True)
        except samples.REJECTION_ERRORS as error:
            assert any(text in str(error) for text in NO_DERIVATIVE_ERRORS), error
            continue
        for x, gradient in zip(inputs, found, strict=True):
            if gradient is not None:
                assert gradient.shape == x.shape, dtype
                assert gradient.dtype is x.dtype


@pytest.mark.parametrize("name", ["eq", "not_equal", "less", "ge", "logical_and"])
def test_comparisons_in_place_are_steps(name: str) -> None:
    x = ts.rand(3, requires_grad=True)
    y = x * 2
    getattr(y, f"{name}_")(ts.ones(3))
    assert y.requires_grad and not getattr(x, name)(ts.ones(3)).requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.swapaxes(0, 1), lambda x: ts.swapdims(x, 0, 1), lambda x: ts.special.softmax(x, 1),
        lambda x: ts.special.log_softmax(x, 1), lambda x: ts.special.xlogy(x, x + 1),
        lambda x: ts.special.xlogy(2.0, x), lambda x: ts.special.xlogy(x, 2.0),
    ],
)  # fmt: skip
def test_overloads_with_other_argument_names(call: Callable[[Tensor], Tensor]) -> None:
    x = ts.rand(2, 3, dtype=ts.float64, requires_grad=True)
    assert gradcheck(call, (x,))


def test_resize_of_a_tensor_that_requires_grad_raises() -> None:
    y = ts.rand(2, 3, requires_grad=True) * 2
    for call in (lambda: y.resize_(3, 2), lambda: y.resize_as_(ts.ones(3, 2))):
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            call()
    assert y.shape == (2, 3)
