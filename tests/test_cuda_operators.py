"""Every operator record on the CUDA backend equals the CPU, on arguments generated from its schema.

The tests run on a GPU if available, otherwise on the fake CuPy, which has only CuPy's functions.  Arguments
that the CPU kernel rejects are skipped.
"""

import itertools
import warnings

import numpy as np
import pytest

import ts
from tests.sharding import some
from ts.ops import registry

pytestmark = pytest.mark.cuda

DTYPES = ("float32", "int64", "bool", "complex64", "bfloat16", "float16", "float64", "uint8")
SHAPES = ((2, 3), (3, 3), (4,), (1, 2, 4, 4), (1, 2, 4), ())
CLOSE = {"bfloat16": 2e-2, "float16": 3e-3, "float32": 2e-5, "complex64": 2e-5}
UNDEFINED = ("empty",)  # elements are uninitialized
LINEAR_ALGEBRA = (  # families without 16-bit kernels in PyTorch
    "matmul", "factorizations", "solvers", "lu", "householder", "pseudo_inverse", "covariance",
)
WITHOUT_ORDER = ("sort", "argsort", "topk", "msort", "mode", "median", "kthvalue")  # the order of equal elements is undefined
SIGN_FREE = ("svd", "qr", "eig", "eigh", "lu", "ldl", "householder")


def values(shape, dtype, seed):
    """Return elements that most operators accept: positive definite if square, otherwise small numbers."""
    result = np.random.default_rng(seed).uniform(0.1, 0.9, shape)
    if len(shape) == 2 and shape[0] == shape[1]:
        result = (result + result.T) / 2 + 2 * np.eye(shape[0])
    if dtype == "bool":
        return ts.tensor(result > 0.5)
    if dtype in ("int64", "uint8"):
        return ts.tensor((result * 3).astype(np.int64)).to(getattr(ts, dtype))
    return ts.tensor(result).to(getattr(ts, dtype))


def make_argument(parameter, shape, dtype, position):
    """Return a value for a parameter of a schema; raise KeyError for unsupported types."""
    kind = parameter.kind.partition("(")[0] if parameter.kind.startswith("Tensor(") else parameter.kind
    if kind in ("Tensor", "Tensor(a)", "Tensor(a!)"):
        index = parameter.name in ("index", "indices") or parameter.name.endswith("_index")
        mask = parameter.name in ("condition", "mask")
        return values(shape, "int64" if index else "bool" if mask else dtype, position)
    if parameter.has_default:
        return parameter.default
    if kind.endswith("?"):
        return None
    return {
        "Tensor[]": lambda: [values(shape, dtype, position), values(shape, dtype, position + 1)],
        "Scalar": lambda: 2, "float": lambda: 0.5, "bool": lambda: False,
        "int": lambda: 1 if len(shape) > 1 else 0, "SymInt": lambda: 1,
        "int[]": lambda: [0], "int[1]": lambda: [0], "int[2]": lambda: [2, 2], "SymInt[]": lambda: list(shape),
        "SymInt[1]": lambda: [2], "SymInt[2]": lambda: [2, 2], "ScalarType": lambda: 6,
    }[kind]()  # fmt: skip


def tensors(x):
    if isinstance(x, ts.Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from tensors(y)


def moved(x):
    if isinstance(x, ts.Tensor):
        return x.cuda()
    return [moved(y) for y in x] if type(x) is list else x


def copied(x):
    if isinstance(x, ts.Tensor):
        return x.clone()
    return [copied(y) for y in x] if type(x) is list else x


def difference(name, expected, got, elements):
    """Return a description of the difference between two results, including elements if `elements` is true,
    or None."""
    if not isinstance(expected, (ts.Tensor, list, tuple)):
        return None if expected == got or "Generator" in str(type(expected)) else f"{got} instead of {expected}"
    for w, g in itertools.zip_longest(tensors(expected), tensors(got)):
        if (w.dtype, tuple(w.shape)) != (g.dtype, tuple(g.shape)):
            return f"{g.dtype}{list(g.shape)} instead of {w.dtype}{list(w.shape)}"
        if not elements or any(word in name for word in (*UNDEFINED, *WITHOUT_ORDER)):
            continue
        if w.layout is not ts.strided:  # sparse kernels exist for the CPU only
            continue
        a, b = (t.cpu().to(ts.float64 if t.dtype is ts.bfloat16 else t.dtype).numpy() for t in (w, g))
        if any(word in name for word in SIGN_FREE):
            a, b = abs(a), abs(b)
        tolerance = CLOSE.get(w.dtype.name, 1e-9)
        if not np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"elements differ: {b.reshape(-1)[:4]} instead of {a.reshape(-1)[:4]}"
    return None


def compare_record(record, dtype):
    """Return the number of compared samples of a record in a dtype, and descriptions of the differences."""
    operator = next(o for o in registry.lookup(record.name) if o.record is record)
    count, complaints = 0, []
    for shape in SHAPES:
        try:
            args = [make_argument(p, shape, dtype, k) for k, p in enumerate(operator.signature.parameters)]
        except KeyError:
            return 0, []
        on_device = [moved(copied(a)) for a in args]
        try:
            ts.manual_seed(0)
            expected = operator(*args)
        except (
            RuntimeError,
            NotImplementedError,
            IndexError,
            TypeError,
            ValueError,
            ImportError,
            ArithmeticError,
        ):
            continue
        try:
            got = operator(*on_device)
        except Exception as error:  # any error, because the CPU returned a result
            if dtype == "complex64" and isinstance(error, TypeError):
                continue  # NumPy accepts complex numbers in more arguments than PyTorch and CuPy
            complaints.append(f"{record.key} {dtype}{list(shape)}: {type(error).__name__}: {error}")
            continue
        count += 1
        wrong = difference(record.name, expected, got, not record.nondeterministic)
        if wrong is None and list(tensors(args)) and not all(t.is_cuda for t in tensors(got)):
            wrong = "the result is not on the device"
        if wrong:
            complaints.append(f"{record.key} {dtype}{list(shape)}: {wrong}")
        if count == 2:
            break
    return count, complaints


def sources_for(dtype):
    """Yield the kernel sources that records launch for the first samples of a dtype."""
    from ts.backends.cuda import kernel_specialization, pointwise_launch

    launched = [(r, pointwise_launch.group_of_record(r)) for r in registry.records()]
    for (record, group), shape in itertools.product([x for x in launched if x[1]], (*SHAPES[:3], ())):
        operator = next(o for o in registry.lookup(record.name) if o.record is record)
        try:
            given = [make_argument(p, shape, dtype, k) for k, p in enumerate(operator.signature.parameters)]
        except KeyError:
            continue
        inputs = [moved(x).array if isinstance(x, ts.Tensor) else x for x in given[: group.outputs[0]]]
        needed = kernel_specialization.specialize(group, inputs)
        if not isinstance(needed, str):
            yield pointwise_launch.generate_source(needed.spec)


@pytest.fixture(scope="module")
def compiled(cuda):
    """Compile the kernels of a dtype in one batch, which is faster for the fake CuPy."""
    from ts.backends.cuda import device

    if hasattr(device.cupy, "__version__"):  # CuPy itself
        return lambda dtype: None
    from tests.fake_cupy import kernels

    def compile_for(dtype):
        kernels.compile_all([*sources_for(dtype)])

    return compile_for


@pytest.mark.parametrize("dtype", some("float32", "bfloat16", "int64", of=DTYPES))
def test_records(compiled, dtype):
    """Operators return equal results on the CPU and the device."""
    compiled(dtype)
    total, complaints = 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for record in registry.records():
            if (
                record.variant in ("", "inplace")
                and record.name.startswith("aten::")
                and not (
                    record.side_effect
                    or record.family == "to"  # tests of conversions are in test_cuda.py
                    or record.family == "sparse"  # sparse kernels exist for the CPU only
                    or (record.family in LINEAR_ALGEBRA and dtype in ("float16", "bfloat16"))
                )
            ):
                count, wrong = compare_record(record, dtype)
                total += count > 0
                complaints += wrong
    assert not complaints, "\n".join(complaints[:50])
    assert total > 350
