"""`cupy.RawKernel` and `cupy.RawModule`: CUDA C++ compiled by the host's C++ compiler and run thread by thread.

Threads that synchronize (`__syncthreads`, shuffles) are coroutines of one host thread: each runs until its
next synchronization, then the next coroutine continues; all threads of a block must reach equal numbers of
synchronizations.  Shared memory has the launch's size and undefined contents.

Arguments are checked against the kernel's parameters, which CUDA does not do: their number, their sizes,
and that pointer parameters get arrays.
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

from tests.fake_cupy.graph_capture import pending_errors, record_calls

COMPILER = shutil.which("c++") or shutil.which("g++")

# NVRTC built-ins: CUDA keywords, built-in variables, and functions missing in math.h.
BUILT_IN = r"""
#include <math.h>
#include <cstdio>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>
#include <ucontext.h>
#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)
struct place_ { unsigned int x, y, z; };
static place_ blockIdx, threadIdx, blockDim, gridDim;
static void *shared_;
static bool trapped_;
static void __trap() { trapped_ = true; }
static unsigned long long shuffled_[1024];

// The threads of a block: the turn goes from one to the next, and back again for those that wait.
struct fiber_ { ucontext_t context; std::unique_ptr<char[]> stack; bool done; };
static std::vector<fiber_> fibers_;
static ucontext_t block_;
static void wait_() { swapcontext(&fibers_[threadIdx.x].context, &block_); }
static void __syncthreads() { wait_(); }
template <class T> T __shfl_xor_sync(unsigned, T x, int mask) {
    const unsigned here = threadIdx.x;
    memcpy(&shuffled_[here], &x, sizeof x);
    wait_();
    memcpy(&x, &shuffled_[here ^ mask], sizeof x);
    wait_();
    return x;
}
template <class F> struct one_ {
    static F *thread;
    static void run() { (*thread)(); fibers_[threadIdx.x].done = true; }
};
template <class F> F *one_<F>::thread;
template <class F> bool together_(unsigned threads, F thread) {
    const unsigned long stack = 1 << 17;
    one_<F>::thread = &thread;
    while (fibers_.size() < threads) fibers_.push_back({{}, std::unique_ptr<char[]>(new char[stack]), false});
    for (unsigned k = 0; k < threads; ++k) {
        fiber_ &made = fibers_[k];
        made.done = false;
        getcontext(&made.context);
        made.context.uc_stack.ss_sp = made.stack.get();
        made.context.uc_stack.ss_size = stack;
        made.context.uc_link = &block_;
        makecontext(&made.context, one_<F>::run, 0);
    }
    for (unsigned done = 0, turn = blockIdx.x; done < threads; ++turn) {
        done = 0;
        for (unsigned k = 0; k < threads; ++k) {
            threadIdx.x = turn % 2 ? threads - 1 - k : k;
            if (!fibers_[threadIdx.x].done) swapcontext(&block_, &fibers_[threadIdx.x].context);
            done += fibers_[threadIdx.x].done;
        }
        if (done && done < threads) return false;
    }
    return true;
}
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
template <class... A> bool launch_(
    void (*kernel)(A...), bool waits, unsigned blocks, unsigned threads, unsigned shared, void **arguments
) {
    gridDim.x = blocks; blockDim.x = threads;
    auto thread = [&] { call_(kernel, arguments, typename upto_<sizeof...(A)>::type()); };
    std::unique_ptr<char[]> memory(new char[shared]);
    shared_ = memory.get();
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        memset(shared_, 0xff, shared);
        if (!waits) for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) thread();
        else if (!together_(threads, thread)) return false;
    }
    return true;
}
"""

# 16-bit floats, for which the source uses GPU instructions.
HALF_DECLARED = "struct half_bits; float loaded(half_bits x); half_bits to_half(float x);"
HALF_DEFINED = """
inline float loaded(half_bits x) { _Float16 y; memcpy(&y, &x, 2); return (float)y; }
inline half_bits to_half(float x) { _Float16 y = (_Float16)x; half_bits z; memcpy(&z, &y, 2); return z; }
"""


def translate_source(code, space):
    """Return the kernel source in a separate namespace, with an entry function for each kernel."""
    names = re.findall(r"__global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\(", code)
    synchronizes = str("__syncthreads" in code).lower()
    half = "half_bits" in code
    body = code.replace('extern "C"', "")
    body = re.sub(r"extern __shared__ (\w+) (\w+)\[\];", r"\1 *const \2 = (\1 *)shared_;", body)
    entry_functions = "".join(
        f'extern "C" bool run_{space}_{n}(unsigned b, unsigned t, unsigned s, void **a) '
        f"{{ return launch_({space}::{n}, {synchronizes}, b, t, s, a); }}\n"
        f'extern "C" bool trapped_{space}_{n}() {{ bool x = trapped_; trapped_ = false; return x; }}\n'
        f'extern "C" int about_{space}_{n}(int *out) {{ return describe_({space}::{n}, out); }}\n'
        for n in names
    )
    return (
        f"namespace {space} {{\n{HALF_DECLARED if half else ''}\n{body}\n{HALF_DEFINED if half else ''}\n}}\n{entry_functions}"
    )


_compiled_kernels = {}  # source -> (library, namespace)


def compile_all(sources):
    """Compile many sources as one unit, which is faster than single compilations."""
    new = list(dict.fromkeys(s for s in sources if s not in _compiled_kernels))
    if not new:
        return
    texts = [translate_source(s, f"u{k}") for k, s in enumerate(new)]
    library = _library("\n".join(texts))
    for k, s in enumerate(new):
        _compiled_kernels[s] = (library, f"u{k}")


@cache
def _built_in():
    """Return a folder with BUILT_IN as a precompiled header, because parsing it is slower than compiling most
    kernels."""
    folder = tempfile.TemporaryDirectory(prefix="cupy_double_")
    header = Path(folder.name, "built_in.h")
    header.write_text(BUILT_IN)
    _compile("-x", "c++-header", str(header), "-o", f"{header}.gch")
    return folder


def _compile(*arguments):
    done = subprocess.run([COMPILER, "-O0", "-w", "-std=c++17", "-fPIC", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the C++ compiler refused:\n{done.stderr[:3000]}")


def _library(text):
    folder = Path(tempfile.mkdtemp(prefix="cupy_double_"))
    source = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.cpp"
    source.write_text(text)
    target = source.with_suffix(".so")
    _compile("-shared", "-include", f"{_built_in().name}/built_in.h", "-o", str(target), str(source))
    library = ctypes.CDLL(str(target))
    shutil.rmtree(folder)
    return library


class RawKernel:
    """A kernel compiled at its first launch."""

    def __init__(self, code, name, options=(), backend="nvrtc"):
        self._code, self._name = code, name

    @record_calls
    def __call__(self, grid, block, args, *, shared_mem=0, stream=None):
        from tests.fake_cupy.array import ndarray

        assert isinstance(grid, tuple) and isinstance(block, tuple) and isinstance(args, tuple)
        assert 0 < block[0] <= 1024 and 0 < grid[0] < 1 << 31 and 0 <= shared_mem <= 48 << 10
        bound = re.search(r"__launch_bounds__\((\d+)\)", self._code)
        assert bound is None or block[0] <= int(bound[1])
        compile_all([self._code])
        library, space = _compiled_kernels[self._code]
        about = (ctypes.c_int * 128)()
        count = getattr(library, f"about_{space}_{self._name}")(about)
        assert count == len(args), f"{self._name} takes {count} arguments, not {len(args)}"
        references, pointers = [], (ctypes.c_void_p * max(count, 1))()
        for k, x in enumerate(args):
            is_array = isinstance(x, ndarray)
            if is_array:
                value = np.array(x._host.ctypes.data, np.uint64)
            else:
                assert isinstance(x, np.generic), f"argument {k} of {self._name} has no size: {type(x)}"
                value = np.array(x)
            assert (value.nbytes, int(is_array)) == (about[2 * k], about[2 * k + 1]), f"argument {k} of {self._name}"
            references.append(value)
            pointers[k] = value.ctypes.data
        run = getattr(library, f"run_{space}_{self._name}")
        run.restype = ctypes.c_bool
        assert run(grid[0], block[0], shared_mem, pointers), f"not all threads of {self._name} wait at the same places"
        if getattr(library, f"trapped_{space}_{self._name}")():
            pending_errors.append("cudaErrorLaunchFailure: unspecified launch failure")


class RawModule:
    """A source with several kernels."""

    def __init__(self, *, code=None, path=None, options=(), backend="nvrtc", name_expressions=None):
        self._code = code

    @cache
    def get_function(self, name):
        return RawKernel(self._code, name)
