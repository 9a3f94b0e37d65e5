"""CUDA backend: CuPy arrays, and the `xp` kernels that the CPU backend also runs.

The package can be imported without CuPy. Access to its `backend` then raises MissingCudaError with the
command to install CuPy. If no GPU is found, the access raises RuntimeError. The modules are:

    device.py                   the backend: devices, transfers, selection of kernels
    memory.py                   memory pool, peak statistics, pinned memory
    streams.py                  streams and events
    namespace.py                `xp`: CuPy, corrected and completed
    cpu_fallback.py             operators and functions that run on the CPU
    kernel_sources.py           CUDA C++ preamble, expressions of operators, random number kernels
    gemm.py                     matrix products of 16-bit floats
    attention.py                attention in chunks of queries
    index_checks.py             checks of index ranges on the device
    embedding.py                gradient of embedding tables
    pointwise_codegen.py        CUDA source of a fused pointwise kernel
    reduction_codegen.py        CUDA source of the reductions of a row
    row_reduction_codegen.py    CUDA source of a fused kernel that ends in row reductions
    kernel_specialization.py    dtypes, shapes and accesses of a fused kernel for given inputs
    row_epilogues.py            configuration of the row reductions that end a group
    pointwise_launch.py         launch of single operators and of groups as one kernel
    fusion_groups.py            fusion groups of scripts
    philox.py                   random numbers, the stream of PyTorch's CUDA generator
    flags.py                    settings of `ts.backends.cuda`
    cuda_graphs.py              capture and replay of CUDA graphs

    >>> from ts.backends.cuda import kernel_sources
    >>> kernel_sources.random_kernels().count("__global__")
    6
"""

from __future__ import annotations

from typing import Any

from ts.errors import MissingCudaError

from .flags import (
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
    "INSTALL_COMMAND", "cudnn_sdp_enabled", "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp",
    "enable_mem_efficient_sdp", "flash_sdp_enabled", "is_built", "math_sdp_enabled", "matmul",
    "mem_efficient_sdp_enabled", "sdp_kernel",
]  # fmt: skip

INSTALL_COMMAND = "pip install 'torchscript-ts[cuda]'"


def __getattr__(name: str) -> Any:
    if name != "backend":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import device
    except ImportError as error:
        raise MissingCudaError(
            f"device 'cuda' needs CuPy, which is not installed: {INSTALL_COMMAND}"
        ) from error
    return device.backend()
