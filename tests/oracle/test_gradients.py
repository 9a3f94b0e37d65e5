"""Gradients of the first and second order beside PyTorch's, of every call in its database of operators: `gradients.py`."""

import warnings

import pytest

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db
from tests.oracle import gradients  # noqa: E402

OTHER_KINDS = ("sparse.", "chalf", "jiterator", "__rdiv__", "to_sparse", "_segment_reduce", "jagged")
DIFFERENT = {
    "as_strided_scatter": "PyTorch's gradient lies where the elements were overwritten",
    "linalg.eigh": "the signs of eigenvectors, by the upper triangle, are another LAPACK's",
}
ONCE = {  # differentiable once
    "nn.functional.grid_sample", "grid_sampler_2d", "grid_sampler_3d",
}  # fmt: skip


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
        count, said = gradients.compare(entry, dtype, 1 if entry.name in ONCE else 2)
    assert not said
    if not count:
        pytest.skip("no call that can be compared")
