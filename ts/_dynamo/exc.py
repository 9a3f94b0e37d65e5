"""Errors of PyTorch's compiler that something here raises, too."""

from __future__ import annotations

from ts.absent import names_for
from ts.errors import TorchRuntimeError, UncapturedHigherOrderOpError, UserError, UserErrorType

__all__ = ["TorchRuntimeError", "UncapturedHigherOrderOpError", "UserError", "UserErrorType"]

__getattr__ = names_for(__name__)
