"""Implementation of PyTorch's package `torch._functorch`, whose functions exported programs call."""

from __future__ import annotations

from ts._functorch import predispatch
from ts.unsupported import names_for

__all__ = ["predispatch"]

__getattr__ = names_for(__name__)
