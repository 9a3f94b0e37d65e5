"""complex32 compared with PyTorch's: values, errors, files and scripts."""

import io
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

SCRIPT = """
def narrow(x):
    y = x.to({code})
    return y.abs(), y, y.dtype, torch.zeros([2], dtype={code}), torch.cat([y, y]), y == y, y * 2 + y

def divided(x):
    return x.to({code}) / 2
"""


def bits(x):
    """Return the bits of elements as integers."""
    return x.contiguous().view(-1).view(ts.int32 if isinstance(x, ts.Tensor) else torch.int32).tolist()


def test_dtype():
    ours, theirs = ts.complex32, torch.complex32
    for fact in ("itemsize", "is_floating_point", "is_complex", "is_signed", "abbr"):
        assert getattr(ours, fact) == getattr(theirs, fact)
    assert repr(ours) == repr(theirs) and ts.chalf is ours and repr(ours.to_real()) == repr(theirs.to_real())
    assert repr(ts.finfo(ours)) == repr(torch.finfo(theirs))
    for name in ("float16", "bfloat16", "float32", "float64", "complex64"):
        assert repr(getattr(ts, name).to_complex()) == repr(getattr(torch, name).to_complex())


NAMES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64 complex128".split()


@pytest.mark.parametrize("name", NAMES)
def test_promotion_and_conversion(name):
    """Promotion of each dtype with complex32 is symmetric and equals PyTorch's; numbers convert in both
    directions."""
    for lib in (ts, torch):
        other = getattr(lib, name)
        assert lib.promote_types(other, lib.complex32) is lib.promote_types(lib.complex32, other)
    assert repr(ts.promote_types(getattr(ts, name), ts.complex32)) == repr(
        torch.promote_types(getattr(torch, name), torch.complex32)
    )
    numbers = np.array([0, 1, 2.5, 1000.3, 3e-5, 65519, 65520, 7e4, 1e-9, -2.2], np.complex64)
    numbers += 1j * np.array([0, 1, -3, 1e-7, 12345, 0, 1e9, 0.1, 5, 2e-8], np.float32)
    small = numbers[:4] if name in NAMES[:6] else numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        into, back = ([], [])
        for lib in (ts, torch):
            wide = lib.from_numpy(small.copy()).to(getattr(lib, name))
            into.append(bits(wide.to(lib.complex32)))
            again = lib.from_numpy(small.copy()).to(lib.complex32).to(getattr(lib, name))
            back.append(again.tolist())
    assert into[0] == into[1] and back[0] == back[1]


# Expressions for both libraries: `t` is the library, `d` the dtype; x, y, m and r are tensors, h is a float16
# tensor.
ASKED = """
x; x.shape, x.dtype, x.numel(), x.element_size(), x.nbytes; x.type(); x.tolist(); x[1].item(); x.is_complex(); m; m.t(); m[0]
t.zeros(2, dtype=d); t.ones(2, dtype=d); t.full((2,), 1.5, dtype=d); t.full((2,), 1.5j, dtype=d); t.full((2,), 1e6, dtype=d)
t.full((2,), 1e6j, dtype=d); t.tensor([1.5, -1j, 1e6, 0.01], dtype=d); t.tensor(1.5, dtype=d); t.tensor(2j, dtype=d); t.tensor([], dtype=d)
t.tensor([True, False], dtype=d); t.tensor([1, 2], dtype=d); t.empty(2, 3, dtype=d).shape; t.zeros_like(x); t.ones_like(x); t.full_like(x, 2j)
x.new_zeros(2); x.new_ones(2); x.new_full((2,), 3j); x.new_tensor([1.0, 2j]); x.clone(); x.clone().copy_(t.tensor([1e6, -0.1, 3j, 4]))
t.ones(4, dtype=t.complex64).copy_(x); x.fill_(2); x.fill_(1j); x.zero_(); x.view(2, 2).t(); x.expand(2, 4); x.chalf() is x; h.chalf()
t.ones(2).chalf(); x.cfloat(); x.cdouble(); x.half(); x.float(); x.bool(); x.long(); x.to(t.complex64); x.type(t.complex64)
x.view(t.float16); x.view(t.int32); x.view(t.int16); h.view(d); t.ones(2, dtype=t.int32).view(d); t.view_as_real(x); t.view_as_real(m.t()[1:])
t.view_as_complex(h.view(2, 2)); t.complex(h, h); x.real; x.imag; x.real.data_ptr() == x.data_ptr(); m.t().imag; x.clone().real.fill_(5)
t.cat([x, y]); t.cat([x, h]); t.cat([x, t.ones(2)]); t.stack([x, y]); t.hstack([x, y]); x.split(2); x.unbind(); x.chunk(2); x.repeat(2); x.roll(1)
x.unfold(0, 2, 1); x[t.tensor([1, 0])]; x[x == 2]; x[None, 1:]; x.index_select(0, t.tensor([0])); t.where(x == 1, x, y); t.where(x == 1, x, 1.0)
t.where(x == 1, x, 2j); x.masked_fill(x == 1, 2.0); x.masked_fill(x == 1, 2j); x.masked_select(x == 1); x.index_fill(0, t.tensor([1]), 3j)
x.index_add(0, t.tensor([1, 2]), y[:2]); x.index_copy(0, t.tensor([1, 2]), y[:2]); x.index_put((t.tensor([1]),), y[3]); m.tril(); m.triu(); x.diag()
x == y; x != y; x == 2.0; x == 1j; x == y.cfloat(); x == h; t.equal(x, x); t.equal(x, y); t.isclose(x, y); t.allclose(x, x)
x.isnan(); x.isinf(); x.isfinite(); x.isreal(); x.any(); x.all(); x.nonzero(); t.argwhere(x); t.count_nonzero(x); bool(x[0]); complex(x[1])
x + y; x + 1; x + 1j; x - y; 1 - x; x * y; x * 2; x * 2.5; x * 2j; x + h; h * x; x + t.ones(4); x - t.ones(4, dtype=t.float64); x + t.tensor(2.0)
x * t.tensor(1j); x + t.ones(4, dtype=t.int64); x + t.ones(4, dtype=t.bfloat16); x * y.cfloat(); h + 1j; h * 2j; h - 1j; 1j - h
x.add(y, alpha=2); x.add(y, alpha=2j); x.mul_(2); x.add_(y); x.sub_(1j); x.neg_(); x.mul_(y); t.add(x, y, out=x.clone()); t.abs(x, out=h.clone()); h.add_(x)
-x; x.neg(); x.conj(); x.conj_physical(); t.conj_physical(m.t()); x.resolve_conj(); x.positive(); x.abs(); m.t().abs(); x.sgn(); t.addcmul(x, y, y)
t.addcmul(x, y, y, value=2); x.var(); x.std(); x.norm(); t.linalg.vector_norm(x); t.dist(x, y); t.kron(x, y); t.outer(x, y); x.diff()
x.float_power(2); x.sum(dtype=t.complex64); x.cumsum(0, dtype=t.complex64); x.prod(dtype=t.complex64); t.nn.functional.pad(x, (1, 1))
t.result_type(x, 1.5); t.result_type(h, 1j); t.result_type(x, t.ones(2)); t.can_cast(d, t.float32); t.can_cast(t.float32, d); t.can_cast(d, t.complex64)
t.set_default_dtype(d); t.iinfo(d); x.numpy(); x.numpy(force=True); t.from_numpy(np.zeros(2, ml_dtypes.complex32)); t.frombuffer(bytearray(4), dtype=d)
x.requires_grad_(); x.to("meta"); x.to("meta") + 1; x.to("meta").abs(); x.to("meta").real; t.zeros(2, dtype=d, device="meta"); f"{x[0]}"
t.ones(2, 2, dtype=d); t.tensor([1e-3 + 1e4j, 1e-8], dtype=d); t.ones(2000, dtype=d); t.finfo(d); t.testing.assert_close(x, x.clone())
x / 2; x / y; 1 / x; x ** 2; x ** y; x.pow(2); x.square(); x < y; x >= 1; x.exp(); x.log(); x.sin(); x.tanh(); x.sqrt(); x.rsqrt(); x.sigmoid(); x.reciprocal()
x.sum(); x.mean(); x.prod(); x.cumsum(0); x.cumprod(0); x.max(); x.argmax(); x.sort(); x.unique(); x.topk(1); x.angle(); x.round(); x.sign(); x.clamp(0, 1)
x.relu(); m @ m; x @ x; m @ x[:2]; t.bmm(m[None], m[None]); t.mm(m, m); t.mv(m, x[:2]); x.dot(x); x.vdot(x); t.addmm(m, m, m); t.einsum("i,i->", x, x)
t.eye(2, dtype=d); t.arange(3, dtype=d); t.linspace(0, 1, 3, dtype=d); t.logspace(0, 1, 3, dtype=d); t.ones(2).sum(dtype=d); x.logical_not()
x.logical_and(y); m.trace(); m.inverse(); m.det(); t.linalg.inv(m); t.linalg.solve(m, m); t.linalg.cholesky(m); t.linalg.eig(m); t.linalg.qr(m)
t.fft.fft(x); x.logsumexp(0); x.softmax(0); x.lerp(y, 0.5); t.addcdiv(x, y, y); t.logaddexp(x, y); t.atan2(x, y); t.polar(h, h); x.frac(); x.floor()
t.nn.functional.linear(m, m); x.log1p(); x.expm1(); x.acos(); x.asinh(); x.tan(); x.cosh(); x.log2(); x.exp2(); t.sinc(x); t.cross(r, r, dim=0); x.erf()
"""
QUESTIONS = [question for line in ASKED.strip().splitlines() for question in line.split("; ")]


def evaluate_question(lib, question):
    import ml_dtypes

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = {"t": lib, "d": lib.complex32, "np": np, "ml_dtypes": ml_dtypes}
        names["x"] = lib.tensor([1.0, 2.0 + 0.5j, 0.5j, -3.0]).to(lib.complex32)
        names["y"] = lib.tensor([1.0, 2.3 - 7j, 0.25, 3.001 + 1e-3j]).to(lib.complex32)
        names["m"] = lib.tensor([[1.0, 2.0 + 1j], [0.3j, 4.0]]).to(lib.complex32)
        names["r"] = lib.ones(3).to(lib.complex32)
        names["h"] = lib.tensor([1.0, 0.1, 3.3, -2.0]).half()
        try:
            return repr(eval(question, names))
        except Exception as error:
            return f"{type(error).__name__}: {str(error).strip()}"


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers(question):
    assert evaluate_question(ts, question) == evaluate_question(torch, question)


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
def test_many_numbers(operation):
    """Sums, differences and products of numbers with all exponents are rounded as in PyTorch."""
    words = np.random.RandomState(0).randint(0, 1 << 16, 8 * 4096).astype(np.uint16)
    words = words[(words & 0x7C00) != 0x7C00][: 4 * 4096 + 4]
    words = words[: len(words) // 4 * 4]
    results = []
    for lib in (ts, torch):
        x, y = lib.from_numpy(words.view(np.int16).copy()).view(lib.complex32).view(2, -1)
        results.append(bits(getattr(lib, operation)(x, y)))
    assert results[0] == results[1]


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
@pytest.mark.parametrize(
    "draw",
    [
        "t.randn(5, dtype=d)", "t.randn(50, dtype=d)", "t.rand(5, dtype=d)", "t.rand(50, dtype=d)",
        "t.randn_like(t.zeros(7, dtype=d))", "t.zeros(40, dtype=d).normal_(1, 2)", "t.zeros(9, dtype=d).uniform_()",
    ],
)  # fmt: skip
def test_random_numbers(draw):
    found = []
    for lib in (ts, torch):
        lib.manual_seed(3)
        found.append(bits(eval(draw, {"t": lib, "d": lib.complex32})))
    assert found[0] == found[1]


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
def test_files():
    """Files of complex32 tensors load in the other library."""
    for writer, reader in ((torch, ts), (ts, torch), (ts, ts)):
        x = writer.arange(12).to(writer.complex64).mul(1 + 0.5j).to(writer.complex32).view(3, 4)
        stored = io.BytesIO()
        writer.save({"whole": x, "part": x[1:, 2:].t(), "dtype": x.dtype}, stored)
        found = reader.load(io.BytesIO(stored.getvalue()))
        assert found["dtype"] is reader.complex32 and found["part"].stride() == x[1:, 2:].t().stride()
        assert bits(found["whole"]) == bits(x) and bits(found["part"]) == bits(x[1:, 2:].t())


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
def test_gradients():
    def gradients(lib):
        x = lib.tensor([1.0, 2.5j]).to(lib.complex32).requires_grad_()
        wide = lib.tensor([1.0, 2.5j], requires_grad=True)
        ((x * 2).to(lib.complex64) + wide.to(lib.complex32).to(lib.complex64)).abs().sum().backward()
        return repr(x.grad), repr(wide.grad)

    assert gradients(ts) == gradients(torch)


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
def test_scripts():
    text = SCRIPT.format(code=ts.complex32.code)
    ours, theirs = ts.jit.CompilationUnit(text), torch.jit.CompilationUnit(text)
    for _ in range(3):
        assert repr(ours.narrow(ts.tensor([1e4, 0.3j]))) == repr(theirs.narrow(torch.tensor([1e4, 0.3j])))
    for unit, lib in ((ours, ts), (theirs, torch)):
        with pytest.raises(RuntimeError, match="\"div_cpu\" not implemented for 'ComplexHalf'"):
            unit.divided(lib.ones(2))
    for lib in (ts, torch):
        traced = lib.jit.trace(lambda x, lib=lib: x.to(lib.complex32).abs(), (lib.ones(2),))
        assert traced(lib.tensor([0.3])).dtype is lib.float16


def test_warning_is_issued_once():
    import subprocess
    import sys

    counts = []
    for lib in ("ts", "torch"):
        code = f"import {lib} as t; t.ones(2); print(t.complex32); t.zeros(2, dtype=t.chalf); t.ones(2).chalf() + 1"
        ran = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        counts.append(ran.stderr.count("ComplexHalf support is experimental and many operators don't support it yet."))
    assert counts == [1, 1]
