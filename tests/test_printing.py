"""Printing of tensors; `tests/pytorch_parity/test_printing.py` compares hundreds of texts with PyTorch."""

import pytest

from ts import dtypes
from ts._core.tensor import printing
from ts._core.tensor import factories


@pytest.mark.parametrize(
    ("data", "dtype", "text"),
    [
        (1, None, "tensor(1)"),
        ([1.0, 2.0], None, "tensor([1., 2.])"),
        ([[1.5, 20.0]], None, "tensor([[ 1.5000, 20.0000]])"),
        ([1e-5, 1.0], None, "tensor([1.0000e-05, 1.0000e+00])"),
        ([float("nan"), 1.0], None, "tensor([nan, 1.])"),
        ([True, False], None, "tensor([ True, False])"),
        ([1 + 2j], None, "tensor([1.+2.j])"),
        ([], None, "tensor([])"),
        ([[]], dtypes.int64, "tensor([], size=(1, 0), dtype=torch.int64)"),
        ([1], dtypes.int32, "tensor([1], dtype=torch.int32)"),
        ([[1, 2], [3, 40]], None, "tensor([[ 1,  2],\n        [ 3, 40]])"),
    ],
)
def test_text(data, dtype, text):
    """Printed tensors have PyTorch's widths, number formats and suffixes."""
    assert repr(factories.tensor(data, dtype=dtype)) == text


def test_summary_and_options():
    """Large tensors are printed as first and last elements; options can be changed and restored."""
    assert repr(factories.tensor(range(2000))) == "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"
    try:
        printing.set_printoptions(precision=2, threshold=3, edgeitems=1)
        assert repr(factories.tensor([1.25, 2.5, 3.5, 4.5])) == "tensor([1.25,  ..., 4.50])"
    finally:
        printing.set_printoptions(profile="default")


def test_suffixes():
    """The text contains device, size and requires_grad if they differ from the defaults."""
    x = factories.tensor([1.0], requires_grad=True)
    assert repr(x) == "tensor([1.], requires_grad=True)"
    assert repr(factories.tensor([1, 2]).to("meta")) == "tensor(..., device='meta', size=(2,), dtype=torch.int64)"
