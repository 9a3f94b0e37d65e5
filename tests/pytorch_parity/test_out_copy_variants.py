"""`out=` variants that copy their result: outputs of five dtypes, resized, in column-major order or strided.

Values, strides and errors of records that resize outputs in order equal `torch.ops.aten.NAME.OVERLOAD`.
"""

import re
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from tests import samples  # noqa: E402
from tests.pytorch_parity.test_unsupported_dtypes import theirs  # noqa: E402
from tests.test_operators import short, undefined  # noqa: E402
from ts.ops import out_variants, registry  # noqa: E402

registry.load()
RECORDS = [
    r for r in registry.records()
    if r.variant == "out" and r.base and r.base.out_resized == out_variants.IN_ORDER and registry.find(r.base.key) is r.base
]  # fmt: skip
DTYPES = "float32 float64 int64 bool complex64".split()


# Intentional differences, and bugs of PyTorch.
EXCUSED = {
    "_logcumsumexp.out": "PyTorch leaves bits of one dtype in outputs of another",
    "_trilinear.out": "PyTorch's sum in the output is 0",
    "_masked_softmax.out": "PyTorch reads a mask that lies by columns as if it lay by rows",
    "_pdist_forward.out": "PyTorch takes rows only",
    "_pdist_backward.out": "PyTorch takes rows only",
    "native_layer_norm_backward.out": "PyTorch fails where weight and bias are missing",
    "native_group_norm_backward.out": "PyTorch fails where the weight is missing",
    "convolution_overrideable.out": "computed here, there for other backends to define",
    "_fft_r2c.out": "PyTorch fills what it has not computed in real outputs first",
    "_dirichlet_grad.out": "the sample lies outside of what it is for",
    "glu_jvp.out": "the sample lies outside of what it is for",
    "_transform_bias_rescale_qkv.out": "the sample lies outside of what it is for",
    "_weight_norm_interface_backward.out": "PyTorch refuses a matrix that lies by columns",
    "_weight_norm_interface.out": "the sample lies outside of what it is for",
}
NO_KERNEL = "Could not run"  # no kernel in PyTorch on the CPU


def written(record):
    """Return the keyword-only output parameters of an operator."""
    return [p for p in samples.operator(record).signature.parameters if p.written and p.keyword_only]


def inputs(record):
    """Return arguments by name, without outputs, of the first dtype that the operator accepts, or None."""
    names = [p.name for p in samples.operator(record).signature.parameters]
    for dtype in (ts.float32, ts.int64):
        given = samples.arguments(record.base, dtype)
        if given is not None and not isinstance(
            refusal(samples.operator(record.base), given), NotImplementedError
        ):
            base = [p.name for p in samples.operator(record.base).signature.parameters]
            return {name: x for name, x in zip(base, given, strict=True) if name in names}
    return None


def refusal(operator, given):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            operator(*given)
    except samples.REJECTION_ERRORS as error:
        return error
    return None


def column_major(x):
    """Return a matrix in column-major order."""
    return x.t().contiguous().t() if isinstance(x, ts.Tensor) and x.ndim == 2 else x


def described(x, lib, values):
    if isinstance(x, (list, tuple)):
        return [described(y, lib, values) for y in x]
    numbers = (np.asarray(x.to(lib.complex128).numpy()).round(3) + 0.0).tolist() if values else None
    return str(x.dtype).replace("torch.", ""), tuple(x.shape), tuple(x.stride()), numbers


def outcome(function, given, outs, lib, values):
    """Return the outputs after a call, or the error."""
    lib.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(**given, **outs)
        except Exception as error:
            return type(error).__name__, re.sub(r", device=.*", "", str(error).splitlines()[0])
    return described(list(outs.values()), lib, values)


def cases(record):
    """Yield names, output factories and input changes."""
    for dtype in DTYPES:
        yield dtype, lambda lib, dtype=dtype: lib.empty(0, dtype=getattr(lib, dtype)), lambda x: x
    yield "columns", lambda lib: lib.empty(0), column_major


@pytest.mark.parametrize("record", RECORDS, ids=short)
def test_same_outcome(record):
    if short(record) in EXCUSED or inputs(record) is None:
        pytest.skip(EXCUSED.get(short(record), "no sample suits"))
    overload = getattr(getattr(torch.ops.aten, record.name.removeprefix("aten::")), record.overload)
    names = [p.name for p in written(record)]
    values = not undefined(record) and not record.nondeterministic
    for case, make_outputs, change in cases(record):
        count = 0
        if written(record)[0].kind == "Tensor[]":
            count = len(samples.operator(record.base)(*inputs(record).values()))
        outs = {
            lib: {name: [make_outputs(lib) for _ in range(count)] if count else make_outputs(lib) for name in names}
            for lib in (ts, torch)
        }
        given = {name: change(x) for name, x in inputs(record).items()}
        twins = {name: theirs(x) for name, x in given.items()}
        got = outcome(samples.operator(record), given, outs[ts], ts, values)
        expected = outcome(overload, twins, outs[torch], torch, values)
        if NO_KERNEL in expected[-1] or "INTERNAL ASSERT" in expected[-1]:
            pytest.skip("PyTorch computes it on other devices, or ends in a check of its own")
        assert got == expected, case


def test_excuses_are_of_records():
    assert set(EXCUSED) <= {short(record) for record in RECORDS}
