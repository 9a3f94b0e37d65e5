"""Invalid sizes and dtypes raise PyTorch's error class and text, never NumPy's."""

import math
import re
import warnings

import numpy as np
import pytest

import ts
import ts.nn.functional as F
from tests import samples
from ts._core.dispatch.numpy_error_translation import reworded
from ts.ops import registry

NAN, INF = math.nan, math.inf


def ones(*shape):
    return ts.ones(*shape)


CASES = [
    # dimensions of tensors without dimensions
    (lambda: ts.tensor(3.0).median(1), IndexError, "Dimension out of range"),
    (lambda: ts.tensor(3.0).nanmedian(1), IndexError, "Dimension out of range"),
    (lambda: ts.tensor(3.0).mode(1), IndexError, "Dimension out of range"),
    (lambda: ts.tensor(3.0).kthvalue(1, 1), IndexError, "Dimension out of range"),
    # norms over empty dimensions
    (lambda: ts.zeros(0, 3).norm(INF, 0), RuntimeError, "cannot compute the inf norm on the dimension 0because"),
    (lambda: ts.zeros(0).norm(INF), RuntimeError, "cannot compute the inf norm on an empty tensor"),
    (lambda: ts.linalg.vector_norm(ts.zeros(0), -1), RuntimeError, "cannot compute the -1 norm on an empty tensor"),
    # put_
    (lambda: ts.zeros(3).put_(ts.tensor([0]), ts.tensor([1])), RuntimeError, "self and source expected to have the same"),
    (lambda: ts.zeros(3).put_(ts.tensor([0, 1]), ones(1)), IndexError, "source.numel() = 1, index.numel() = 2"),
    (lambda: ts.zeros(3).put_(ts.tensor([0], dtype=ts.int32), ones(1)), RuntimeError, "Expected a long tensor for index"),
    # losses
    (lambda: F.l1_loss(ones(1), ts.tensor([True])), RuntimeError, "with a bool tensor is not supported"),
    (lambda: F.binary_cross_entropy_with_logits(ones(1), ts.tensor([1])), RuntimeError, "Float can't be cast to the desired output type Long"),
    (lambda: F.binary_cross_entropy_with_logits(ones(3), ones(3, 3)[:, :1]), ValueError, "Target size"),
    (lambda: ts.binary_cross_entropy_with_logits(ones(3, 3), ones(3)), RuntimeError, "output with shape [3] doesn't match"),
    (lambda: F.soft_margin_loss(ones(3), ones(3, 3)), RuntimeError, "output with shape [3] doesn't match"),
    # sizes beyond the maximum of arrays
    (lambda: ts.zeros(1).expand(2**31, 2**32), RuntimeError, "numel: integer multiplication overflow"),
    (lambda: ts.zeros(1).expand(2**31, 2**31), RuntimeError, "more than a NumPy array can have"),
    # unsupported options of convolutions
    (lambda: ts.nn.Conv2d(1, 1, 1, output_padding=3), TypeError, "unexpected keyword argument 'output_padding'"),
    # linear algebra
    (lambda: ts.linalg.solve(ones(2, 2), ones(3)), RuntimeError, "for the equation AX = B (2x2 and 3x1)"),
    (lambda: ts.linalg.solve(ones(2, 2), ones(3, 3)), RuntimeError, "for the equation AX = B (2x2 and 3x3)"),
    (lambda: ts.linalg.solve(ones(2, 2), ones(2, 2).double()), RuntimeError, "A of type Float and B of type Double"),
    (lambda: ts.linalg.solve_triangular(ones(3, 3), ones(2, 3), upper=True), RuntimeError, "(3x3 and 2x3)"),
    (lambda: ts.linalg.solve_triangular(ones(3, 2), ones(3, 3), upper=True), RuntimeError, "they are 3 by 2 matrices"),
    (lambda: ts.triangular_solve(ones(3), ones(3, 3)), RuntimeError, "Expected b to have at least 2 dimensions"),
    (lambda: ts.cholesky_solve(ones(3, 3), ones(3)), RuntimeError, "u should have at least 2 dimensions"),
    (lambda: ts.cholesky_inverse(ones(2, 3)), RuntimeError, "they are 2 by 3 matrices"),
    (lambda: ts.matrix_power(ones(3, 4), 2), RuntimeError, "linalg.matrix_power: A must be batches of square"),
    (lambda: ts.linalg.cond(ones(3)), RuntimeError, "linalg.cond: The input tensor must have at least 2 dimensions"),
    # attention
    (lambda: F.scaled_dot_product_attention(ones(1, 2, 3), ones(1, 2, 4), ones(1, 2, 3)), RuntimeError, "[1, 3] but got: [1, 4]"),
    (lambda: F.scaled_dot_product_attention(ones(1, 2, 3), ones(1, 5, 3), ones(1, 4, 3)), RuntimeError, "[1, 5] but got: [1, 4]"),
    (lambda: F.scaled_dot_product_attention(ones(2, 2, 3), ones(3, 5, 3), ones(2, 5, 3)), RuntimeError, "tensor a (2) must match the size of tensor b (3)"),
    # sources of scatter operators
    (lambda: ones(3, 4).select_scatter(ones(2), 0, 1), RuntimeError, "src size = [2], slice size = [4]"),
    (lambda: ones(3, 4).slice_scatter(ones(4), 0), RuntimeError, "src size = [4], slice size = [3, 4]"),
    (lambda: ones(3, 4).slice_scatter(ones(3, 4), 0, 0, 3, -1), RuntimeError, "slice step must be positive"),
    (lambda: ones(3, 4).diagonal_scatter(ones(2)), RuntimeError, "src size = [2], slice size = [3]"),
    (lambda: ts.index_add(ones(2, 3), 1, ts.tensor([0, 1, 2]), ones(3, 3)), RuntimeError, "source tensor shape must match"),
    # incompatible dtypes
    (lambda: F.prelu(ones(3).double(), ones(1)), RuntimeError, "Got Double and Float"),
    (lambda: ts.inner(ones(3), ones(3).double()), RuntimeError, "both inputs should have same dtype"),
    (lambda: ts.tensordot(ones(3, 3), ones(3, 3).int(), 1), RuntimeError, "both inputs should have same dtype"),
    (lambda: ts.meshgrid(ones(3), ones(3).int(), indexing="ij"), RuntimeError, "all tensors to have the same dtype"),
    (lambda: ts.cdist(ones(2, 3), ones(3, 3).byte()), RuntimeError, "X2 got: Byte"),
    (lambda: ts.lerp(ones(3), ones(3), ones(3).cfloat()), RuntimeError, "but got dtype c10::complex<float>"),
    # other operators
    (lambda: F.linear(ones(3, 3), ones(3, 3, 3)), RuntimeError, "t() expects a tensor with <= 2 dimensions, but self is 3D"),
    (lambda: ts.linspace(ones(2), 2, 1), RuntimeError, "but got start with 1 dimension(s)"),
    (lambda: ts.cross(ones(1, 1), ones(3, 3)), RuntimeError, "no dimension of size 3 in input"),
]


@pytest.mark.parametrize("at", range(len(CASES)))
def test_rejected(at):
    """Error class and text are PyTorch's."""
    call, cls, message = CASES[at]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(cls, match=re.escape(message)) as caught:
            call()
    assert caught.type is cls


def test_searchsorted_in_boundaries_with_nan():
    """`searchsorted` in boundaries with NaN equals PyTorch: comparisons with NaN are false."""
    assert ts.searchsorted(ts.tensor([1.0, 2.0, NAN]), ts.tensor([NAN, 3.0])).tolist() == [3, 3]
    row, values = ts.tensor([1.0, NAN, 3.0]), ts.tensor([NAN, 0.0, 2.0, 9.0, 3.0])
    assert ts.searchsorted(row, values).tolist() == [3, 2, 2, 3, 2]
    assert ts.searchsorted(row, values, right=True).tolist() == [3, 2, 2, 3, 3]
    assert ts.bucketize(ts.tensor([NAN, 0.0, 2.0, 9.0]), ts.tensor([1.0, 2.0, NAN]), right=True).tolist() == [3, 0, 3, 3]


def test_einsum_sums_missing_ellipsis_dimensions():
    """Ellipsis dimensions that the output lacks are summed, and have gradients."""
    x = ts.arange(36.0).reshape(2, 3, 3, 2).requires_grad_()
    result = ts.einsum("bii...->b", x)
    assert result.tolist() == [51.0, 159.0]
    result.sum().backward()
    assert x.grad.sum().item() == 12.0 and x.grad[0, 0, 1].tolist() == [0.0, 0.0]
    assert ts.einsum("i...->i", ts.arange(6.0).reshape(2, 3)).tolist() == [3.0, 12.0]
    assert ts.einsum("...->", ones(2, 3)).item() == 6.0


def test_unfold_is_a_copy():
    """The result of unfold does not share memory."""
    x = ts.arange(5.0).reshape(1, 1, 1, 5)
    blocks = F.unfold(x, (1, 2))
    assert blocks.is_contiguous() and blocks.stride() == (8, 4, 1)
    blocks.fill_(7)
    assert x.flatten().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_errors_inside_of_kernels():
    """NumPy's and Python's errors in a kernel become a RuntimeError with the operator's name; others pass."""

    def caught(call):
        try:
            call()
        except Exception as error:
            return error

    def raised():
        raise ValueError("a kernel's own")

    assert reworded(caught(raised), "aten::f") is None
    for call in (lambda: np.linalg.solve(np.ones(3), np.ones(3)), lambda: {}["key"], lambda: (lambda a: a)(*[1, 2])):
        assert type(reworded(caught(call), "aten::f")) is RuntimeError
    assert str(reworded(caught(lambda: np.zeros(2) + np.zeros(3)), "aten::f")).startswith("The size of tensor a (2)")


KNOWN = (RuntimeError, NotImplementedError, IndexError, TypeError, ValueError, ts.errors.LinAlgError)


@pytest.mark.parametrize("record", [r for r in registry.records() if r.base is None and not r.variant], ids=lambda r: r.key)
def test_numpy_messages_do_not_leak(record):
    """Errors for wrong dimensions or sizes do not mention NumPy functions."""
    try:
        arguments = samples.arguments(record, ts.float32)
    except Exception:
        arguments = None
    for i, x in enumerate(arguments or []):
        if not isinstance(x, ts.Tensor) or not x.ndim or not x.numel() or "_unsafe" in record.key or record.tensor_kernel:
            continue
        for wrong in (x[0], ts.cat([x, x[:1]]), x[..., None]):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    samples.operator(record)(*arguments[:i], wrong.contiguous(), *arguments[i + 1 :])
                except Exception as error:
                    assert isinstance(error, KNOWN), f"{record.key}: {type(error).__name__}: {error}"
                    assert "gufunc" not in str(error) and "numpy" not in str(error).lower(), f"{record.key}: {error}"
