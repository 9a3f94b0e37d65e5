"""The SIMD level of the kernels: `simd_level.h` has the mechanism, and says what the levels are.

    current_level()      "avx512"      the level at which the kernels of this process run
    available_levels()   ("baseline", "avx2", "avx512")      those that this processor has
    check_request()      raises an error if TS_SIMD names no level, or one that this processor does not have
"""

import os

cdef extern from "simd_level.h" nogil:
    int simd_level
    int detect_simd_level()

LEVELS = ("baseline", "avx2", "avx512")


def current_level():
    """Return the name of the SIMD level at which the kernels of this process run."""
    return LEVELS[simd_level]


def available_levels():
    """Return the names of the SIMD levels that this processor has, the lowest first."""
    return LEVELS[: detect_simd_level() + 1]


def check_request():
    """Raise a RuntimeError if the environment variable TS_SIMD does not name a SIMD level of this processor."""
    requested = os.environ.get("TS_SIMD", "")
    if requested and requested not in available_levels():
        raise RuntimeError(
            f"TS_SIMD={requested!r}: expected one of the SIMD levels that this processor has: {', '.join(available_levels())}"
        )
