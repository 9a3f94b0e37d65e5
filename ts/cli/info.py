"""`ts info`: versions, backends, operators."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence

import numpy as np

import ts
from ts import backends
from ts.backends.cpu.blas import library as blas_library
from ts.backends.cpu.kernels.microkernels import instruction_set
from ts.cli import terminal
from ts.ops import registry


def info(options: argparse.Namespace) -> int:
    """`ts info`: versions, backends, operators."""
    library = blas_library()
    present = backends.available()
    rows = [
        ("ts", ts.__version__),
        ("Python", f"{platform.python_version()} on {platform.platform()}"),
        ("NumPy", np.__version__),
        ("BLAS", "NumPy's matmul" if library is None else library.name),
        ("vectors", instruction_set()),
        *(("backend", f"{name}: {_state(name, present)}") for name in backends.BUILT_IN),
        ("operators", str(registry.count())),
    ]
    terminal.table(("what", "found"), rows, sys.stdout)
    return 0


def _state(name: str, present: Sequence[str]) -> str:
    if name in present:
        return "present"
    hint = " (needs CuPy and a GPU: pip install 'torchscript-ts[cuda]')" if name == "cuda" else ""
    return f"not available{hint}"
