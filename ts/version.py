"""Version numbers of `ts` and of the PyTorch release that it implements.

`__version__` combines both numbers:

>>> ts.version.__version__ == f"2.13.0+ts{ts.version.ts}"
True

`cuda` is None, because `ts` contains no compiled CUDA code. CuPy uses its own CUDA version.
"""

from __future__ import annotations

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

ts = "0.1.0"
__version__ = f"2.13.0+ts{ts}"
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
debug = False
git_version = "Unknown"
