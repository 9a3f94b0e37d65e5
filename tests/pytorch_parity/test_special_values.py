"""Pointwise operators at special values: PyTorch's results, including signs of zero and NaN.

Every record of the families `unary` and `pointwise` is tested in every dtype with signed zeros, infinities,
NaN, subnormal, smallest and largest numbers and the integer limits; binary operators with all pairs. Refusals
have to be PyTorch's too.  Remaining differences are in DIFFERENT, with reasons.
"""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import ts  # noqa: E402
from tests import samples  # noqa: E402
from ts.ops import registry  # noqa: E402

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
DECIMALS = {
    "float16": 1e-3,
    "bfloat16": 8e-3,
    "float32": 2e-5,
    "float64": 1e-12,
    "complex64": 2e-5,
    "complex128": 1e-12,
}
INF, NAN = float("inf"), float("nan")

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
COMPLEX = ("complex64", "complex128")

# (reason, names of records, dtypes) of differences in any overload
DIFFERENT = [
    ("PyTorch clamps at the largest number: infinities become that, and NaN zero or NaN", "_add_relu", FLOATS),
    ("PyTorch multiplies `other` by alpha first, and 1 times a complex infinity is no number there",
     "add sub subtract rsub", COMPLEX),
    ("-x is 0 - x in PyTorch's vectors, which makes all zeros positive", "neg negative", COMPLEX),
    ("vectors and single elements of PyTorch differ in signs of zero, and where they give NaN",
     "sgn reciprocal log1p special_log1p logaddexp ldexp", COMPLEX),
    ("0 ** 0 is 1 as in Python; PyTorch has no number for it", "pow float_power", COMPLEX),
    ("PyTorch computes x ** -0.5 as 1 / sqrt(x): NaN for minus infinity", "pow.Tensor_Scalar float_power.Tensor_Scalar", FLOATS),
    ("the sign of a zero in acos", "acos arccos", ("complex128",)),
    ("which one of two zeros: PyTorch's vectors of some dtypes give the first, of others the second",
     "nextafter fmax fmin", FLOATS),
    ("PyTorch's vectors give NaN for subnormal divisors, its single elements do not", "fmod remainder",
     ("bfloat16", "float32", "float64")),
    ("PyTorch flushes subnormal results to zero", "erf special_erf special_bessel_j1 sigmoid special_expit", FLOATS),
    ("PyTorch computes in 16 bits, or loses the digits of small results",
     "special_i0e special_ndtr logaddexp2", (*INTEGERS, *FLOATS)),
    ("PyTorch's approximations have fewer digits, for large arguments none",
     "special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_airy_ai", (*INTEGERS, *FLOATS)),
    ("PyTorch loses NaN and what is subnormal",
     "igamma igammac special_gammainc special_gammaincc special_zeta", (*INTEGERS, *FLOATS)),
]  # fmt: skip


def excused(record, dtype):
    """Return the reason why a record may differ, or an empty string."""
    key, name = record.key.removeprefix("aten::"), record.name.removeprefix("aten::")
    return next(
        (why for why, names, dtypes in DIFFERENT if dtype in dtypes and {key, name} & {*names.split()}), ""
    )


def values(dtype):
    """Return a PyTorch tensor of the special values of a dtype."""
    kind = getattr(torch, dtype)
    if dtype == "bool":
        return torch.tensor([False, True])
    if not (kind.is_floating_point or kind.is_complex):
        ends = torch.iinfo(kind)
        least = [ends.min, ends.min + 1, -7, -2, -1] if ends.min else []
        return torch.tensor([*least, 0, 1, 2, 3, 7, 12, ends.max // 2, ends.max - 1, ends.max], dtype=kind)
    parts = torch.float32 if dtype == "complex64" else torch.float64 if dtype == "complex128" else kind
    limits = torch.finfo(parts)
    if kind.is_complex:
        line = [0.0, -0.0, 1.0, -1.5, INF, -INF, NAN]
        return torch.tensor([complex(x, y) for x in line for y in line], dtype=kind)
    sizes = [
        0.0,
        limits.smallest_normal / 4,
        limits.smallest_normal,
        limits.eps,
        0.5,
        1,
        1.5,
        2,
        3,
        100,
        limits.max,
        INF,
    ]
    return torch.tensor([s * x for x in sizes for s in (1, -1)] + [NAN], dtype=kind)


def records():
    registry.load()
    for record in registry.records():
        own = record.name.startswith("aten::") and record.base is None and not record.variant
        if own and record.family in ("unary", "pointwise"):
            kinds = [p.kind for p in samples.operator(record).signature.parameters if not p.has_default]
            if kinds in (["Tensor"], ["Tensor", "Tensor"], ["Tensor", "Scalar"], ["Scalar", "Tensor"]):
                yield record


RECORDS = list(records())


def ours(x):
    if isinstance(x, torch.Tensor):
        if x.dtype is torch.bfloat16:
            return ts.from_numpy(x.float().numpy()).to(ts.bfloat16)
        return ts.from_numpy(x.numpy().copy())
    return x


def numbers(x):
    """Return the elements as an array that NumPy can compare."""
    name = str(x.dtype).removeprefix("torch.")
    return (x.float() if name == "bfloat16" else x).numpy(), name


def arguments(record, dtype):
    """Yield pairs of PyTorch's arguments and their description."""
    kinds = [p.kind for p in samples.operator(record).signature.parameters if not p.has_default]
    x = values(dtype)
    if record.name in ("aten::lcm", "aten::gcd") and not x.is_complex() and x.min() < -1:
        x = x[1:]  # PyTorch's gcd of the smallest integer is negative, and its lcm ends the process
    if kinds == ["Tensor"]:
        yield [x]
    elif kinds == ["Tensor", "Tensor"]:
        n = len(x)
        yield [x.repeat_interleave(n), x.repeat(n)]
        yield [x.repeat_interleave(n)[1:], x.repeat(n)[1:]]  # with other positions in the SIMD vectors
    else:
        for number in x.tolist():
            yield [x, number] if kinds[0] == "Tensor" else [number, x]


def outcome(function, args):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args), None
    except (RuntimeError, TypeError, ValueError, NotImplementedError, OverflowError) as error:
        return None, error


def difference(want, got):
    """Return a description of the difference of two results, or an empty string."""
    (a, name), (b, own) = numbers(want), numbers(got)
    if name != own or a.shape != b.shape:
        return f"{name} {a.shape} became {own} {b.shape}"
    parts = [(a.real, b.real), (a.imag, b.imag)] if a.dtype.kind == "c" else [(a, b)]
    wrong = np.zeros(a.shape, bool)
    for p, q in parts:
        if p.dtype.kind != "f":
            wrong |= p != q
            continue
        decimals = DECIMALS[name]
        size = np.abs(a) if a.dtype.kind == "c" else np.abs(p)
        with np.errstate(all="ignore"):
            near = (
                np.abs(p.astype(float) - q.astype(float))
                <= decimals * size.astype(float) + np.finfo(p.dtype).smallest_subnormal * 4
            )
        near |= p == q
        near &= ~((p == 0) & (q == 0) & (np.signbit(p) != np.signbit(q)))
        near |= np.isnan(p) & np.isnan(q)
        wrong |= ~near
    decimals = np.flatnonzero(wrong)
    return "; ".join(f"at {i}: {a.flat[i]} became {b.flat[i]}" for i in decimals[:4]) + (
        f" ({len(decimals)})" if len(decimals) else ""
    )


def problems(record, dtype):
    """Return the differences of one record in one dtype."""
    packet = getattr(torch.ops.aten, record.name.removeprefix("aten::"))
    theirs = getattr(packet, record.overload or "default")
    found = []
    for args in arguments(record, dtype):
        want, refused = outcome(theirs, args)
        got, error = outcome(samples.operator(record), [ours(x) for x in args])
        shown = [x for x in args if not isinstance(x, torch.Tensor)]
        if refused is not None or error is not None:
            if type(refused) is not type(error):
                found.append(f"{shown}: {refused!r} became {error!r}")
            continue
        text = difference(want, got)
        if text:
            said = [
                [x[int(t[3:].split(":")[0])].item() if isinstance(x, torch.Tensor) else x for x in args]
                for t in text.split("; ")
                if t.startswith("at")
            ]
            found.append(f"{said} {text}")
    return found


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: r.key.removeprefix("aten::"))
def test_special_values(record):
    for dtype in DTYPES:
        found = problems(record, dtype)
        if not excused(record, dtype):
            assert not found, f"{dtype}: " + "\n".join(found)


def test_exceptions_are_needed():
    """Each entry of DIFFERENT has a difference."""
    for why, names, dtypes in DIFFERENT:
        for name in names.split():
            chosen = [
                r for r in RECORDS if name in (r.key.removeprefix("aten::"), r.name.removeprefix("aten::"))
            ]
            assert any(problems(r, d) for r in chosen for d in dtypes), f"{name}: {why}"


TOO_LARGE = """where(m, x, 300) | where(m, 300, x) | where(m, x, -1) | x.clamp(max=300) | x.clamp(-1) | x.clamp(2, 1e300)
    x.masked_fill(m, 300) | x.masked_fill(m, 1e300) | x.index_fill(0, i, 300) | x.index_fill(0, i, 1e300) | x.scatter(0, i, 300)
    x.fill_(300) | x.fill_(1e300) | x + 300 | x * 300 | x == 300 | x // 300 | x ** 300 | x.pow(2**40) | add(x, x, alpha=300)
    addcmul(x, x, x, value=300) | threshold(x, 300, 300) | threshold(x, 2, 300) | full_like(x, 300) | x.new_full((2,), 300)
    tensor([300], dtype=x.dtype) | tensor([1e300], dtype=x.dtype) | scalar_tensor(300, dtype=x.dtype)
    constant_pad_nd(x, (1, 1), 300) | nn.functional.hardtanh(x, -1, 300)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", [text.strip() for text in TOO_LARGE])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "float16", "float32", "bfloat16"])
def test_numbers_out_of_the_range_of_the_dtype(text, dtype):
    """Out-of-range numbers wrap around, become infinite or are rejected, as in PyTorch."""
    results = []
    for module in (torch, ts):
        x = module.tensor([1, 2], dtype=getattr(module, dtype))
        names = {"x": x, "m": module.tensor([True, False]), "i": module.tensor([0])}
        used = "where add addcmul threshold full_like tensor scalar_tensor constant_pad_nd nn"
        names |= {name: getattr(module, name) for name in used.split()}
        got, error = outcome(lambda names=names: eval(text, names), ())
        results.append((str(type(error)), str(error)) if error else (str(got.dtype), got.tolist()))
    assert results[0] == results[1] or (
        results[0][0] == results[1][0] and results[1][1].startswith(results[0][1])
    )
