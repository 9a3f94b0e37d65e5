"""Exceptions of PyTorch's compiler that `ts` also raises."""

from __future__ import annotations

from ts.errors import TorchRuntimeError, UncapturedHigherOrderOpError, UserError, UserErrorType
from ts.unsupported import names_for

__all__ = ["TorchRuntimeError", "UncapturedHigherOrderOpError", "UserError", "UserErrorType"]

__getattr__ = names_for(__name__)
