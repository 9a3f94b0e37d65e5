"""Build configuration, which `ts.__config__.show()` returns as text.

print(ts.__config__.parallel_info())
"""

from __future__ import annotations

import platform
import sysconfig

import numpy as np

from ts import backends, version
from ts._core.vm import interop_pool
from ts.backends.cpu import blas
from ts.python_api import threads


def show() -> str:
    """Return the versions of `ts`, Python and NumPy, the BLAS library and the CPU capability as text."""
    library = blas.library()
    lines = [
        f"ts {version.ts} built with:",
        f"Python {platform.python_version()}",
        f"NumPy {np.__version__}",
        f"BLAS: {'NumPy' if library is None else library.name}",
        f"CPU capability usage: {backends.cpu.get_cpu_capability()}",
    ]
    return "\n  - ".join(lines) + "\n"


def _cxx_flags() -> str:
    """Return the C compiler flags of the Python build.

    Extension modules of `ts` are compiled with these flags.
    """
    return str(sysconfig.get_config_var("CFLAGS") or "")


def parallel_info() -> str:
    """Return the numbers of intra-op and inter-op threads as text."""
    return (
        f"ts.get_num_threads() : {threads.get_num_threads()}\n"
        f"ts.get_num_interop_threads() : {interop_pool.get_num_interop_threads()}\n"
    )
