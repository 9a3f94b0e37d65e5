"""Detection of the BLAS library for matrix products, by dynamic loading and symbol lookup (dlopen).

MKL is used if it is installed. Otherwise, NumPy's library is used, which is OpenBLAS in NumPy's wheels. The
environment variable TS_BLAS changes the choice:

    TS_BLAS=numpy     NumPy's library computes all products, without the kernels in `gemm_tiles.pyx`
    TS_BLAS=none      `numpy.matmul` computes all products
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# Pairs of a possible name of the gemm functions, and the width in bits of the integer arguments of functions
# with this name. {} stands for the letter of the dtype.
_NUMPY_GEMM_NAMES = (
    ("scipy_cblas_{}gemm64_", 64),
    ("cblas_{}gemm64_", 64),
    ("cblas_{}gemm$NEWLAPACK$ILP64", 64),
    ("scipy_cblas_{}gemm", 32),
    ("cblas_{}gemm$NEWLAPACK", 32),
    ("cblas_{}gemm", 32),
)
_MKL_GEMM_NAMES = (("cblas_{}gemm_64", 64), ("cblas_{}gemm", 32))
_EXTENSIONS = ("numpy._core._multiarray_umath", "numpy.linalg._umath_linalg", "scipy.linalg._fblas")
_THREAD_CONTROL_NAMES = (
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),
    ("scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"),
    ("openblas_get_num_threads64_", "openblas_set_num_threads64_"),
    ("openblas_get_num_threads", "openblas_set_num_threads"),
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
    ("bli_thread_get_num_threads", "bli_thread_set_num_threads"),
)


class Library(NamedTuple):
    """Name and function addresses of a detected BLAS library."""

    name: str
    bits: int  # width of the library's integers in bits
    gemm: dict[str, int]  # dtype letter ("s", "d", "c", "z") -> address of the function
    # True if the user chose this library, by installing it or by TS_BLAS. Matrix products then call it
    # instead of the kernels in `gemm_tiles.pyx`.
    chosen: bool


@cache
def library() -> Library | None:
    """Return the BLAS library, which is detected at the first call.

    Raise RuntimeError if TS_BLAS is invalid.
    """
    requested = os.environ.get("TS_BLAS", "")
    if requested not in ("", "mkl", "numpy", "none"):
        raise RuntimeError(f"TS_BLAS must be 'mkl', 'numpy' or 'none', not '{requested}'")
    if requested == "none":
        return None
    loaded = None if requested == "numpy" else _find_mkl()
    if loaded is None and requested == "mkl":
        raise RuntimeError("TS_BLAS is 'mkl', but no MKL was found: pip install 'torchscript-ts[mkl]'")
    return loaded or _find_numpy_library(requested == "numpy")


def _find_mkl() -> Library | None:
    for path in _mkl_files():
        try:
            handle = ctypes.CDLL(str(path))
        except OSError:
            continue
        functions = _find_gemm(handle, _MKL_GEMM_NAMES)
        if functions is not None:
            return Library(f"MKL ({path})", *functions, True)
    return None


def _mkl_files() -> Iterator[Path]:
    """Yield MKL libraries installed by pip or conda, in the `lib` folders of the interpreter and of NumPy."""
    prefixes = [Path(sys.prefix)]
    numpy = np.__file__
    if numpy is not None:
        prefixes += [p.parent for p in Path(numpy).parents if p.name in ("lib", "lib64")]
    for prefix in dict.fromkeys(prefixes):
        yield from sorted((prefix / "lib").glob("libmkl_rt.*"))


def _find_numpy_library(asked_for: bool) -> Library | None:
    handle = _load_symbols("numpy._core._multiarray_umath")
    functions = None if handle is None else _find_gemm(handle, _NUMPY_GEMM_NAMES)
    if handle is None or functions is None:
        return None
    return Library(_describe_openblas(handle, "config") or "NumPy's", *functions, asked_for)


def _load_symbols(extension: str) -> ctypes.CDLL | None:
    """Return a handle that finds symbols of an extension module and of the libraries that it links.

    Return None if the module is not imported or cannot be opened.
    """
    file = getattr(sys.modules.get(extension), "__file__", None)
    try:
        return None if file is None else ctypes.CDLL(file)
    except OSError:
        return None


def controls() -> Iterator[tuple[int, int]]:
    """Yield the addresses of `int get()` and `void set(int)` for the thread count of each BLAS library."""
    handles = [_load_symbols(extension) for extension in _EXTENSIONS]
    for package in ("numpy", "scipy"):  # without a handle, search for OpenBLAS in the folders of the wheels
        file = getattr(sys.modules.get(package), "__file__", None)
        if file is not None and not any(handles):
            folder = Path(file).parent
            for directory in (folder.parent / f"{package}.libs", folder / ".dylibs"):
                handles += [ctypes.CDLL(str(path)) for path in sorted(directory.glob("*openblas*"))]
    loaded = library()
    if loaded is not None and loaded.name.startswith("MKL"):
        handles.append(ctypes.CDLL(loaded.name[5:-1]))
    seen = set()
    for handle in handles:
        for getter, setter in _THREAD_CONTROL_NAMES:
            functions = [getattr(handle, name, None) for name in (getter, setter)]
            if None not in functions:
                get, set_ = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in functions)  # type: ignore[arg-type]
                if get not in seen:
                    seen.add(get)
                    yield get, set_


def _find_gemm(handle: ctypes.CDLL, names: tuple[tuple[str, int], ...]) -> tuple[int, dict[str, int]] | None:
    for name, bits in names:
        functions: dict[str, Any] = {c: getattr(handle, name.format(c), None) for c in "sdcz"}
        if None not in functions.values():
            return bits, {c: ctypes.cast(f, ctypes.c_void_p).value or 0 for c, f in functions.items()}
    return None


def _describe_openblas(handle: ctypes.CDLL, what: str) -> str | None:
    """Return OpenBLAS's configuration if `what` is "config", or its kernel name if `what` is "corename".

    Return None if the library has no such function.
    """
    for prefix in ("scipy_openblas", "openblas"):
        for suffix in ("64_", ""):
            describe = getattr(handle, f"{prefix}_get_{what}{suffix}", None)
            if describe is not None:
                describe.restype = ctypes.c_char_p
                return " ".join(describe().decode().split())
    return None
