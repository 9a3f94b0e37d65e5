"""NVRTC without a GPU: CUDA C++ to PTX, through the library in the wheel `nvidia-cuda-nvrtc-cu12`.

    available()             None, or the reason why NVRTC is not available
    compiled(source)        PTX; SourceError with the compiler's log
"""

import ctypes
import importlib.util
from contextlib import contextmanager
from functools import cache
from pathlib import Path

ARCHITECTURE = "compute_70"  # the oldest compute capability for which kernels are compiled


class SourceError(Exception):
    """Compilation error, with the compiler's log."""


def _folder():
    try:
        spec = importlib.util.find_spec("nvidia.cuda_nvrtc")
    except ModuleNotFoundError:
        return None
    return None if spec is None else Path(next(iter(spec.submodule_search_locations))) / "lib"


def available():
    """Return None if NVRTC is available, else the reason."""
    folder = _folder()
    if folder is None or not list(folder.glob("libnvrtc.so*")):
        return "NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12"
    return None


@cache
def _library():
    folder = _folder()
    ctypes.CDLL(str(next(f for f in folder.glob("libnvrtc-builtins.so*"))), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(next(folder.glob("libnvrtc.so*"))))


@contextmanager
def _preserve_locale():
    """Restore the thread's locale: NVRTC sets it to "C", in which Python reads files as ASCII."""
    libc = ctypes.CDLL(None)
    libc.uselocale.restype, libc.uselocale.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    before = libc.uselocale(None)
    try:
        yield
    finally:
        libc.uselocale(before)


def compiled(source, options=("--std=c++17",)):
    """Return the PTX of a translation unit."""
    library = _library()
    program = ctypes.c_void_p()
    assert library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None) == 0
    try:
        flags = [f"--gpu-architecture={ARCHITECTURE}", *options]
        given = (ctypes.c_char_p * len(flags))(*[f.encode() for f in flags])
        with _preserve_locale():
            failed = library.nvrtcCompileProgram(program, len(flags), given)
        size = ctypes.c_size_t()
        of = "ProgramLog" if failed else "PTX"
        getattr(library, f"nvrtcGet{of}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(library, f"nvrtcGet{of}")(program, text)
        if failed:
            raise SourceError(text.value.decode())
        return text.value.decode()
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
