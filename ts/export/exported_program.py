"""Programs and the calls of their modules, under PyTorch's name of the module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.absent import names_for
from ts.export.module_calls import ModuleCallEntry, ModuleCallSignature
from ts.export.program import ExportedProgram

__all__ = ["ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "default_decompositions"]

__getattr__ = names_for(__name__)


def default_decompositions() -> dict[Any, Callable[..., Any]]:
    """Return the table of `run_decompositions()`, which needs sympy."""
    from ts.export import decomposing

    return decomposing.default_decompositions()
