"""What computes: the text that programs print with `ts.__config__.show()`.

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
    """The versions of what was built and of what does the linear algebra."""
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
    """What the C compiler that Python was built with is given: extensions here are built with the same."""
    return str(sysconfig.get_config_var("CFLAGS") or "")


def parallel_info() -> str:
    """How many threads run operators, and forked programs."""
    return (
        f"ts.get_num_threads() : {threads.get_num_threads()}\n"
        f"ts.get_num_interop_threads() : {interop_pool.get_num_interop_threads()}\n"
    )
