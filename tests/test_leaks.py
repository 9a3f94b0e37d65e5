"""Memory leak tests: repeated operator calls must not increase the memory of the process.

Each expression runs eagerly and in a scripted loop.  The allocations of Python's allocator and the C library
are counted exactly, so that a leak of one small object in ten calls is detected after a thousand; the
resident pages count memory requested from the system.  `TS_LEAK_CALLS=100000` detects smaller leaks.
"""

import ctypes
import gc
import linecache
import os
import random
import sys
from functools import partial
from typing import NamedTuple

import pytest

import ts

pytestmark = [
    pytest.mark.usefixtures("freeze_objects"),
    pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the size is read from Linux's /proc"),
]
CALLS = max(int(os.environ.get("TS_LEAK_CALLS", "1000")), 1)

# Up to four expressions per family; m is a matrix, x a vector, i indices, b a mask.
EXPRESSIONS = {
    "pointwise": ["x + x", "x * 2.0", "torch.exp(x)", "x > 0.5", "k // 2"],
    "inplace": ["x.add_(0.0)", "x.copy_(m[0])", "x.clamp_(0.0, 1.0)"],
    "ternary": ["torch.where(b, x, x)", "x.clamp(0.0, 1.0)", "torch.addcmul(x, x, x)"],
    "activation": ["torch.relu(x)", "torch.nn.functional.gelu(x)", "torch.softmax(m, -1)", "torch.log_softmax(m, 0)"],
    "reduce": ["x.sum()", "m.mean(0)", "m.max(1)[0]", "m.std(1)", "x.norm()", "b.any()", "torch.logsumexp(m, 1)"],
    "scan": ["x.cumsum(0)", "torch.cummax(x, 0)[0]"],
    "view": ["x.view(-1)", "m.t()", "m[0]", "x[0:2]", "m.unbind(0)[0]", "x.expand(2, -1)", "x.chunk(2)[1]"],
    "shape": ["torch.cat([x, x])", "torch.stack([x, x])", "x.repeat(2)", "x.flip(0)", "m.tril()"],
    "index": ["x[i]", "x[b]", "torch.index_select(x, 0, i)", "m.gather(0, g)", "x.masked_fill(b, 0.0)", "torch.nonzero(b)"],
    "scatter": ["torch.scatter(x, 0, i, x)", "torch.index_add(x, 0, i, x)"],
    "sort": ["torch.sort(x)[0]", "torch.topk(x, 2)[1]", "torch.argsort(x)"],
    "linalg": ["m @ m", "torch.bmm(m.unsqueeze(0), m.unsqueeze(0))", "torch.nn.functional.linear(m, m, x)", "torch.det(m)"],
    "create": ["torch.zeros(4)", "torch.full([4], 0.5)", "torch.arange(4)", "torch.tensor([1.0, 2.0])", "torch.ones_like(x)"],
    "convert": ["x.to(torch.float64)", "x.half()", "x.clone()", "x.detach()", "m.t().contiguous()", "float(x[0])"],
    "random": ["torch.rand(4)", "torch.randn(4)", "torch.bernoulli(x.clamp(0.0, 1.0))"],
    "layers": [
        "torch.layer_norm(m, [4], x, x)", "torch.batch_norm(m, x, x, x, x, False, 0.1, 1e-5, False)",
        "torch.embedding(m, i)", "torch.dropout(x, 0.5, False)", "torch.group_norm(m, 2)",
    ],
    "conv": ["torch.conv1d(m.view(1, 4, 4), m.view(4, 4, 1))", "torch.max_pool1d(m.view(1, 4, 4), 2)"],
    "pad": ["torch.nn.functional.pad(x, [1, 1])"],
    "fft": ["torch.fft.fft(x)"],
    "loss": ["torch.nn.functional.mse_loss(x, x)", "torch.nn.functional.cross_entropy(m, i)"],
}  # fmt: skip


class Malloc(ctypes.Structure):
    """`struct mallinfo2` of the GNU C library."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


LIBC = ctypes.CDLL(None)
MALLINFO = getattr(LIBC, "mallinfo2", None)  # glibc 2.33 or later
if MALLINFO is not None:
    MALLINFO.restype = Malloc


class Memory(NamedTuple):
    """Memory held by the process, or its growth."""

    pages: int  # bytes
    malloc: int  # bytes allocated by the C library
    blocks: int  # blocks of Python's allocator

    def beyond(self, calls):
        """Return the values above the allowance for caches and heap growth."""
        allowance = Memory(256 * 1024 + 16 * calls, 4096 + 2 * calls, 50 + calls // 20)
        return {name: n for name, n, limit in zip(self._fields, self, allowance, strict=True) if n > limit}


def memory_in_use():
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    info = Malloc() if MALLINFO is None else MALLINFO()
    return Memory(pages, info.uordblks + info.hblkhd, sys.getallocatedblocks())


def loop(expression):
    """Return a function that evaluates the expression `n` times."""
    source = (
        "def f(n: int, x: torch.Tensor, m: torch.Tensor, i: torch.Tensor, b: torch.Tensor, g: torch.Tensor, "
        f"k: torch.Tensor):\n    for step in range(n):\n        result = {expression}\n"
        "        if step < 0:\n            print(result)\n    return n\n"
    )
    file = f"<loop over {expression}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope = {"torch": ts, "__name__": __name__}
    exec(compile(source, file, "exec"), scope)
    return scope["f"]


def leaked(f, calls):
    """Return the memory that repeated calls leak; a leak grows in each of several attempts."""
    for _ in range(3):
        gc.collect()
        before = memory_in_use()
        f(calls)
        gc.collect()
        result = Memory(*(now - then for now, then in zip(memory_in_use(), before, strict=True))).beyond(calls)
        if not result:
            break
    return result


@pytest.mark.parametrize("mode", ["eager", "script"])
@pytest.mark.parametrize("family", EXPRESSIONS)
def test_operators_do_not_leak(family, mode):
    x, m = ts.rand(4), ts.rand(4, 4)
    i, b, g, k = ts.tensor([3, 0, 1, 2]), x > 0.5, ts.zeros(4, 4, dtype=ts.int64), ts.arange(4)
    functions = [loop(expression) for expression in EXPRESSIONS[family]]
    if mode == "script":
        functions = [ts.jit.script(f) for f in functions]
    results = {}
    for expression, f in zip(EXPRESSIONS[family], functions, strict=True):
        run = partial(f, x=x, m=m, i=i, b=b, g=g, k=k)
        for _ in range(3):  # warm-up: fills caches and grows the heap
            run(CALLS // 8)
        results[expression] = leaked(run, CALLS)
    assert {e: what for e, what in results.items() if what} == {}


@pytest.mark.skipif(
    MALLINFO is None or "libasan" in os.environ.get("LD_PRELOAD", ""), reason="the C library does not say what it holds"
)
@pytest.mark.parametrize("allocate", [partial(LIBC.malloc, 24), object], ids=["C", "Python"])
def test_a_small_leak_is_detected(allocate):
    """A leak of 24 bytes per call is detected, in the C library and in Python's allocator."""
    everything = []
    assert leaked(lambda calls: everything.extend(allocate() for _ in range(calls)), 1000)


def test_new_shapes_do_not_leak():
    """Caches of groups, packed products and reductions are bounded for many shapes."""
    source = (
        "def f(x, row, w):\n"
        "    z = torch.sigmoid(x) * row + torch.tanh(row)\n"
        "    return torch.relu(torch.nn.functional.linear(z, w[:, :z.size(1)]) - z.sum(1, True)) * 0.5\n"
    )
    f = ts.jit.CompilationUnit(source).f
    w = ts.randn(8, 40)
    sizes = random.Random(0)

    def run(calls):
        for _ in range(calls):
            rows, columns = sizes.randint(1, 40), sizes.randint(1, 40)
            f(ts.ones(rows, columns), ts.ones(columns), w)

    for _ in range(3):
        run(CALLS)
    assert leaked(run, 5 * CALLS) == {}
