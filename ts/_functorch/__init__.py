"""Part of PyTorch's package of function transforms that exported programs refer to."""

from __future__ import annotations

from ts._functorch import predispatch
from ts.unsupported import names_for

__all__ = ["predispatch"]

__getattr__ = names_for(__name__)
