"""Flags of CUDA libraries under PyTorch's names (`ts.backends.cuda`).

The flags are stored but have no effect. Example:

    ts.backends.cuda.matmul.allow_tf32 = True
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec


class Matmul:
    """Class of `ts.backends.cuda.matmul`: precision flags of matrix products, without effect."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False
    fp32_precision = "none"


matmul = Matmul()
_sdp_flags = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built() -> bool:
    """Return whether CuPy is installed, which the CUDA backend needs."""
    return find_spec("cupy") is not None


def flash_sdp_enabled() -> bool:
    """Return the flag set by `enable_flash_sdp`."""
    return _sdp_flags["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Set the flag of flash attention. It has no effect, because `ts` has one implementation of attention."""
    _sdp_flags["flash"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """Return the flag set by `enable_mem_efficient_sdp`."""
    return _sdp_flags["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Set the flag of memory-efficient attention. It has no effect."""
    _sdp_flags["mem_efficient"] = enabled


def math_sdp_enabled() -> bool:
    """Return the flag set by `enable_math_sdp`."""
    return _sdp_flags["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Set the flag of attention by matrix products and softmax. It has no effect."""
    _sdp_flags["math"] = enabled


def cudnn_sdp_enabled() -> bool:
    """Return the flag set by `enable_cudnn_sdp`."""
    return _sdp_flags["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Set the flag of cuDNN's attention. It has no effect."""
    _sdp_flags["cudnn"] = enabled


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Set the flags of attention implementations inside of a `with` block."""
    before = dict(_sdp_flags)
    _sdp_flags.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn
    )
    try:
        yield
    finally:
        _sdp_flags.update(before)
