"""CPU feature detection (CPUID) for runtime dispatch (CPU dispatch): the SIMD level of the kernels.

The table shows the functions and their results:

    current_level()      "avx512": the level of the kernels in this process
    available_levels()   ("baseline", "avx2", "avx512"): the levels that this processor supports
    check_request()      None, or RuntimeError if TS_SIMD does not name a supported level
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
    """Return the names of the SIMD levels that this processor supports, the lowest first."""
    return LEVELS[: detect_simd_level() + 1]


def check_request():
    """Raise RuntimeError if the variable TS_SIMD does not name a SIMD level that this processor supports."""
    requested = os.environ.get("TS_SIMD", "")
    if requested and requested not in available_levels():
        raise RuntimeError(
            f"TS_SIMD={requested!r}: expected one of the SIMD levels that this processor has: {', '.join(available_levels())}"
        )
