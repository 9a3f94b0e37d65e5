"""CUDA: CuPy arrays and the same `xp` kernels as on the CPU.

    device.py      the backend: devices, transfers, the choice of kernels
    memory.py      pool, peaks, pinned memory         streams.py     streams and events
    namespace.py   `xp`: CuPy, and what it lacks      host.py        operators that run on the CPU
    sources.py     CUDA C++ as text                   fused.py       ... of rows of operators, as one kernel
    folds.py       ... of what reads whole rows       rowwise.py     ... of rows of operators that end so
    planning.py    what groups need on given inputs   ends.py        ... for what reads rows at their end
    pointwise.py   operators and groups, a launch each               groups.py    groups of scripts
    philox.py      the random stream, PyTorch's on CUDA        switches.py   what programs set and ask for
    graphs.py      work that is noted, and done again

Importing this package needs nothing; asking for its `backend` fails, with what to install, where CuPy or a
GPU is missing.

    >>> from ts.backends.cuda import sources
    >>> sources.random().count("__global__")
    6
"""

from __future__ import annotations

from typing import Any

from ts.errors import MissingCudaError

from .switches import (
    cudnn_sdp_enabled,
    enable_cudnn_sdp,
    enable_flash_sdp,
    enable_math_sdp,
    enable_mem_efficient_sdp,
    flash_sdp_enabled,
    is_built,
    math_sdp_enabled,
    matmul,
    mem_efficient_sdp_enabled,
    sdp_kernel,
)

__all__ = [
    "INSTALL", "cudnn_sdp_enabled", "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp",
    "enable_mem_efficient_sdp", "flash_sdp_enabled", "is_built", "math_sdp_enabled", "matmul",
    "mem_efficient_sdp_enabled", "sdp_kernel",
]  # fmt: skip

INSTALL = "pip install 'torchscript-ts[cuda]'"


def __getattr__(name: str) -> Any:
    if name != "backend":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import device
    except ImportError as error:
        raise MissingCudaError(f"device 'cuda' needs CuPy, which is not installed: {INSTALL}") from error
    return device.backend()
