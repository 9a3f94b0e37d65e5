"""Float8 dtypes compared with PyTorch's: all bit patterns, rounding, errors, files and scripts."""

import io
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

NAMES = ["float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"]
WIDE = ["float16", "bfloat16", "float32", "float64", "complex64", "bool"]
PATTERNS = np.arange(256, dtype=np.uint8)


def of_patterns(lib, name):
    return lib.from_numpy(PATTERNS.copy()).view(getattr(lib, name))


def bits(x):
    """Return the bits of elements as integers."""
    return x.contiguous().view(-1).view(ts.uint8 if isinstance(x, ts.Tensor) else torch.uint8).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_dtypes(name):
    ours, theirs = getattr(ts, name), getattr(torch, name)
    for fact in ("itemsize", "is_floating_point", "is_complex", "is_signed", "abbr"):
        assert getattr(ours, fact) == getattr(theirs, fact)
    assert repr(ours) == repr(theirs) and repr(ours.to_real()) == repr(theirs.to_real())
    assert repr(ts.finfo(ours)) == repr(torch.finfo(theirs))
    for fact in ("resolution", "min", "max", "eps", "smallest_normal", "tiny", "bits", "dtype"):
        assert getattr(ts.finfo(ours), fact) == getattr(torch.finfo(theirs), fact)
    assert ours.code == torch.jit.CompilationUnit("def f(x):\n    return x.dtype\n").f(
        torch.zeros(1, dtype=theirs)
    )


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("name", NAMES)
def test_patterns_become_numbers(name, wide):
    got, want = (of_patterns(lib, name).to(getattr(lib, wide)) for lib in (ts, torch))
    if wide in ("float16", "bfloat16"):  # NaN bits also differ in float32
        assert bits(got.isnan()) == bits(want.isnan())
        got, want = got[~got.isnan()], want[~want.isnan()]
    assert bits(got) == bits(want)


@pytest.mark.parametrize("name", NAMES)
def test_patterns_become_integers(name):
    numbers = ~of_patterns(torch, name).isnan()
    for integer in ("uint8", "int8", "int16", "int32", "int64"):
        least, largest = torch.iinfo(getattr(torch, integer)).min, torch.iinfo(getattr(torch, integer)).max
        there = of_patterns(torch, name).double()
        representable = (numbers & (there >= least) & (there <= min(largest, 2.0**62))).numpy()
        got, want = (
            of_patterns(lib, name)[lib.from_numpy(representable)].to(getattr(lib, integer)) for lib in (ts, torch)
        )
        assert got.tolist() == want.tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("other", NAMES)
def test_conversions_between_formats(name, other):
    got, want = (of_patterns(lib, name).to(getattr(lib, other)) for lib in (ts, torch))
    assert bits(got) == bits(want)


def floats():
    """Return float32 numbers of all exponents and leading bits, with their neighbours."""
    at = np.arange(0, 1 << 32, 1 << 14, dtype=np.uint64)
    near = np.concatenate([at, at + 1, at[1:] - 1])
    return near.astype(np.uint32).view(np.float32)


SOURCES = {
    "float32": floats,
    "float64": lambda: np.concatenate(
        [floats().astype(np.float64) * f for f in (1, 1 + 1e-9, 1 - 1e-9, 1e12)]
    ),
    "float16": lambda: np.arange(1 << 16, dtype=np.uint16).view(np.float16),
    "int64": lambda: np.concatenate([np.arange(-70000, 70000), np.array([2**62, -(2**63), 2**63 - 1])]),
    "uint8": lambda: PATTERNS,
    "bool": lambda: np.array([False, True]),
    "complex64": lambda: (np.arange(-50, 50) * (1 + 2j)).astype(np.complex64),
}


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", NAMES)
def test_numbers_become_patterns(name, source):
    with np.errstate(all="ignore"):
        numbers = SOURCES[source]()
    got, want = (bits(lib.from_numpy(numbers.copy()).to(getattr(lib, name))) for lib in (ts, torch))
    assert got == want


@pytest.mark.parametrize("name", NAMES)
def test_bfloat16_becomes_patterns(name):
    words = np.arange(1 << 16, dtype=np.uint16).view(np.int16)
    got, want = (
        bits(lib.from_numpy(words.copy()).view(lib.bfloat16).to(getattr(lib, name))) for lib in (ts, torch)
    )
    assert got == want


# Expressions for both libraries: `t` is the library, `d` the dtype, x and y are tensors.
ASKED = """
x; x.shape, x.dtype, x.numel(), x.element_size(), x.nbytes; x.type(); x.is_signed(); x.tolist(); x[1].item(); x.view(t.uint8)
t.zeros(2, dtype=d); t.ones(2, dtype=d); t.full((2,), 1.5, dtype=d); t.full((2,), -1.0, dtype=d); t.full((2,), 1e6, dtype=d)
t.full((2,), math.inf, dtype=d); t.full((2,), math.nan, dtype=d); t.full((2,), 0.0, dtype=d); t.tensor([1.5, -1, 1e6, 0.01], dtype=d)
t.tensor(1.5, dtype=d); t.tensor(1e6, dtype=d); t.tensor([1, 2, 3], dtype=d); t.tensor([True], dtype=d); t.tensor([], dtype=d)
t.empty(2, 3, dtype=d).shape; t.empty_strided((2,), (2,), dtype=d).stride(); t.eye(2, dtype=d); t.zeros_like(x); t.full_like(x, 2)
x.new_zeros(2); x.new_full((2,), 3.0); x.new_tensor([1.0, 2.0]); x.clone(); x.clone().copy_(t.tensor([1e6, -0.1, 3, 4]))
t.ones(4).copy_(x); t.ones(4, dtype=t.int32).copy_(x); x.view(2, 2).t(); x.view(2, 2).mT.contiguous().stride(); x.expand(2, 4)
t.cat([x, y]); t.stack([x, y]); t.cat([x, t.ones(2)]); x.split(2); x.unbind(); x.chunk(2); x.unfold(0, 2, 1); x.repeat(2)
x.roll(1); x[t.tensor([1, 0])]; x[x == 2]; x[None, 1:]; x.index_select(0, t.tensor([0])); t.where(x == 1, x, y); t.where(x == 1, x, 1.0)
x == y; x != y; x == 2.0; x == 1.01; x == 1; x == 1j; x == y.float(); x == t.tensor(1.0); t.equal(x, y); t.equal(x, x)
t.equal(x, x.clone()); t.equal(x, t.ones(4)); x.isnan(); x.isinf(); x.isfinite(); x.any(); x.all(); x.abs(); bool(x[0]); int(x[1])
f"{x[1]:.2f}"; t.result_type(x, 1.5); t.result_type(x, y.float()); t.promote_types(d, t.float32); t.promote_types(t.uint16, d)
t.can_cast(d, t.int32); t.can_cast(t.int32, d); t.set_default_dtype(d); t.iinfo(d); d.to_complex(); x.numpy(); x.numpy(force=True)
t.from_numpy(np.zeros(2, getattr(ml_dtypes, str(d)[6:]))); t.tensor(np.zeros(2, getattr(ml_dtypes, str(d)[6:])))
t.frombuffer(bytearray(4), dtype=d); x.requires_grad_(); x.to("meta"); x.to("meta") + 1; x.to("meta") == 1; x.to("meta").float()
t.rand(2, dtype=d, device="meta"); x.sum(dtype=t.float32); x.cumsum(0, dtype=t.float32); t.ones(2).to(x); x.type(t.float32)
x + y; x + 1; x - y; x * 2; x / 2; x ** y; -x; x < y; x >= 1; x + y.float(); x + t.ones(4, dtype=t.int64); x.exp(); x.sum(); x.mean()
x.max(); x.sort(); x.argmax(); x.cumsum(0); x.relu(); x.sigmoid(); x.tanh(); x.clamp(0, 1); x.round(); x.sign(); x.signbit(); x.nonzero()
x.masked_fill(x == 1, 2.0); x.unique(); x.topk(1); x.neg_(); x.add_(1); x.logical_not(); t.rand(2, dtype=d); t.randn(2, dtype=d)
t.arange(3, dtype=d); t.linspace(1, 2, 3, dtype=d); x.clone().uniform_(); x.clone().normal_(); t.ones(2).sum(dtype=d); t.bmm(z, z)
t.nn.functional.layer_norm(x, (4,)); t.nn.functional.gelu(x); t.nn.functional.dropout(x); t.nn.functional.max_pool2d(z, 2); x.prod()
"""
QUESTIONS = [question for line in ASKED.strip().splitlines() for question in line.split("; ")]


def evaluate_question(lib, name, question):
    import math

    import ml_dtypes

    d = getattr(lib, name)
    names = {"t": lib, "d": d, "math": math, "np": np, "ml_dtypes": ml_dtypes}
    names["x"] = lib.tensor([1.0, 2.0, 0.5, 3.0]).to(d)
    names["y"] = lib.tensor([1.0, 2.0, 0.25, 3.0]).to(d)
    names["z"] = lib.ones(1, 4, 4).to(d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(eval(question, names))
        except Exception as error:
            return f"{type(error).__name__}: {error}"


# Expressions on a tensor `x` of packed 4-bit floats, which PyTorch stores, moves and compares as bytes.
PACKED = """
x; x.type(); d.itemsize; d.abbr; d.is_signed; d.is_floating_point; d.to_real(); t.zeros(2, dtype=d); t.zeros_like(x); x.new_zeros(2)
x.clone().zero_(); x.clone().view(t.uint8); t.empty_like(x).copy_(x); x.view(t.float8_e5m2); t.cat([x, x]); t.stack([x, x]); x.repeat(2, 1)
x.expand(2, 3, 4); x.t().contiguous(); x.roll(1, 1); x[1:]; x[1, 2:]; x == x; x != x.roll(1, 1); x.isnan(); t.where(x == x, x, x)
x.unfold(0, 2, 1); x.diagonal(); t.diag(x); x.to("meta"); x.to(d) is x; t.result_type(x, x); t.can_cast(d, t.float32)
t.set_default_dtype(d); t.finfo(d); t.iinfo(d); d.to_complex(); x.numpy(); x.to(t.uint8); x.bool(); t.arange(3, dtype=t.uint8).to(d)
x + x; -x; x.sum(); x.max(); x.sort(); x.abs(); t.equal(x, x); t.equal(x, x.clone()); x.exp(); x.argmax(); x < x; x.logical_not(); x.unique()
t.eye(2, dtype=d); x.masked_fill(x == x, 0)
"""
PACKED_QUESTIONS = [question for line in PACKED.strip().splitlines() for question in line.split("; ")]


@pytest.mark.parametrize("question", PACKED_QUESTIONS)
def test_packed_answers(question):
    answers = []
    for lib in (ts, torch):
        names = {"t": lib, "d": lib.float4_e2m1fn_x2}
        names["x"] = lib.from_numpy(PATTERNS[:96:8].copy()).view(3, 4).view(names["d"])
        try:
            answers.append(repr(eval(question, names)))
        except Exception as error:
            answers.append(f"{type(error).__name__}: {error}")
    assert answers[0] == answers[1]


def test_packed_files():
    """Files of packed 4-bit floats load in the other library."""
    for writer, reader in ((ts, torch), (torch, ts)):
        file = io.BytesIO()
        writer.save(writer.from_numpy(PATTERNS.copy()).view(writer.float4_e2m1fn_x2)[8:], file)
        file.seek(0)
        x = reader.load(file)
        assert x.dtype is reader.float4_e2m1fn_x2 and bits(x) == PATTERNS[8:].tolist()


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers(question):
    for name in NAMES:
        assert evaluate_question(ts, name, question) == evaluate_question(torch, name, question), name


@pytest.mark.parametrize("name", NAMES)
def test_files(name):
    """Files of float8 tensors load in the other library; PyTorch does not load its own legacy format."""

    def written(lib, old=False):
        x = of_patterns(lib, name).reshape(16, 16)
        stored = io.BytesIO()
        lib.save(
            {"whole": x, "part": x[3:, 2:].t(), "dtype": x.dtype},
            stored,
            _use_new_zipfile_serialization=not old,
        )
        return x, io.BytesIO(stored.getvalue())

    for writer, reader, old in ((torch, ts, False), (ts, torch, False), (torch, ts, True), (ts, ts, True)):
        x, file = written(writer, old)
        found = reader.load(file)
        assert found["dtype"] is getattr(reader, name) and found["part"].stride() == x[3:, 2:].t().stride()
        assert bits(found["whole"]) == bits(x) and bits(found["part"]) == bits(x[3:, 2:].t())


def module_of(lib, name):
    class Scaled(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", lib.tensor([1.0, 2.0, 0.3]).to(getattr(lib, name)))

        def forward(self, x):
            return x * self.scale.to(torch.float32), self.scale

    Scaled.forward.__globals__["torch"] = lib
    try:
        return lib.jit.script(Scaled())
    finally:
        Scaled.forward.__globals__["torch"] = torch


@pytest.mark.parametrize("name", [*NAMES, "uint16"])
def test_modules_in_files(name):
    for writer, reader in ((torch, ts), (ts, torch)):
        stored = io.BytesIO()
        writer.jit.save(module_of(writer, name), stored)
        read = reader.jit.load(io.BytesIO(stored.getvalue()))
        want = module_of(reader, name)(reader.ones(3))
        for got, wanted in zip(read(reader.ones(3)), want, strict=True):
            assert got.dtype is wanted.dtype and bits(got) == bits(wanted)


@pytest.mark.parametrize("name", NAMES)
def test_gradients(name):
    """Gradients pass through float8 conversions and have the dtype of their tensors."""

    def gradients(lib):
        d = getattr(lib, name)
        x = lib.tensor([1.0, 2.3], requires_grad=True)
        leaf = lib.tensor([1.0, 2.3]).to(d).requires_grad_()
        ((x.to(d)[:1].float() + leaf.float()) * lib.tensor([1.01, 3.0])).sum().backward()
        return bits(x.grad.to(d)), bits(leaf.grad), repr(x.grad.dtype), repr(leaf.grad.dtype)

    assert gradients(ts) == gradients(torch)


def test_closeness():
    for lib in (ts, torch):
        x = lib.tensor([1.0, 2.0]).to(lib.float8_e4m3fn)
        lib.testing.assert_close(x, x.clone())
        with pytest.raises(AssertionError, match="Mismatched elements: 1 / 2"):
            lib.testing.assert_close(x, lib.tensor([1.0, 3.0]).to(lib.float8_e4m3fn))


SCRIPT = """
def narrow(x):
    y = x.to({code})
    return y.float(), y, y.dtype, torch.zeros([2], dtype={code}), torch.cat([y, y]), y == y

def add(x):
    return x.to({code}) + 1
"""


@pytest.mark.parametrize("name", NAMES)
def test_scripts(name):
    text = SCRIPT.format(code=getattr(ts, name).code)
    ours, theirs = ts.jit.CompilationUnit(text), torch.jit.CompilationUnit(text)
    for _ in range(3):
        assert repr(ours.narrow(ts.tensor([1e4, 0.3]))) == repr(theirs.narrow(torch.tensor([1e4, 0.3])))
    for unit, lib in ((ours, ts), (theirs, torch)):
        kind = NotImplementedError if lib is ts else RuntimeError
        with pytest.raises(
            (kind, RuntimeError), match=f"\"add_stub\" not implemented for '{getattr(ts, name).type_name}'"
        ):
            unit.add(lib.ones(2))
    traced = []
    for lib in (ts, torch):

        def there_and_back(x, lib=lib):
            return x.to(getattr(lib, name)).to(lib.float16)

        traced.append(lib.jit.trace(there_and_back, (lib.ones(2),)))
    assert (
        traced[0].code == traced[1].code
        and traced[0](ts.tensor([0.3])).tolist() == traced[1](torch.tensor([0.3])).tolist()
    )
