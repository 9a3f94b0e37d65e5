"""SIMD level of the kernels: selection by `TS_SIMD`, and bit-identical results at every level."""

import os
import subprocess
import sys

import pytest

import ts
from ts.backends.cpu.kernels import microkernels, simd_level

# Rows of many lengths through kernels whose results are exact or rounded once: arithmetic, comparisons, conversions, integers.
EXACT_RESULTS = """
import hashlib, ts
ts.manual_seed(1)
digest = hashlib.sha256()
for n in (1, 7, 64, 1000):
    x, y = ts.randn(n), ts.randn(n)
    k = ts.randint(-50, 50, (n,))
    results = [x + y, x * y, x / y, x - y, ts.relu(x), x.clamp(-0.5, 0.5), x.clamp(min=0.1), x.clamp(max=0.1), x > y, x.half(), x.bfloat16(),
               x.half().float(), x.double(), x.double().float(), k // 7, k % 7, k.sum(), x.max(), x.argmin(), ts.rand(n), ts.rand(n, dtype=ts.float64),
               ts.nn.functional.hardtanh(x), ts.nn.functional.threshold(x, 0.5, 7.0), x[:, None].expand(n, 5).max(0)[1]]
    for result in results:
        digest.update(repr((result.dtype, result.tolist())).encode())
print(ts.backends.cpu.get_cpu_capability(), digest.hexdigest())
"""


def run_with_level(level, program):
    """Run a program in a process with TS_SIMD, None for unset; return its exit status, output and errors.

    Under an emulator the process uses the host's processor features, which may differ from this process's
    levels.
    """
    environment = {name: value for name, value in os.environ.items() if name != "TS_SIMD"}
    request = {} if level is None else {"TS_SIMD": level}
    done = subprocess.run([sys.executable, "-c", program], env={**environment, **request}, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_current_level_is_the_requested_or_the_highest_one():
    assert simd_level.current_level() == (os.environ.get("TS_SIMD") or simd_level.available_levels()[-1])
    assert simd_level.available_levels() == simd_level.LEVELS[: len(simd_level.available_levels())]


def test_products_use_vectors_of_the_current_level():
    widths = {"baseline": "128 bit", "avx2": "AVX2", "avx512": "AVX-512"}
    assert microkernels.instruction_set(512) == widths[simd_level.current_level()]


def test_capability_has_the_names_of_pytorch():
    names = {"baseline": "DEFAULT", "avx2": "AVX2", "avx512": "AVX512"}
    assert ts.backends.cpu.get_cpu_capability() == names[simd_level.current_level()]


@pytest.mark.parametrize("value", ["sse", "AVX2", "4"])
def test_unknown_levels_are_rejected_by_name(value):
    status, _, errors = run_with_level(value, "import ts; ts.ones(2)")
    assert status == 1 and f"RuntimeError: TS_SIMD={value!r}: expected one of the SIMD levels" in errors


def test_empty_value_is_ignored():
    program = "from ts.backends.cpu.kernels import simd_level; print(simd_level.current_level(), simd_level.available_levels()[-1])"
    empty, unset = run_with_level("", program), run_with_level(None, program)
    assert empty == unset and empty[0] == 0
    level, highest = empty[1].split()
    assert level == highest


def test_exact_results_have_the_same_bits_at_every_level():
    results = {level: run_with_level(level, EXACT_RESULTS) for level in simd_level.available_levels()}
    for status, _, errors in results.values():
        assert status == 0, errors
    assert len({output.split()[1] for _, output, _ in results.values()}) == 1
    assert len({output.split()[0] for _, output, _ in results.values()}) == len(results)

