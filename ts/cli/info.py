"""Command `ts info`, which prints versions, backends and operators, or the contents of an archive.

`ts.cli.archive_summary` summarizes an archive.
"""

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
from ts.cli import console
from ts.cli.archive_summary import summarize
from ts.cli.limit_options import add_limits, limits_of
from ts.cli.targets import parse_target
from ts.ops import registry


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument("archives", nargs="*", metavar="ARCHIVE | PROGRAM.pt2")
    add_limits(parser)
    return """\
Prints the archive's size, version and producer, its methods with inputs and outputs, the operators that its
code calls, the tree of parameters and buffers, and missing dependencies.  No code of the archive is executed.

examples:
  ts info
  ts info model.pt
"""


def run(options: argparse.Namespace) -> int:
    """Print a summary of each archive, or, without archives, of the installation."""
    for index, archive in enumerate(options.archives):
        if index:
            print()
        path = parse_target(archive).path
        with limits_of(options, untrusted=True):
            sections = summarize(path)
        console.sections(sections, sys.stdout)
    return 0 if options.archives else installation()


def installation() -> int:
    """Print versions, backends and operators."""
    library = blas_library()
    present = backends.available()
    rows = [
        ("ts", ts.version.ts),
        ("Python", f"{platform.python_version()} on {platform.platform()}"),
        ("NumPy", np.__version__),
        ("BLAS", "NumPy's matmul" if library is None else library.name),
        ("vectors", instruction_set()),
        *(("backend", f"{name}: {_backend_status(name, present)}") for name in backends.BUILT_IN),
        ("operators", str(len(registry.records()))),
    ]
    console.table(("component", "value"), rows, sys.stdout)
    return 0


def _backend_status(name: str, present: Sequence[str]) -> str:
    if name in present:
        return "present"
    hint = " (needs CuPy and a GPU: pip install 'torchscript-ts[cuda]')" if name == "cuda" else ""
    return f"not available{hint}"
