"""Helpers for tests of bfloat16 kernels: random tensors, and the choice of the kernel."""

import pytest

import ts
from ts.backends.cpu.kernels import bfloat16_microkernels


@pytest.fixture(params=["tiles", "float32"])
def algorithm(request):
    """Run a test with the AVX512_BF16 tiles, if this processor and the SIMD level have them, and without them."""
    before = bfloat16_microkernels.use_bfloat16_tiles(request.param == "tiles")
    yield request.param
    bfloat16_microkernels.use_bfloat16_tiles(before)


def randn(*shape):
    return ts.randn(*shape).to(ts.bfloat16)
