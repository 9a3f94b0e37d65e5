"""Switches of CUDA's libraries, which are remembered; `ts.backends.cuda` has them.

    ts.backends.cuda.matmul.allow_tf32 = True
    with ts.backends.cuda.sdp_kernel(enable_flash=False): ...
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec


class Matmul:
    """How exact products of matrices have to be."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False
    fp32_precision = "none"


matmul = Matmul()
_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built() -> bool:
    """Whether CuPy, which the cuda backend needs, is installed."""
    return find_spec("cupy") is not None


def flash_sdp_enabled() -> bool:
    """What `enable_flash_sdp` said."""
    return _attention["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Allow attention by tiles; there is one kind of attention here."""
    _attention["flash"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """What `enable_mem_efficient_sdp` said."""
    return _attention["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow attention that saves memory; there is one kind of attention here."""
    _attention["mem_efficient"] = enabled


def math_sdp_enabled() -> bool:
    """What `enable_math_sdp` said."""
    return _attention["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Allow attention as products and softmax, which is what there is."""
    _attention["math"] = enabled


def cudnn_sdp_enabled() -> bool:
    """What `enable_cudnn_sdp` said."""
    return _attention["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow cuDNN's attention; there is one kind of attention here."""
    _attention["cudnn"] = enabled


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """The block in which these kinds of attention are allowed."""
    before = dict(_attention)
    _attention.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn
    )
    try:
        yield
    finally:
        _attention.update(before)
