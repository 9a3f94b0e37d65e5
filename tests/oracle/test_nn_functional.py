"""Functions of neural networks against PyTorch: expressions in files, one a line."""

import pytest

pytest.importorskip("torch")
from tests.oracle import expressions

FILES = ("losses", "normalisation", "bags_grids_ctc", "functional", "unpooling_fractional_bilinear", "attention", "convolution")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", [line for name in FILES for line in expressions.lines(name)])
def test_as_pytorch(source):
    """The value, its dtype and shape, or the error, is PyTorch's."""
    expressions.check(source)
