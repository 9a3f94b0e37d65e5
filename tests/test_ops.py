"""Every operator record, called with generated arguments in several dtypes and on every backend.

Pointwise records with a ufunc are compared with NumPy; in-place and out= variants with the functional
variant; meta tensors with the CPU's shapes and dtypes. New records are tested automatically.
"""

import numpy as np
import pytest

import ts
from ts.ops import registry, common

registry.load()
DTYPES = (common.FLOAT, common.DOUBLE, common.INT64, common.BOOL, common.CFLOAT)
UNARY = [r for r in registry.records() if r.schema_text.endswith("(Tensor self) -> Tensor")]
BINARY = [r for r in registry.records() if r.schema_text.endswith("(Tensor self, Tensor other) -> Tensor")]
REDUCE = [
    r
    for r in registry.records()
    if r.family == "reduce" and not r.variant and "Tensor self, int[1]? dim" in r.schema_text
]
SAMPLES = [(r, 1) for r in UNARY] + [(r, 2) for r in BINARY]


def sample(dtype, k=0):
    values = np.array([[0.5, 2.0, 3.0], [1.0, 0.25, 4.0]]) + k
    return (values > 1.5) if dtype == common.BOOL else values.astype(dtype)


def tensor(array):
    return ts.from_numpy(array.copy())


def by_id(case):
    return case[0].key.removeprefix("aten::") if isinstance(case, tuple) else str(case)


def called(record, *args):
    """Return a record's result, or None for a dtype or shape without a PyTorch kernel."""
    operator = next(o for o in registry.lookup(record.name) if o.record is record)
    try:
        return operator(*args)
    except (RuntimeError, NotImplementedError, IndexError, TypeError):
        return None


@pytest.mark.parametrize("case", SAMPLES, ids=by_id)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_results_equal_numpy_and_variants(case, dtype):
    record, arity = case
    host = [sample(dtype, k) for k in range(arity)]
    result = called(record, *(tensor(a) for a in host))
    if result is None or not isinstance(result, ts.Tensor):
        pytest.skip("not defined here")
    if record.ufunc and hasattr(np, record.ufunc) and dtype != common.BOOL:
        promoted = [
            common.cast(np, a, common.float_dtype(a.dtype)) if record.promotion == "float" else a for a in host
        ]
        with np.errstate(all="ignore"):
            expected = getattr(np, record.ufunc)(*promoted)
        assert np.allclose(result.numpy(), expected, equal_nan=True, rtol=1e-5)
    for variant in registry.records():
        if variant.base is not record or record.family == "view":
            continue
        first = tensor(host[0])
        if variant.variant == "out":
            target = tensor(np.zeros_like(result.numpy()))
            again = called(variant, first, *(tensor(a) for a in host[1:]), target)
        elif common.can_cast(result.numpy().dtype, dtype) and not (record.promotion == "real" and dtype.kind == "c"):
            target, again = first, called(variant, first, *(tensor(a) for a in host[1:]))
            result = tensor(common.cast(np, result.numpy(), dtype))
        else:
            with pytest.raises((RuntimeError, NotImplementedError)):
                next(o for o in registry.lookup(variant.name) if o.record is variant)(
                    first, *(tensor(a) for a in host[1:])
                )
            continue
        assert again is target
        # A native loop and the kernel of an out= form may round the last bit differently.
        rtol = 1e-6 if result.is_floating_point() else 0
        assert np.allclose(target.numpy(), result.numpy(), rtol=rtol, atol=0, equal_nan=True)


@pytest.mark.parametrize("case", SAMPLES, ids=by_id)
def test_meta_tensors_have_the_shape_and_dtype(case):
    record, arity = case
    host = [tensor(sample(common.FLOAT, k)) for k in range(arity)]
    expected = called(record, *host)
    if not isinstance(expected, ts.Tensor) or "nonzero" in record.name or record.name == "aten::argwhere":
        pytest.skip("no tensor, or its shape depends on the elements")
    got = called(record, *(t.to("meta") for t in host))
    if got is None:
        pytest.skip("no shape rule yet")
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)


@pytest.mark.parametrize("record", REDUCE, ids=lambda r: r.key)
def test_reductions_over_all_and_one_dimension(record):
    x = tensor(sample(common.DOUBLE))
    for dim in (None, [0], [-1], [0, 1]):
        args = (x, 2, dim) if "Scalar ord" in record.schema_text else (x, dim)
        result = called(record, *args)
        result = result[0] if isinstance(result, tuple) else result
        axes = common.wrap_dims(dim, 2)
        assert tuple(result.shape) == common.reduced_shape((2, 3), axes, False)


def test_every_schema_parses_and_no_key_is_empty():
    for record in registry.records():
        if not record.of_program:
            assert str(record.schema) == record.schema_text


def test_narrowing_result_casts_are_rejected():
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        ts.ones(2, dtype=ts.int64).add_(1.5)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", [ts.int32, ts.bfloat16])
def test_dtype_argument_with_out(name, dtype):
    """`dtype=` selects the compute dtype with `out=` too."""
    x, out = ts.arange(6).view(2, 3).to(dtype), ts.zeros(2, 3, dtype=ts.float64)
    function = getattr(ts, name)
    assert function(x, 0, dtype=ts.float64, out=out) is out
    assert out.equal(function(x, 0, dtype=ts.float64))


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float32, ts.float64], ids=str)
def test_nan_to_num(dtype):
    """`nan_to_num` replaces NaN by 0 and infinities by the largest numbers of the dtype by default."""
    x = ts.tensor([float("nan"), float("inf"), -float("inf"), 1.5], dtype=dtype)
    largest = ts.finfo(dtype).max
    assert x.nan_to_num().tolist() == [0.0, largest, -largest, 1.5] and x.nan_to_num().dtype == dtype
    assert x.nan_to_num(2, 3, 4).tolist() == [2.0, 3.0, 4.0, 1.5]


def test_limits_of_python_types():
    """`finfo` and `iinfo` accept Python types, and reject other objects by type."""
    assert ts.finfo(float).eps == ts.finfo(ts.float64).eps and ts.finfo(complex).dtype == "float64"
    assert ts.iinfo(int).max == 2**63 - 1 and ts.finfo().dtype == "float32"
    with pytest.raises(TypeError, match="requires a floating point input type"):
        ts.finfo(int)
    with pytest.raises(
        TypeError, match=r"finfo\(\): argument 'type' \(position 1\) must be torch.dtype, not NoneType"
    ):
        ts.finfo(None)
    with pytest.raises(
        TypeError, match=r"iinfo\(\): argument 'type' \(position 1\) must be torch.dtype, not str"
    ):
        ts.iinfo("a")
