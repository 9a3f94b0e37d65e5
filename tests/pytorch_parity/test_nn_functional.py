"""Functions of `nn.functional` compared with PyTorch: files with one expression per line."""

import pytest

pytest.importorskip("torch")
import torch

import ts
from tests.pytorch_parity import expressions

FILES = (
    "losses",
    "normalisation",
    "bags_grids_ctc",
    "functional",
    "unpooling_fractional_bilinear",
    "attention",
    "convolution",
    "checks",
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", [line for name in FILES for line in expressions.lines(name)])
def test_as_pytorch(source):
    """An expression has PyTorch's value, dtype and shape, or its error."""
    expressions.check(source)


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_warnings_of_sizes(name):
    """A target that broadcasts issues PyTorch's warning once."""

    def messages(library):
        with pytest.warns(UserWarning) as caught:
            getattr(library.nn.functional, name)(library.ones(3, 1), library.ones(3))
        return [str(w.message) for w in caught]

    assert messages(ts) == messages(torch)
