"""Samples of Dirichlet and beta distributions: gradients of the parameters, and small parameters."""

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402


def gradients(library):
    library.manual_seed(0)
    a = library.tensor([[0.5, 2.0, 1.0], [3.0, 0.1, 5.0]], dtype=library.float64, requires_grad=True)
    b = library.tensor([2.0, 0.5], dtype=library.float64, requires_grad=True)
    shares = library.distributions.Dirichlet(a).rsample((2,))
    (shares * library.arange(12.0).reshape(2, 2, 3)).sum().backward()
    (library.distributions.Beta(b, b + 1).rsample((3,)) ** 2).sum().backward()
    return [*shares.flatten().tolist(), *a.grad.flatten().tolist(), *b.grad.tolist()]


def test_gradients():
    assert gradients(ts) == pytest.approx(gradients(torch), rel=2e-3, abs=1e-4)  # PyTorch uses series


def test_small_parameters():
    """Beta samples with small parameters are drawn in float64, which avoids collapsing to the smallest
    number."""
    ts.manual_seed(1)
    samples = ts.distributions.Beta(ts.tensor(0.01), ts.tensor(0.01)).sample([20000])
    assert samples.dtype == ts.float32
    assert 0.47 < (samples < 0.1).double().mean() < 0.53
    assert 0.47 < (samples > 0.9).double().mean() < 0.53
