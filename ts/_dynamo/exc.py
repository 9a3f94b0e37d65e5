"""Errors of PyTorch's compiler that something here raises, too."""

from __future__ import annotations

from ts.errors import TorchRuntimeError, UncapturedHigherOrderOpError, UserError, UserErrorType
from ts.unsupported import names_for

__all__ = ["TorchRuntimeError", "UncapturedHigherOrderOpError", "UserError", "UserErrorType"]

__getattr__ = names_for(__name__)
