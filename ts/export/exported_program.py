"""`torch.export.exported_program`: re-exports `ts.export.program` under PyTorch's module name."""

from __future__ import annotations

from ts.export.decomp_utils import CustomDecompTable
from ts.export.module_calls import ModuleCallEntry, ModuleCallSignature
from ts.export.program import ExportedProgram
from ts.unsupported import names_for

__all__ = ["ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "default_decompositions"]

__getattr__ = names_for(__name__)


def default_decompositions() -> CustomDecompTable:
    """Return the default decomposition table of `run_decompositions()`. This function requires sympy."""
    from ts.export import run_decompositions

    return run_decompositions.default_decompositions()
