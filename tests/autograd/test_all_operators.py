"""Every operator with derivatives passes gradcheck: in reverse mode, forward mode and for second derivatives.

All of them with `-m long` (`make test-long`), a seventh otherwise.
"""

import warnings
import zlib

import pytest

import ts
from tests import samples
from ts.autograd.numerical_jacobian import has_tangents
from ts.ops import registry
from ts.ops.derivatives import formula_registry

SAMPLING_STRIDE = 7
DIFFERENT = {
    "aten::_cast_Half": "rounds to 16 bits",
    "aten::fake_quantize_per_tensor_affine.tensor_qparams": "its gradient is not that of its steps",
    "aten::linalg_cholesky_ex": "takes its matrix for a symmetric one",
    "aten::linalg_eig": "eigenvectors have no fixed phase",
    "aten::tensor_split.tensor_indices_or_sections": "the sample's places are numbers that differences would move",
}
REAL_ONLY = {"aten::logcumsumexp"}  # gradients of complex inputs are not defined here


def differentiable():
    """Yield the records with derivative formulas."""
    for key, row in formula_registry.all_derivatives().items():
        record = registry.find(key)
        sparse = record is not None and record.family == "sparse"  # gradients: `tests/test_sparse.py`
        if not row.reason and record is not None and not record.nondeterministic and record.variant == "" and not sparse:
            yield key


KEYS = sorted(differentiable())
SAMPLED_KEYS = [key for key in KEYS if zlib.crc32(key.encode()) % SAMPLING_STRIDE == 0]


def leaves(arguments):
    found = []
    for x in arguments:
        if isinstance(x, ts.Tensor) and has_tangents(x):
            found.append(x)
        elif isinstance(x, list):
            found += leaves(x)
    return found


def perturb(x, k):
    """Return a perturbed sample without equal numbers, because gradients are undefined at ties."""
    return x * (1 + 0.05 * (ts.arange(x.numel(), dtype=ts.float64) * 1.7 + k + 0.3).sin().reshape(x.shape))


def check(key, dtype):
    record = registry.find(key)
    arguments = None if key in REAL_ONLY and dtype.is_complex else samples.arguments(record, dtype)
    if arguments is None:
        pytest.skip(f"not of {dtype}")
    xs = [perturb(x, k).requires_grad_() for k, x in enumerate(leaves(arguments))]
    if not xs:
        pytest.skip("no argument of floating point")

    def call(*given):
        rest = iter(given)

        def put(x):
            if isinstance(x, list):
                return [put(y) for y in x]
            return next(rest) * 1 if isinstance(x, ts.Tensor) and has_tangents(x) else x

        found = record.operator(*map(put, arguments))
        several = found if isinstance(found, (tuple, list)) else (found,)
        return tuple(y for y in several if isinstance(y, ts.Tensor) and has_tangents(y))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            results = [y for y in call(*xs) if y.requires_grad]
            if results:
                ts.autograd.grad([y.sum() for y in results], xs, [ts.ones_like(y.sum()) for y in results], allow_unused=True)
        except samples.REJECTION_ERRORS as error:
            pytest.skip(f"refused: {error}")
        if not results:
            pytest.skip("no result has a gradient")
        assert ts.autograd.gradcheck(call, tuple(xs), check_forward_ad=True, fast_mode=True, nondet_tol=1e-12)
        assert ts.autograd.gradgradcheck(call, tuple(xs), fast_mode=True, nondet_tol=1e-12)


@pytest.mark.parametrize("dtype", [ts.float64, ts.complex128], ids=["float64", "complex128"])
@pytest.mark.parametrize("key", SAMPLED_KEYS)
def test_some(key, dtype):
    if key in DIFFERENT:
        pytest.skip(DIFFERENT[key])
    check(key, dtype)


@pytest.mark.long
@pytest.mark.parametrize("dtype", [ts.float64, ts.complex128], ids=["float64", "complex128"])
@pytest.mark.parametrize("key", KEYS)
def test_all(key, dtype):
    if key in DIFFERENT:
        pytest.skip(DIFFERENT[key])
    check(key, dtype)
