"""CUDA: CuPy arrays and the same `xp` kernels as on the CPU.

    device.py      the backend: devices, transfers, the choice of kernels
    memory.py      pool, peaks, pinned memory         streams.py     streams and events
    namespace.py   `xp`: CuPy, and what it lacks      host.py        operators that run on the CPU
    sources.py     CUDA C++ as text                   pointwise.py   operators from their expressions
    philox.py      the random stream, PyTorch's on CUDA

Importing this package needs nothing; asking for its `backend` fails, with what to install, where CuPy or a
GPU is missing.

    >>> from ts.backends.cuda import sources
    >>> sources.pointwise("k", "exp(a)", ["float32"], "float32", "float32", rank=0).count("__global__")
    1
"""

from __future__ import annotations

from typing import Any

INSTALL = "pip install 'torchscript-ts[cuda]'"


def __getattr__(name: str) -> Any:
    if name != "backend":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import device
    except ImportError as error:
        raise RuntimeError(f"device 'cuda' needs CuPy, which is not installed: {INSTALL}") from error
    return device.backend()
