"""CUDA C++ sources for NVRTC: preamble, expressions of operator records, and random number kernels.

Input: the CUDA expressions of operator records. Output: their operands, and the dtypes that they support. An
expression names its operands a, b, c, d in order:

    "a * b"               two operands, converted to the compute dtype
    "a ? b : c"           a is a mask
    "gelu(a, b)"          b is a string argument, whose C++ type (`word_none` ...) selects the overload
    "min(max(a, b), c)"   b or c may be None, whose C++ type also selects an overload

The sources include no headers, so NVRTC can compile them on machines without a GPU. Floats of 16 bits are
stored as structs and computed as float.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

OPTIONS = (
    "--std=c++17",
    "--fmad=false",
)  # FMA is disabled, so that the result of a fused kernel is bitwise equal to that of separate kernels

C_TYPES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short",
    "uint16": "unsigned short", "int32": "int", "uint32": "unsigned int", "int64": "long long",
    "uint64": "unsigned long long", "float16": "half_bits", "bfloat16": "bfloat_bits",
    "float32": "float", "float64": "double",
}  # fmt: skip
CHARACTERS = {  # dtype -> its character in `OperatorRecord.types`
    "bool": "?", "uint8": "B", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "l", "uint64": "L", "float16": "e", "bfloat16": "e", "float32": "f", "float64": "d",
}  # fmt: skip

# The C++ namespace `ts` redefines functions that CUDA defines only for some types, or differently from
# PyTorch (NaN in min and max). With these functions, an expression of an operator record has the same meaning
# for each dtype.
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
template <class T> struct rounded { template <class V> static __device__ inline T of(V x) { return (T)x; } };
template <> struct rounded<half_bits> {
    static __device__ inline float of(float x) { return loaded(to_half(x)); }
};
template <> struct rounded<bfloat_bits> {
    static __device__ inline float of(float x) { return loaded(to_bfloat(x)); }
};
template <class T, int N> struct alignas(sizeof(T) * N) pack { T at[N]; };

namespace ts {
template <class T> __device__ inline bool isnan(T x) { return x != x; }
template <class T> __device__ inline bool isinf(T x) { return x == x && (x - x) != (x - x); }
template <class T> __device__ inline bool isfinite(T x) { return (x - x) == (x - x); }
template <class T> __device__ inline T abs(T x) { return fabs(x); }
template <class T, class U> __device__ inline T max(T x, U y) { return isnan(x) || x > (T)y ? x : (T)y; }
template <class T, class U> __device__ inline T min(T x, U y) { return isnan(x) || x < (T)y ? x : (T)y; }
struct word_None {};
struct word_none {};
struct word_tanh {};
template <class T> __device__ inline T max(T x, word_None) { return x; }
template <class T> __device__ inline T min(T x, word_None) { return x; }
template <class T> __device__ inline T gelu(T x, word_none) {
    return (T)0.5 * x * (1 + erf(x * (T)0.70710678118654752));
}
template <class T> __device__ inline T gelu(T x, word_tanh) {
    return (T)0.5 * x * (1 + tanh((T)0.79788456080286536 * (x + (T)0.044715 * x * x * x)));
}
template <class T> __device__ inline T log_of_sum(T x, T y) {
    return x == y ? x + (T)0.69314718055994531 : max(x, y) + log1p(exp(-abs(x - y)));
}
template <class T> __device__ inline T softplus(T x) { return log1p(exp(-abs(x))) + max(x, 0); }
template <class T> __device__ inline T rest_down(T x, T y) {
    T rest = fmod(x, y);
    return rest != 0 && (y < 0) != (rest < 0) ? rest + y : rest;
}
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


HALF_FLOATS = ("float16", "bfloat16")
FLOATS = (*HALF_FLOATS, "float32", "float64")
LETTERS = "abcd"  # names of the operands of an expression, in the order of the parameters
STRING_ARGUMENTS = re.findall(
    r"struct word_(\w+)", PREAMBLE
)  # supported string arguments, and None. Each has a C++ type, which selects the overload of a function.

# Matches expressions that contain neither a division nor a function of floats. These expressions are exact
# for integers.
_INTEGER_EXACT = re.compile(r"(?:[abcd0-9 ()+\-*&|^~!=?:]|<(?!<)|>(?!>)|max|min|isnan|isinf)*")
_BOOL_EXACT = re.compile(r"[abcd &|^?:]*")  # matches expressions that are exact for bools


@cache
def arity(record: Any) -> int:
    """Return the number of operands of a CUDA expression, or 0 if no kernel can be generated."""
    if record.cuda is None or record.variant:
        return 0
    kinds = [p.split()[0] for p in _parameters(record) if not p.startswith(ALPHA_PARAMETER)]
    is_supported = all(kind in ("Tensor", "Scalar", "Scalar?", "str") for kind in kinds)
    return len(kinds) if is_supported and 1 <= len(kinds) <= len(LETTERS) else 0


ALPHA_PARAMETER = (
    # A schema parameter that scales the second operand. Expressions do not contain it, so the kernels require
    # the value 1.
    "Scalar alpha=1"
)


def has_alpha(record: Any) -> bool:
    """Return whether an operator record has the trailing parameter `alpha`."""
    return any(p.startswith(ALPHA_PARAMETER) for p in _parameters(record))


def mask_operand(record: Any) -> int:
    """Return the index of the mask operand (a in "a ? b : c"), or -1 for expressions without a mask."""
    return LETTERS.index(record.cuda[0]) if record.cuda[1:4] == " ? " else -1


def supports_dtype(record: Any, compute: str) -> bool:
    """Return whether the operator of `record` and its CUDA expression support the compute dtype `compute`."""
    character = CHARACTERS.get(compute)
    if character is None or (record.types is not None and character not in record.types):
        return False
    if compute in FLOATS:
        return True
    if record.promotion is None and mask_operand(record) < 0:
        return False
    if compute == "bool" and record.promotion != "bool":
        return _BOOL_EXACT.fullmatch(record.cuda) is not None
    return _INTEGER_EXACT.fullmatch(record.cuda) is not None


def value_type(dtype: str) -> str:
    """Return the C++ type in which elements of a dtype are computed: float for 16-bit floats."""
    return "float" if dtype in HALF_FLOATS else C_TYPES[dtype]


def _parameters(record: Any) -> list[str]:
    parameter_list = record.schema_text.partition("(")[2].rpartition(") -> ")[0]
    return [p for p in parameter_list.split(", ") if p != "*"]


# ---------------------------------------------------------------------------------------- random numbers

# Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) with cuRAND's counters.
# The subsequence is the index of the thread. The offset counts the numbers that the thread has drawn. As in
# PyTorch, thread t of T computes the elements t, t + T, t + 2T, and so on. Each draw of four 32-bit words is
# used for four elements of 32 bits or two of 64 bits.
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

_RANDOM_KERNEL = r"""
extern "C" __global__ void philox_%(name)s(
    %(type)s *out, long long n, unsigned long long seed, unsigned long long offset,
    const unsigned long long *start
) {
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long threads = (long long)blockDim.x * gridDim.x;
    seed += start[0];
    unsigned long long block = (offset + start[1]) / 4;
    for (long long first = thread; first < n; first += threads * %(per_draw)d, ++block) {
        const four drawn = philox(seed, thread, block);
        %(type)s v[%(per_draw)d];
        put_%(kind)s(drawn, v);
        for (int k = 0; k < %(per_draw)d; ++k)
            if (first + threads * k < n) out[first + threads * k] = v[k];
    }
}
"""

# Dict from the name of a kernel to the NumPy dtype of its result, and the number of results that it computes
# from four random words.
RANDOM_KERNELS = {
    "uniform_float": ("float32", 4), "uniform_double": ("float64", 2),
    "normal_float": ("float32", 4), "normal_double": ("float64", 2),
    "words_32": ("uint32", 4), "words_64": ("uint64", 2),
}  # fmt: skip


def random_kernels() -> str:
    """Return the source of one kernel `philox_NAME` for each name in RANDOM_KERNELS."""
    kernels = [
        _RANDOM_KERNEL
        % {"name": name, "type": C_TYPES[dtype], "per_draw": each, "kind": name.partition("_")[0]}
        for name, (dtype, each) in RANDOM_KERNELS.items()
    ]
    return PHILOX + "".join(kernels)
