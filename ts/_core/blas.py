"""The BLAS library that products of matrices go to.

In: what is installed; out: `library()`, with the addresses of its cblas_?gemm, or None.

An MKL is taken where one is installed (`pip install mkl`, the extra `mkl`), else what NumPy itself is linked
with: the OpenBLAS of its wheels, or another one.  TS_BLAS=numpy leaves an MKL alone; TS_BLAS=none leaves all
products to `numpy.matmul`.

    library().name      "OpenBLAS 0.3.31 ..."      what `ts info` shows
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# Names of cblas_sgemm, with an s for the dtype, and how many bits the library's integers have.
_OF_NUMPY = (
    ("scipy_cblas_{}gemm64_", 64),
    ("cblas_{}gemm64_", 64),
    ("cblas_{}gemm$NEWLAPACK$ILP64", 64),
    ("scipy_cblas_{}gemm", 32),
    ("cblas_{}gemm$NEWLAPACK", 32),
    ("cblas_{}gemm", 32),
)
_OF_MKL = (("cblas_{}gemm_64", 64), ("cblas_{}gemm", 32))


class Library(NamedTuple):
    """A BLAS."""

    name: str
    bits: int  # of its integers
    gemm: dict[str, int]  # "s", "d", "c", "z": the address of the function
    set_threads: Callable[[int], Any] | None  # None: threads are set elsewhere, see ts.threads


@cache
def library() -> Library | None:
    """The library in use, found when it is first asked for."""
    wanted = os.environ.get("TS_BLAS", "")
    if wanted not in ("", "mkl", "numpy", "none"):
        raise RuntimeError(f"TS_BLAS is 'mkl', 'numpy' or 'none', not '{wanted}'")
    if wanted == "none":
        return None
    found = None if wanted == "numpy" else _mkl()
    if found is None and wanted == "mkl":
        raise RuntimeError("TS_BLAS is 'mkl', but no MKL was found: pip install 'torchscript-ts[mkl]'")
    return found or _of_numpy()


def _mkl() -> Library | None:
    for path in _mkl_files():
        try:
            handle = ctypes.CDLL(str(path))
        except OSError:
            continue
        found = _functions(handle, _OF_MKL)
        if found is not None:
            setter = getattr(handle, "MKL_Set_Num_Threads", None)
            return Library(f"MKL ({path})", *found, setter)
    return None


def _mkl_files() -> Iterator[Path]:
    """Where pip and conda put the library: beside the interpreter's, or below the prefix that NumPy is in."""
    prefixes = [Path(sys.prefix)]
    numpy = np.__file__
    if numpy is not None:
        prefixes += [p.parent for p in Path(numpy).parents if p.name in ("lib", "lib64")]
    for prefix in dict.fromkeys(prefixes):
        yield from sorted((prefix / "lib").glob("libmkl_rt.*"))


def _of_numpy() -> Library | None:
    """The symbols that NumPy's own extension sees."""
    umath = getattr(np, "_core", None)
    extension = getattr(getattr(umath, "_multiarray_umath", None), "__file__", None)
    if extension is None:
        return None
    try:
        handle = ctypes.CDLL(extension)  # the one that is loaded already; its libraries are searched as well
    except OSError:
        return None
    found = _functions(handle, _OF_NUMPY)
    return None if found is None else Library(_name(handle), *found, None)


def _functions(handle: ctypes.CDLL, names: tuple[tuple[str, int], ...]) -> tuple[int, dict[str, int]] | None:
    for name, bits in names:
        functions: dict[str, Any] = {c: getattr(handle, name.format(c), None) for c in "sdcz"}
        if None not in functions.values():
            return bits, {c: ctypes.cast(f, ctypes.c_void_p).value or 0 for c, f in functions.items()}
    return None


def _name(handle: ctypes.CDLL) -> str:
    for prefix in ("scipy_openblas", "openblas"):
        for suffix in ("64_", ""):
            describe = getattr(handle, f"{prefix}_get_config{suffix}", None)
            if describe is not None:
                describe.restype = ctypes.c_char_p
                return " ".join(describe().decode().split())
    return "NumPy's"
