"""Every operator record, on every available backend and in every accepted dtype.

Input: the registry, and arguments from `tests.samples`. For each record:

    meta            has the CPU's shapes and dtypes, or an error because they depend on elements (DEPENDS)
    other backends  have the CPU's shapes, dtypes and values
    variants        in-place, out=, method and function calls have equal results
    scripts         have equal results
    twice           a second call has equal bits

New records are tested automatically if they accept one of the profiles of `tests.samples`.
"""

import types
import warnings

import numpy as np
import pytest

import ts
from tests import samples
from ts import backends
from ts._core.dispatch.overrides import Overridable
from ts.ops import out_variants, registry
from ts.ops.functional import tensor_methods, torch_functions
from ts.ops.operator_record import is_in_namespace

registry.load()
# Operators of sparse tensors have no samples; `tests/test_sparse.py` tests them.
SPARSE = "sparse"
RECORDS = [r for r in registry.records() if r.base is None and r.variant != "out" and r.family != SPARSE]
VARIANTS = [r for r in registry.records() if r.base is not None and r.family != SPARSE]
DEVICES = [d for d in backends.available() if d not in ("cpu", "meta")]

# Operators whose shapes, results or checks depend on elements, so that they reject meta tensors.
DEPENDS = {
    *"where nonzero nonzero_numpy argwhere masked_select _unique2 unique_dim unique_consecutive bincount".split(),
    *"_unique unique_dim_consecutive _rowwise_prune _reshape_from_tensor _tensor_to_list _to_cpu".split(),
    *"_pack_padded_sequence _pad_packed_sequence lstm.data gru.data rnn_tanh.data rnn_relu.data".split(),
    *"_ctc_loss.Tensor repeat_interleave.Tensor repeat_interleave.self_Tensor narrow.Tensor one_hot cpu".split(),
    *"tensor_split.tensor_indices_or_sections".split(),
    *"quantize_per_tensor.tensor_qparams quantize_per_tensor.tensors quantize_per_tensor_dynamic".split(),
    *"quantized_lstm.data quantized_gru.data quantized::add_scalar.Tensor quantized::add_scalar_relu.Tensor".split(),
    *"quantized::mul_scalar.Tensor quantized::mul_scalar_relu.Tensor".split(),
}
# Records without samples, with reasons.
NO_SAMPLES = {
    "cuda": "needs a GPU",
    "pin_memory": "needs a GPU",
    "_pin_memory": "needs a GPU",
    "record_stream": "needs a GPU",
    "index.Tensor": "takes the lists of scripts only; `index.Tensor_hacked_twin` is the same kernel",
    "profiler::_record_function_exit._RecordFunction": "a label that was entered; tests/test_profiler.py has them",
    "profiler::_call_end_callbacks_on_jit_fut._RecordFunction": "a label that was entered",
    "grad": "results with a history; `tests/autograd/test_autograd_in_torchscript.py` has them",
    "_make_dual": "levels of forward differentiation, which there are none of",
    "_make_dual_copy": "levels of forward differentiation, which there are none of",
    "to_padded_tensor": "nested tensors, which are refused",
    "_nested_tensor_from_mask": "nested tensors, which are refused",
    "profiler::_call_end_callbacks_on_jit_fut": "a label and a future; `tests/test_profiler.py` has it",
    **dict.fromkeys(
        "to_here local_value is_owner owner_name owner confirmed_by_owner".split(),
        "handles of processes that call each other; `tests/distributed/test_rpc_scripts.py` has them",
    ),
}
# Results are uninitialized memory or differ intentionally.
UNDEFINED = ("empty", "new_empty", "resize", "seed")


def short(record):
    return record.key.removeprefix("aten::")


def leaves(x):
    """Return the tensors of a result."""
    if isinstance(x, ts.Tensor):
        return [x]
    if isinstance(x, (tuple, list)):
        return [y for z in x for y in leaves(z)]
    return []


WIDE = {ts.bfloat16: ts.float32, ts.complex32: ts.complex64}  # dtypes that NumPy does not have


def as_arrays(x):
    """Return the result's tensors or number as NumPy arrays."""
    result = leaves(x)
    if not result:
        return [np.asarray(x)] if isinstance(x, (bool, int, float, complex)) else []
    wide = [t.to(WIDE.get(t.dtype, t.dtype)) for t in result]
    return [t.detach().cpu().numpy() for t in wide]


def described(x):
    return [(tuple(t.shape), t.dtype) for t in leaves(x)]


def results_are_equal(a, b, tolerance=0.0):
    """Return True if two results are equal within `tolerance`; NaN equals NaN."""
    first, second = as_arrays(a), as_arrays(b)
    return described(a) == described(b) and all(
        np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True) if tolerance else np.array_equal(x, y, equal_nan=True)
        for x, y in zip(first, second, strict=True)
    )


def called(record, args):
    """Return the result of a call with a fixed seed, without warnings."""
    ts.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return samples.operator(record)(*args)


def accepted_dtypes(record):
    """Yield (dtype, result) for each dtype that the record accepts."""
    for dtype in samples.DTYPES:
        args = samples.arguments(record, dtype)
        try:
            result = called(record, args)
        except samples.REJECTION_ERRORS:
            continue
        yield dtype, result


def undefined(record):
    return record.name.removeprefix("aten::").startswith(UNDEFINED)


@pytest.mark.parametrize("record", RECORDS, ids=short)
def test_record(record):
    if short(record) in NO_SAMPLES:
        pytest.skip(NO_SAMPLES[short(record)])
    number, explanation = samples.profile(record)
    assert number >= 0, f"no sample suits {record.schema_text}, give it a row in tests/samples.py: {explanation}"
    scripted = None if record.tensor_kernel else script(record)
    variants = [variant for variant in VARIANTS if variant.base is record]
    for dtype, result in accepted_dtypes(record):
        where = f"{short(record)} {dtype}"
        if not undefined(record):
            assert results_are_equal(called(record, samples.arguments(record, dtype)), result), f"{where}: twice"
            if scripted is not None:
                ts.manual_seed(0)
                assert results_are_equal(scripted(*samples.arguments(record, dtype)), result), f"{where}: scripted"
        check_on_meta(record, dtype, result, where)
        for device in DEVICES:
            check_on_device(record, dtype, device, result, where)
        for variant in variants:
            check_variant(record, variant, dtype, result, where)
        check_function_and_method(record, dtype, result, where)


def check_on_meta(record, dtype, result, where):
    if not leaves(result):
        return
    args = samples.arguments(record, dtype, "meta")
    tensors = [a for a in args if leaves(a)]
    if not tensors and not any(p.kind == "Device" for p in samples.operator(record).signature.parameters):
        return
    if short(record) in DEPENDS:
        with pytest.raises((NotImplementedError, RuntimeError)):
            called(record, args)
        return
    if not tensors:
        args = [
            ts.device("meta") if p.kind == "Device" else a
            for p, a in zip(samples.operator(record).signature.parameters, args, strict=True)
        ]
    got = called(record, args)
    assert described(got) == described(result), f"{where}: on meta"
    assert all(t.device.type == "meta" for t in leaves(got)), f"{where}: on meta"


def check_on_device(record, dtype, device, result, where):
    """Compare a result with another device's, except for random numbers and rounding."""
    args = samples.arguments(record, dtype, device)
    got = called(record, args)
    assert described(got) == described(result), f"{where}: on {device}"
    if not record.nondeterministic and not undefined(record):
        tolerance = {ts.float16: 4e-3, ts.bfloat16: 3e-2}.get(dtype, 2e-5)
        assert results_are_equal(got, result, tolerance), f"{where}: on {device}"


def check_variant(record, variant, dtype, result, where):
    """Compare the in-place or out= variant of a record with its result."""
    args = samples.arguments(record, dtype)
    operator = samples.operator(variant)
    if variant.variant == "out":
        resized = record.out_resized != out_variants.NEVER
        targets = [ts.empty((0,) if resized else t.shape, dtype=t.dtype) for t in leaves(result)]
        given = dict(zip((p.name for p in samples.operator(record).signature.parameters), args, strict=True))
        arguments = [given[p.name] for p in operator.signature.parameters if p.name in given]  # without arguments such as `dtype=`
        got = called(variant, [*arguments, targets] if isinstance(result, list) else [*arguments, *targets])
        assert got is None or all(a is b for a, b in zip(leaves(got), targets, strict=True)), f"{where}: out="
        assert undefined(record) or results_are_equal(targets, result, 1e-6), f"{where}: out="
        return
    target, expected = args[0], leaves(result)[0]
    view = "Tensor(a)" in record.schema_text
    fits = expected.shape == target.shape and ts.can_cast(expected.dtype, target.dtype)
    if record.promotion == "real" and target.dtype.is_complex:
        fits = False
    if record.self_dtype_error:
        fits = fits and expected.dtype == target.dtype
    if view or fits:
        ts.manual_seed(0)
        got = operator(*args)
        assert got is target, f"{where}: {operator.key}"
        assert undefined(record) or results_are_equal(got, expected.to(target.dtype), 1e-6), f"{where}: {operator.key}"
    else:
        try:
            got = operator(*args)
        except samples.REJECTION_ERRORS:
            return
        assert got is target and expected.shape == target.shape, f"{where}: {operator.key} should have been refused"


def check_function_and_method(record, dtype, result, where):
    """Check `ts.name(...)` and `x.name(...)` with the minimum number of arguments."""
    name = record.name.removeprefix("aten::")
    parameters = samples.operator(record).signature.parameters
    codes = any(p.kind in ("ScalarType", "Device", "Generator") and not p.has_default for p in parameters)
    if codes or not record.name.startswith("aten::"):
        return
    if is_in_namespace(name) or undefined(record) or name in ("where", "polygamma"):
        return
    values = list(zip(parameters, samples.arguments(record, dtype), strict=True))
    while values and values[-1][0].has_default and values[-1][1] is values[-1][0].default:
        values.pop()
    positional = [v for p, v in values if not p.keyword_only]
    named = {p.name: v for p, v in values if p.keyword_only}
    functions = []
    if "f" in record.where and name not in torch_functions():
        functions.append(getattr(ts, name))
    if "m" in record.where and parameters and parameters[0].name == "self" and parameters[0].kind == "Tensor":
        if name not in tensor_methods():
            functions.append(getattr(ts.Tensor, name))
    for function in functions:
        if not callable(function) or isinstance(function, types.FunctionType | Overridable):
            continue  # a property, or a function with another signature
        ts.manual_seed(0)
        try:
            got = function(*positional, **named)
        except TypeError as error:
            pytest.fail(f"{where}: as Python calls it: {error}")
        if hasattr(got, "dtype") or isinstance(got, (tuple, list)):
            assert results_are_equal(got, result, 1e-6), f"{where}: as Python calls it"


def script(record):
    """Return a scripted function of one operator, or None for types without text."""
    schema = record.schema
    if schema.is_vararg or "t[]" in record.schema_text or "Generator" in record.schema_text:
        return None
    inputs = ", ".join(f"%{i} : {a.type}" for i, a in enumerate(schema.arguments))
    names = ", ".join(f"%{i}" for i in range(len(schema.arguments)))
    outputs = [f"%r{i} : {r.type}" for i, r in enumerate(schema.returns)]
    if not outputs:
        return None
    lines = [f"graph({inputs}):", f"  {', '.join(outputs)} = {record.name}({names})"]
    last = "%r0"
    if len(outputs) > 1:
        kinds = ", ".join(str(r.type) for r in schema.returns)
        lines.append(f"  %t : ({kinds}) = prim::TupleConstruct({', '.join(o.partition(' ')[0] for o in outputs)})")
        last = "%t"
    graph = ts.parse_ir("\n".join([*lines, f"  return ({last})"]))
    return ts.jit.create_function_from_graph("f", graph)


def test_sample_tables_name_existing_records():
    """Rows of the sample tables name existing records."""
    keys = {short(r) for r in registry.records()} | {r.name.removeprefix("aten::") for r in registry.records()}
    assert not {*samples.SPECIAL, *DEPENDS, *NO_SAMPLES} - keys


def with_unusual_bools(x):
    """Copy arguments with True values stored as bytes other than 1 in bool tensors."""
    if isinstance(x, (list, tuple)):
        return [with_unusual_bools(y) for y in x]
    if not isinstance(x, ts.Tensor) or x.dtype != ts.bool:
        return x
    array = x.numpy()
    bytes = np.resize(np.array([2, 255, 1, 128, 3], np.uint8), array.shape)
    return ts.from_numpy(np.where(array, bytes, 0).astype(np.uint8)).view(ts.bool).detach()


@pytest.mark.parametrize("profile", [(40, 70), *samples.PROFILES[:5]], ids=str)
def test_bools_of_other_bytes(profile, monkeypatch):
    """Every nonzero byte in a bool tensor, from `x.view(ts.bool)` or files, is True."""
    monkeypatch.setattr(samples, "PROFILES", (profile,))
    for record in RECORDS:
        if short(record) in NO_SAMPLES or undefined(record) or "view" in short(record):  # records that show the bytes of their input
            continue
        for first, second in zip(*(samples.candidates(record, ts.bool, "cpu") for _ in range(2)), strict=True):
            try:
                expected = called(record, first)
            except samples.REJECTION_ERRORS:
                continue
            assert results_are_equal(called(record, with_unusual_bools(second)), expected), record.key


def test_bools_of_other_bytes_in_reductions_and_casts():
    """Reductions and casts treat every nonzero byte of a bool tensor as True, in all loops."""
    bytes = ts.tensor([0, 1, 2, 255, 128, 3, 0, 4] * 8, dtype=ts.uint8)
    x, plain = bytes.view(ts.bool), bytes != 0
    square, plain_square = x.view(8, 8), plain.view(8, 8)
    for dim in (0, 1):
        for function in (ts.sum, ts.prod, ts.max, ts.min, ts.any, ts.all, ts.amax, ts.count_nonzero, ts.cumsum, ts.cummax):
            assert results_are_equal(function(square, dim), function(plain_square, dim)), function
        for descending in (False, True):
            assert results_are_equal(ts.sort(square, dim, descending), ts.sort(plain_square, dim, descending))
            expected = ts.argsort(plain_square, dim=dim, descending=descending, stable=True)
            assert results_are_equal(ts.argsort(square, dim=dim, descending=descending, stable=True), expected)
    assert x.prod() == 0 and x[x].prod() == 1 and x.sum() == 48 and x.sum(dtype=ts.bfloat16) == 48
    for dtype in samples.DTYPES:
        assert results_are_equal(x.to(dtype), plain.to(dtype)), dtype
        assert results_are_equal(ts.ones(64, dtype=dtype).copy_(x), plain.to(dtype)), dtype
        assert results_are_equal(x * ts.full((64,), 3, dtype=dtype), plain * ts.full((64,), 3, dtype=dtype)), dtype
