"""What this is built of: `ts.version.cuda` is None, as nothing is compiled for CUDA (CuPy brings its own).

>>> ts.version.__version__ == ts.__version__
True
"""

from __future__ import annotations

from ts import __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

cuda: str | None = None
hip: str | None = None
xpu: str | None = None
debug = False
git_version = "Unknown"
