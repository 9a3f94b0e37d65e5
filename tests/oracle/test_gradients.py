"""Gradients of the first and second order beside PyTorch's, of every call in its database of operators: `gradients.py`."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

    torch.backends.__allow_nonbracketed_mutation_flag = True  # which that import clears, for other tests
import ts  # noqa: E402
from tests.oracle import gradients  # noqa: E402

OTHER_KINDS = ("sparse.", "chalf", "jiterator", "__rdiv__", "to_sparse", "_segment_reduce", "jagged")
DIFFERENT = {
    "as_strided_scatter": "PyTorch's gradient lies where the elements were overwritten",
    "linalg.eigh": "the signs of eigenvectors, by the upper triangle, are another LAPACK's",
}


def title(entry):
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else entry.name


ENTRIES = [e for e in op_db if e.supports_autograd and not any(kind in e.name for kind in OTHER_KINDS)]


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=["float64", "complex128"])
@pytest.mark.parametrize("entry", ENTRIES, ids=title)
def test_gradients_are_those_of_pytorch(entry, dtype):
    if entry.name in DIFFERENT:
        pytest.skip(DIFFERENT[entry.name])
    if dtype not in entry.dtypes:
        pytest.skip(f"not of {dtype}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        count, said = gradients.compare(entry, dtype)
    assert not said
    if not count:
        pytest.skip("no call that can be compared")


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("mode, n", [(0, 2), (1, 2), (2, 2), (0, 3), (1, 3)])
def test_sampling_by_a_grid(mode, n, padding, align):
    """All modes and paddings, with places outside."""
    draw = np.random.default_rng(0)
    images = draw.standard_normal((2, 2, 3, 4, 5)[: n + 2])
    grid = draw.uniform(-1.6, 1.6, (2, 3, 2, 2, 3)[: n + 1] + (n,))

    def found(library):
        leaves = [library.from_numpy(x.copy()).requires_grad_() for x in (images, grid)]
        result = library.grid_sampler(*leaves, mode, padding, align)
        first = library.autograd.grad(gradients.weighted([result], library), leaves, create_graph=True)
        second = library.autograd.grad(gradients.weighted(list(first), library), leaves, allow_unused=True)
        return [*first, *second]

    assert not gradients.difference(found(ts), found(torch), 1e-9)
