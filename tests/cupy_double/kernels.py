"""`cupy.RawKernel` and `cupy.RawModule`: CUDA C++ compiled by the host's C++ compiler and run thread after thread.

Arguments are checked against the kernel's parameters: their number, their sizes, and that arrays meet pointers, which
CUDA does not check.
"""

import ctypes
import hashlib
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from tests.cupy_double.noting import notes

COMPILER = shutil.which("c++") or shutil.which("g++")

# What NVRTC has by itself: the words of CUDA, the built-in variables, and functions that math.h lacks.
BUILT_IN = r"""
#include <math.h>
#include <cmath>
#include <cstring>
#define __device__
#define __global__
struct place_ { unsigned int x, y, z; };
static place_ blockIdx, threadIdx, blockDim, gridDim;
static float bits_to_float(unsigned int bits) { float x; memcpy(&x, &bits, 4); return x; }
static unsigned int float_to_bits(float x) { unsigned int bits; memcpy(&bits, &x, 4); return bits; }
template <class T> T rsqrt(T x) { return 1 / sqrt(x); }
template <class T> T erfcx(T x) { return exp(x * x) * erfc(x); }
template <class T> T normcdf(T x) { return T(0.5) * erfc(-x * T(0.70710678118654752)); }
template <class T> T erfinv(T y) {
    if (!(y > -1 && y < 1)) return y == 1 ? T(INFINITY) : y == -1 ? -T(INFINITY) : T(NAN);
    double x = 0, low = -6, high = 6;
    for (int k = 0; k < 80; ++k) { x = (low + high) / 2; (erf(x) < y ? low : high) = x; }
    return (T)x;
}
template <class T> T normcdfinv(T p) { return T(1.4142135623730951) * erfinv(2 * p - 1); }
template <class T> T cyl_bessel_i0(T x) { return (T)std::cyl_bessel_i(0.0, fabs((double)x)); }
template <class T> struct is_pointer_ { static const int value = 0; };
template <class T> struct is_pointer_<T *> { static const int value = 1; };
template <class... A> int describe_(void (*)(A...), int *out) {
    int sizes[] = {(int)sizeof(A)...}, pointers[] = {is_pointer_<A>::value...};
    for (unsigned k = 0; k < sizeof...(A); ++k) { out[2 * k] = sizes[k]; out[2 * k + 1] = pointers[k]; }
    return sizeof...(A);
}
template <int... I> struct list_ {};
template <int N, int... I> struct upto_ : upto_<N - 1, N - 1, I...> {};
template <int... I> struct upto_<0, I...> { typedef list_<I...> type; };
template <class... A, int... I> void call_(void (*kernel)(A...), void **a, list_<I...>) { kernel(*(A *)a[I]...); }
template <class... A> void launch_(void (*kernel)(A...), unsigned blocks, unsigned threads, void **arguments) {
    gridDim.x = blocks; blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)
            call_(kernel, arguments, typename upto_<sizeof...(A)>::type());
}
"""

# 16-bit floats, which are instructions of the GPU in the source.
HALF_DECLARED = "struct half_bits; float loaded(half_bits x); half_bits to_half(float x);"
HALF_DEFINED = """
inline float loaded(half_bits x) { _Float16 y; memcpy(&y, &x, 2); return (float)y; }
inline half_bits to_half(float x) { _Float16 y = (_Float16)x; half_bits z; memcpy(&z, &y, 2); return z; }
"""


def translated(code, space):
    """The source in a namespace of its own, with a way in for each kernel."""
    names = re.findall(r"__global__ void (\w+)\(", code)
    half = "half_bits" in code
    body = code.replace('extern "C"', "")
    ways = "".join(
        f'extern "C" void run_{space}_{n}(unsigned b, unsigned t, void **a) {{ launch_({space}::{n}, b, t, a); }}\n'
        f'extern "C" int about_{space}_{n}(int *out) {{ return describe_({space}::{n}, out); }}\n'
        for n in names
    )
    return (
        f"namespace {space} {{\n{HALF_DECLARED if half else ''}\n{body}\n{HALF_DEFINED if half else ''}\n}}\n{ways}"
    )


_known = {}  # source -> (library, namespace)


def compile_all(sources):
    """Compile many sources at once, which is much faster than one by one."""
    new = list(dict.fromkeys(s for s in sources if s not in _known))
    if not new:
        return
    texts = [translated(s, f"u{k}") for k, s in enumerate(new)]
    library = _library(BUILT_IN + "\n".join(texts))
    for k, s in enumerate(new):
        _known[s] = (library, f"u{k}")


def _library(text):
    folder = Path(tempfile.mkdtemp(prefix="cupy_double_"))
    source = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.cpp"
    source.write_text(text)
    target = source.with_suffix(".so")
    done = subprocess.run(
        [COMPILER, "-O0", "-w", "-std=c++17", "-shared", "-fPIC", "-o", str(target), str(source)],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"the C++ compiler refused:\n{done.stderr[:3000]}")
    library = ctypes.CDLL(str(target))
    shutil.rmtree(folder)
    return library


class RawKernel:
    """A kernel of a source; compiled when it is first launched."""

    def __init__(self, code, name, options=(), backend="nvrtc"):
        self._code, self._name = code, name

    @notes
    def __call__(self, grid, block, args, *, shared_mem=0, stream=None):
        from tests.cupy_double.array import ndarray

        assert isinstance(grid, tuple) and isinstance(block, tuple) and isinstance(args, tuple)
        assert 0 < block[0] <= 1024 and 0 < grid[0] < 1 << 31
        compile_all([self._code])
        library, space = _known[self._code]
        about = (ctypes.c_int * 128)()
        count = getattr(library, f"about_{space}_{self._name}")(about)
        assert count == len(args), f"{self._name} takes {count} arguments, not {len(args)}"
        kept, pointers = [], (ctypes.c_void_p * max(count, 1))()
        for k, x in enumerate(args):
            is_array = isinstance(x, ndarray)
            if is_array:
                value = np.array(x._host.ctypes.data, np.uint64)
            else:
                assert isinstance(x, np.generic), f"argument {k} of {self._name} has no size: {type(x)}"
                value = np.array(x)
            assert (value.nbytes, int(is_array)) == (about[2 * k], about[2 * k + 1]), f"argument {k} of {self._name}"
            kept.append(value)
            pointers[k] = value.ctypes.data
        getattr(library, f"run_{space}_{self._name}")(grid[0], block[0], pointers)


class RawModule:
    """A source with several kernels."""

    def __init__(self, *, code=None, path=None, options=(), backend="nvrtc", name_expressions=None):
        self._code = code

    @cache
    def get_function(self, name):
        return RawKernel(self._code, name)
