"""CUDA C++ from text: what each kernel of the backend is compiled from.

In: the CUDA expression of an operator record and dtypes by name; out: a complete translation unit, without
includes, which NVRTC compiles on machines without a GPU too (`tests/test_cuda_sources.py`).

    pointwise("k", "a + b", ["float16", "float32"], "float32", "float32", rank=0)

The operands are called a, b, c in an expression, and have the type that is computed in.  `rank` 0 is the
kernel for operands that lie alike and densely; otherwise their strides (in elements) are arguments, 0 along
a dimension that is broadcast.  An operand can be a number: then it is an argument by value.

float16 and bfloat16 are words of 16 bits here, converted to float when loaded and rounded to nearest even
when stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# After neighbouring dimensions have been joined; arrays with more are left to CuPy.
MOST_DIMENSIONS = 8

C_TYPES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short",
    "uint16": "unsigned short", "int32": "int", "uint32": "unsigned int", "int64": "long long",
    "uint64": "unsigned long long", "float16": "half_bits", "bfloat16": "bfloat_bits",
    "float32": "float", "float64": "double",
}  # fmt: skip

# `ts::` holds the functions that CUDA has with other rules (NaN in min and max) or not for every type, so
# that an expression means the same in each dtype.
PREAMBLE = r"""
struct half_bits { unsigned short bits; };
struct bfloat_bits { unsigned short bits; };

#ifdef __CUDACC__
__device__ inline float bits_to_float(unsigned int bits) { return __uint_as_float(bits); }
__device__ inline unsigned int float_to_bits(float x) { return __float_as_uint(x); }
__device__ inline float loaded(half_bits x) {
    float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y;
}
__device__ inline half_bits to_half(float x) {
    half_bits y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y;
}
#endif
__device__ inline float loaded(bfloat_bits x) { return bits_to_float((unsigned int)x.bits << 16); }
template <class T> __device__ inline T loaded(T x) { return x; }
__device__ inline bfloat_bits to_bfloat(float x) {
    unsigned int bits = float_to_bits(x);
    bfloat_bits y;
    if (x != x) { y.bits = 0x7fc0; return y; }
    bits += 0x7fff + ((bits >> 16) & 1);
    y.bits = (unsigned short)(bits >> 16);
    return y;
}
__device__ inline void store(half_bits *p, float x) { *p = to_half(x); }
__device__ inline void store(bfloat_bits *p, float x) { *p = to_bfloat(x); }
template <class T, class V> __device__ inline void store(T *p, V x) { *p = (T)x; }

namespace ts {
template <class T> __device__ inline bool isnan(T x) { return x != x; }
template <class T> __device__ inline bool isinf(T x) { return x == x && (x - x) != (x - x); }
template <class T> __device__ inline bool isfinite(T x) { return (x - x) == (x - x); }
template <class T> __device__ inline T abs(T x) { return fabs(x); }
template <class T, class U> __device__ inline T max(T x, U y) { return isnan(x) || x > (T)y ? x : (T)y; }
template <class T, class U> __device__ inline T min(T x, U y) { return isnan(x) || x < (T)y ? x : (T)y; }
template <class T> __device__ inline T floor_divide(T x, T y) {
    if (y == 0) return x / y;
    T rest = fmod(x, y), quotient = (x - rest) / y;
    if (rest != 0 && (y < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return copysign((T)0, x / y);
    T whole = floor(quotient);
    return quotient - whole > (T)0.5 ? whole + 1 : whole;
}
}
"""


def pointwise(
    name: str,
    expression: str,
    operands: Sequence[str],
    compute: str,
    result: str,
    *,
    rank: int,
    numbers: Sequence[bool] = (),
) -> str:
    """The source of one pointwise kernel.

    Its arguments are the operands (pointers, or values where `numbers` says so), the result, the number of
    elements, and for `rank` > 0 the shape without its first length, and each pointer's strides.
    """
    by_value = list(numbers) or [False] * len(operands)
    letters = "abc"[: len(operands)]
    parameters = [
        f"{_value_type(compute)} {x}_" if value else f"const {C_TYPES[dtype]} *{x}_"
        for x, dtype, value in zip(letters, operands, by_value, strict=True)
    ]
    parameters += [f"{C_TYPES[result]} *out", "long long n"]
    pointers = [x for x, value in zip(letters, by_value, strict=True) if not value]
    parameters += [f"long long n{d}" for d in range(1, rank)]  # the first dimension is whatever is left
    parameters += [f"long long {x}{d}" for x in pointers for d in range(rank)]
    work = _value_type(compute)
    declared = " ".join(
        f"const {work} {x} = ({work}){f'{x}_' if value else f'loaded({x}_[{_place(x, rank)}])'};"
        for x, value in zip(letters, by_value, strict=True)
    )
    return f"""{PREAMBLE}
namespace ts {{
__device__ inline {_value_type(result)} {name}_value({", ".join(f"{work} {x}" for x in letters)}) {{
    return ({_value_type(result)})({expression});
}}
}}
extern "C" __global__ void {name}({", ".join(parameters)}) {{
    const long long step = (long long)blockDim.x * gridDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {{
        {_coordinates(rank)}
        {declared}
        store(out + i, ts::{name}_value({", ".join(letters)}));
    }}
}}
"""


FLOATS = ("float16", "bfloat16", "float32", "float64")  # what expressions are computed in


def arity(record: Any) -> int:
    """How many operands a record's expression has; 0 where it is not launched by itself."""
    if record.cuda is None or record.promotion is None or record.variant:
        return 0
    found = record.schema_text.count("Tensor ") + record.schema_text.count("Scalar ")
    found -= "Scalar alpha=1" in record.schema_text
    return int(found) if found in (1, 2) else 0


def fits(record: Any, compute: str) -> bool:
    """Whether a record's expression holds in a dtype: in floats, for which the operator is defined."""
    character = {"float16": "e", "bfloat16": "e", "float32": "f", "float64": "d"}.get(compute)
    return character is not None and (record.types is None or character in record.types)


def of_record(record: Any, operands: Sequence[str], compute: str, rank: int) -> tuple[str, str]:
    """Name and source of a record's kernel for operands of these dtypes; a number has none ("")."""
    name = "ts_" + "".join(c if c.isalnum() else "_" for c in record.key)
    result = "bool" if record.promotion == "bool" else compute
    given = [dtype or compute for dtype in operands]
    numbers = [not dtype for dtype in operands]
    return name, pointwise(name, record.cuda, given, compute, result, rank=rank, numbers=numbers)


def _value_type(compute: str) -> str:
    """What is computed in: 16-bit floats are computed in 32 bits."""
    return "float" if compute in ("float16", "bfloat16") else C_TYPES[compute]


def _coordinates(rank: int) -> str:
    """The place in each dimension of the i-th element, the last dimension fastest."""
    if rank == 0:
        return ""
    lines = ["long long rest = i;"]
    for d in range(rank - 1, 0, -1):
        lines.append(f"const long long i{d} = rest % n{d}; rest /= n{d};")
    return " ".join([*lines, "const long long i0 = rest;"])


def _place(x: str, rank: int) -> str:
    return " + ".join(f"i{d} * {x}{d}" for d in range(rank)) or "i"


# ---------------------------------------------------------------------------------------- random numbers

# Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) as cuRAND counts with
# it: the
# thread is the subsequence, the offset counts numbers.  The order of the elements is PyTorch's: thread t
# of T takes
# the elements t, t + T, t + 2T ... and each draw of four numbers serves four of them (two in 64 bits).
PHILOX = r"""
struct four { unsigned int x[4]; };
__device__ inline four philox(unsigned long long seed, unsigned long long thread, unsigned long long block) {
    unsigned int c0 = (unsigned int)block, c1 = (unsigned int)(block >> 32);
    unsigned int c2 = (unsigned int)thread, c3 = (unsigned int)(thread >> 32);
    unsigned int k0 = (unsigned int)seed, k1 = (unsigned int)(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const unsigned long long p = 0xD2511F53ULL * c0, q = 0xCD9E8D57ULL * c2;
        c0 = (unsigned int)(q >> 32) ^ c1 ^ k0; c1 = (unsigned int)q;
        c2 = (unsigned int)(p >> 32) ^ c3 ^ k1; c3 = (unsigned int)p;
        k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
    }
    four drawn = {{c0, c1, c2, c3}};
    return drawn;
}
__device__ inline float unit(unsigned int x) { return x * 2.3283064365386963e-10f +
1.16415321826934814453e-10f; }
__device__ inline double unit(unsigned int x, unsigned int y) {
    const unsigned long long z = (unsigned long long)x ^ ((unsigned long long)y << 21);
    return z * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
__device__ inline void put_uniform(const four &d, float *v) {
    for (int k = 0; k < 4; ++k) { v[k] = unit(d.x[k]); if (v[k] == 1.0f) v[k] = 0.0f; }
}
__device__ inline void put_uniform(const four &d, double *v) {
    for (int k = 0; k < 2; ++k) { v[k] = unit(d.x[2 * k], d.x[2 * k + 1]); if (v[k] == 1.0) v[k] = 0.0; }
}
__device__ inline void put_normal(const four &d, float *v) {
    for (int k = 0; k < 4; k += 2) {
        const float u = unit(d.x[k]), w = d.x[k + 1] * 1.46291807926715968e-9f + 7.3145903963357984e-10f;
        const float s = sqrtf(-2.0f * logf(u));
        v[k] = s * sinf(w); v[k + 1] = s * cosf(w);
    }
}
__device__ inline void put_normal(const four &d, double *v) {
    const double u = unit(d.x[0], d.x[1]), w = unit(d.x[2], d.x[3]) * 2.0 * 3.14159265358979323846;
    const double s = sqrt(-2.0 * log(u));
    v[0] = s * sin(w); v[1] = s * cos(w);
}
__device__ inline void put_words(const four &d, unsigned int *v) { for (int k = 0; k < 4; ++k) v[k] =
d.x[k]; }
__device__ inline void put_words(const four &d, unsigned long long *v) {
    for (int k = 0; k < 2; ++k) v[k] = ((unsigned long long)d.x[2 * k] << 32) | d.x[2 * k + 1];
}
"""

_DRAW = r"""
extern "C" __global__ void philox_%(name)s(
    %(type)s *out, long long n, unsigned long long seed, unsigned long long offset
) {
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long threads = (long long)blockDim.x * gridDim.x;
    unsigned long long block = offset / 4;
    for (long long first = thread; first < n; first += threads * %(per_draw)d, ++block) {
        const four drawn = philox(seed, thread, block);
        %(type)s v[%(per_draw)d];
        put_%(kind)s(drawn, v);
        for (int k = 0; k < %(per_draw)d; ++k)
            if (first + threads * k < n) out[first + threads * k] = v[k];
    }
}
"""

# name of the draw: the NumPy dtype of its result, and how many results four words make
DRAWS = {
    "uniform_float": ("float32", 4), "uniform_double": ("float64", 2),
    "normal_float": ("float32", 4), "normal_double": ("float64", 2),
    "words_32": ("uint32", 4), "words_64": ("uint64", 2),
}  # fmt: skip


def random() -> str:
    """One translation unit with a kernel `philox_NAME` for each name in DRAWS."""
    kernels = [
        _DRAW % {"name": name, "type": C_TYPES[dtype], "per_draw": each, "kind": name.partition("_")[0]}
        for name, (dtype, each) in DRAWS.items()
    ]
    return PHILOX + "".join(kernels)
