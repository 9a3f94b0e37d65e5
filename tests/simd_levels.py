"""Run the tests of the CPU kernels at every SIMD level below the processor's: python -m tests.simd_levels [options of pytest].

`TS_SIMD` selects the level of the project's kernels, `NPY_DISABLE_CPU_FEATURES` and `OPENBLAS_CORETYPE` the
levels of NumPy's loops and BLAS. All three are read when the libraries are loaded, so each level needs a new
process.  If the emulator qemu-user is installed (Debian: apt-get install qemu-user), a few tests also run on
an emulated processor without AVX, on which an instruction of a higher level is illegal, and at level AVX2 if
this processor does not support it. qemu does not emulate AVX-512.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ts.backends.cpu.kernels import simd_level

TESTS = Path(__file__).parent
KERNEL_TESTS = [
    TESTS / f"test_{name}.py"
    for name in (
        "activation_backward arithmetic_loops backward_kernels broadcast_2d_and_minmax conv conv_weights element_loops extreme_arguments fused_steps fusion fusion_epilogues fusion_rows "
        "fusion_view_inputs cat_gather_create_kernels grid_sample masked matmul native_arguments pool prims sort_topk_median recurrent reduce resample scatter half_precision "
        "simd_level batch_norm losses embedding_bag index_kernels activation_power_distance_kernels sort special vector_math half_upcast bfloat16_gemm bfloat16_attention bfloat16_conv"
    ).split()
]
EMULATED_TESTS = [TESTS / f"test_{name}.py" for name in ("activation_backward", "half_precision", "simd_level", "fused_steps")]
NUMPY_FEATURES_ABOVE = {  # CPU features disabled for NumPy at each level: prefixes of feature names
    "baseline": ("AVX", "FMA3", "F16C", "X86_V3", "X86_V4"),
    "avx2": ("AVX512", "X86_V4"),
}
OPENBLAS_CORE = {"baseline": "Nehalem", "avx2": "Haswell"}
EMULATED_PROCESSOR = {"baseline": "Nehalem", "avx2": "max"}


def environment_of(level: str) -> dict[str, str]:
    """Return the environment of a process whose kernels, NumPy loops and BLAS run at a SIMD level."""
    from numpy._core import _multiarray_umath as umath

    disabled = [name for name in umath.__cpu_dispatch__ if name.startswith(NUMPY_FEATURES_ABOVE[level])]
    present = [name for name in disabled if umath.__cpu_features__.get(name, True)]
    variables = {"TS_SIMD": level, "NPY_DISABLE_CPU_FEATURES": " ".join(present), "OPENBLAS_CORETYPE": OPENBLAS_CORE[level]}
    return {**os.environ, **variables}


def run_tests(title: str, command: list[str], environment: dict[str, str]) -> int:
    """Print the title, run pytest in a process and return its exit status."""
    print(f"-- {title}", flush=True)
    return subprocess.run(command, env=environment).returncode


def main(options: list[str]) -> int:
    """Run the tests at each level; return 1 if a run failed, else 0."""
    pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    statuses = [
        run_tests(f"kernel tests at the SIMD level {level}", [*pytest, *options, *map(str, KERNEL_TESTS)], environment_of(level))
        for level in simd_level.available_levels()
        if level != simd_level.current_level()
    ]
    emulator = shutil.which("qemu-x86_64")
    for level in ("baseline", *(level for level in ("avx2",) if level not in simd_level.available_levels())):
        if emulator is None or os.uname().machine != "x86_64":
            print(f"-- not run: kernel tests on an emulated processor ({level}); qemu-user is not installed")
            continue
        command = [emulator, "-cpu", EMULATED_PROCESSOR[level], *pytest, "-n", "0", *map(str, EMULATED_TESTS)]
        # NumPy and its BLAS select the instructions that the emulated processor has
        selections = {"TS_SIMD", "NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE"}
        environment = {name: value for name, value in os.environ.items() if name not in selections}
        statuses.append(run_tests(f"kernel tests on an emulated processor ({level})", command, environment))
    if "avx512" not in simd_level.available_levels():
        print("-- not run: the SIMD level avx512, which neither this processor nor the emulator has")
    return int(any(statuses))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
