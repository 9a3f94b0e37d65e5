"""Build of the Cython extensions; everything else about the package is in ``pyproject.toml``.

Every ``.pyx`` under ``ts/_core`` and ``backends`` is one extension.  The opcode enum that the
interpreter switches over is generated from the opcode table (``ts/bytecode/opcodes.py``), so the
table stays the one place that says what an opcode is.

``TS_EXTENSIONS="interp tensor"`` in the environment builds only the named extensions.
"""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

ROOT = Path(__file__).resolve().parent
PACKAGE_OF = {"ts": "ts", "backends": "ts.backends"}
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,  # the bytecode verifier has proved the bounds; containers check their own
    "wraparound": False,
    "cdivision": True,  # Python's rounding is written out in scalar.pxd
    "initializedcheck": False,
    "embedsignature": True,
}


def write_opcode_enum() -> None:
    """Write ``ts/_core/opcodes.pxd`` from the opcode table, only when it changed."""
    table = ROOT / "ts" / "bytecode" / "opcodes.py"
    if not table.exists():
        return
    text: str = runpy.run_path(str(table))["cython_enum"]()
    target = ROOT / "ts" / "_core" / "opcodes.pxd"
    if not target.exists() or target.read_text() != text:
        target.write_text(text)


def extension(source: Path) -> Extension:
    """One extension from one ``.pyx``, named by where its package is installed."""
    top, *rest = source.relative_to(ROOT).with_suffix("").parts
    return Extension(
        ".".join([PACKAGE_OF[top], *rest]),
        [str(source.relative_to(ROOT))],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=[
            "-O3",
            "-g0",  # debug information would be most of the installed size
            "-fno-strict-aliasing",
            "-fwrapv",  # script ints wrap, as PyTorch's do
            "-Wno-unused-function",
            "-Wno-cpp",
        ],
        libraries=["m"],
    )


def extensions() -> list[Extension]:
    """All extensions, or those that ``TS_EXTENSIONS`` names."""
    sources = sorted(p for top in ("ts/_core", "backends") for p in (ROOT / top).rglob("*.pyx"))
    wanted = os.environ.get("TS_EXTENSIONS", "").split()
    return [extension(p) for p in sources if not wanted or p.stem in wanted]


write_opcode_enum()
setup(
    ext_modules=cythonize(extensions(), compiler_directives=DIRECTIVES, quiet=True),
)
