"""The same program gives the same bits on every run and with every number of threads, on one machine.

Products of matrices are the exception that docs/numerics.md names: OpenBLAS sums in another order with one thread than
with several.  For them the number of threads has to be the same.
"""

import os
import subprocess
import sys
from functools import cache

import pytest

# Sums, softmax, convolutions, sorts and random numbers, at sizes where libraries would use threads.
PROGRAM = """
import hashlib
import numpy as np
import ts

ts.manual_seed(0)
a, b = ts.randn(300, 200), ts.randn(200, 250)
x = ts.randn(2, 8, 33, 33)
parts = {
    "sum": a.sum(), "mean": a.mean(0), "var": a.var(1), "softmax": ts.softmax(a, 1), "cumsum": ts.cumsum(a, 0),
    "logsumexp": ts.logsumexp(a, 0), "pointwise": a.exp().sigmoid() * a, "norm": a.norm(),
    "conv2d": ts.nn.functional.conv2d(x, ts.randn(16, 8, 3, 3), padding=1),
    "layer_norm": ts.nn.functional.layer_norm(a, [200]), "sort": ts.sort(a.flatten())[0], "topk": ts.topk(a, 7)[0],
    "rand": ts.rand(1001), "randn": ts.randn(1001), "randperm": ts.randperm(1000), "poisson": ts.poisson(ts.rand(50) * 30),
    "fft": ts.fft.fft(a).real, "max_pool": ts.nn.functional.max_pool2d(x, 3),
    "index_add": ts.zeros(50, 200).index_add(0, ts.arange(300) % 50, a), "bfloat16": (a.to(ts.bfloat16) * 3).sum().float(),
    "BLAS mm": a @ b, "BLAS linear": ts.nn.functional.linear(a, b.t()),
    "BLAS bmm": ts.bmm(a.reshape(3, 100, 200), b.reshape(1, 200, 250).expand(3, 200, 250)),
    "BLAS svdvals": ts.linalg.svdvals(a), "BLAS solve": ts.linalg.solve(a[:200] + 9 * ts.eye(200), b),
}
for name, part in parts.items():
    print(name, hashlib.sha256(np.ascontiguousarray(part.numpy()).tobytes()).hexdigest())
"""


def run(threads):
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    env = os.environ | dict.fromkeys(names, str(threads))
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


first = cache(run)


@pytest.mark.parametrize("threads", [1, 4])
def test_every_run_gives_the_same_bits(threads):
    assert run(threads) == first(threads)


def test_threads_do_not_change_bits():
    one, four = ([line for line in first(n) if not line.startswith("BLAS")] for n in (1, 4))
    assert one == four and len(one) == 20
