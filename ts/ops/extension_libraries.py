"""Loading of C++ extension libraries by `torch.ops.load_library`, or search for operator names in them.

A library that is linked with PyTorch's libraries is never loaded. Its file is only searched for operator
names. Other shared libraries are loaded.

Example:

    torch.ops.load_library("libtorchaudio.so")     # warns that its C++ code is not used
    torch.ops.torchaudio._lfilter_core_loop        # an operator implemented by ts
    torch.ops.torchaudio.forced_align(...)         # NotImplementedError with operator and library
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import re
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ts._core.tensor.tensor import Tensor
from ts.ops import registry
from ts.ops.operator_record import OperatorRecord

loaded_libraries: set[str] = set()  # paths of all libraries that `load_library` accepted
# Paths of libraries that `load_library` accepted but did not load, because they are linked with PyTorch
_unloaded_libraries: list[str] = []

_SHARED_LIBRARY_MAGIC: Final = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_PYTORCH_SYMBOLS: Final = re.compile(rb"lib(?:torch|c10)\w*\.|(?:torch|torch_cpu|c10)\.dll|aoti_torch_\w")


def _filter_recursively(waveform: Tensor, coefficients: Tensor, padded_output: Tensor) -> Tensor:
    """Run an IIR filter on a waveform (batch, channel, time), and write the result to `padded_output`.

    `coefficients` has the shape (channel, order) and contains the coefficients in reverse order.
    """
    x, a, y = waveform.array, coefficients.array, padded_output.array
    order = a.shape[1]
    for at in range(x.shape[2]):
        y[:, :, at + order - 1] = x[:, :, at] - (y[:, :, at : at + order] * a).sum(-1)
    return padded_output


def _overdrive(
    waveform: Tensor, temp: Tensor, last_in: Tensor, last_out: Tensor, output: Tensor
) -> tuple[Tensor, ...]:
    """Apply the feedback loop of SoX's overdrive effect to waveforms (channel, time). Fill `output`."""
    x, source, before, after, y = (t.array for t in (waveform, temp, last_in, last_out, output))
    for at in range(x.shape[-1]):
        after[...] = source[:, at] - before + np.asarray(0.995, x.dtype) * after
        before[...] = source[:, at]
        y[:, at] = x[:, at] * 0.5 + after * 0.75
    return last_in, last_out, output


# Packages with a fallback in Python. For a library of such a package, `load_library` raises OSError, so that
# the package uses the fallback. Without the error, the import of the package would call operators of the
# library.
_PACKAGES_WITH_FALLBACK: Final = frozenset({"torchvision"})
# Operators of extension libraries that `ts` implements, because they are often used or called at import.
_OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    "_torchaudio::cuda_version() -> int?": lambda: None,
    "_torchaudio::is_align_available() -> bool": lambda: False,
    "torchaudio::_lfilter_core_loop(Tensor input_signal_windows, Tensor a_coeff_flipped, "
    "Tensor(a!) padded_output_waveform) -> Tensor(a!)": _filter_recursively,
    "torchaudio::_overdrive_core_loop(Tensor waveform, Tensor temp, Tensor(a!) last_in, Tensor(b!) last_out, "
    "Tensor(c!) output_waveform) -> (Tensor(a!), Tensor(b!), Tensor(c!))": _overdrive,
}


def load_library(path: Any) -> None:
    """Load a shared library. Raise OSError if this fails.

    For a library that is linked with PyTorch, warn instead, and define the operators in `_OPERATORS` that the
    library declares. Raise OSError for such a library if its package has a fallback in Python.
    """
    real_path = os.path.realpath(os.fspath(path))
    message = f"Could not load this library: {real_path}"
    if not os.path.isfile(real_path):
        raise OSError(message)
    with open(real_path, "rb") as file:
        if not file.read(4).startswith(_SHARED_LIBRARY_MAGIC):
            raise OSError(message)
    if not _search(real_path, _PYTORCH_SYMBOLS):
        try:
            ctypes.CDLL(real_path)
        except OSError as error:
            raise OSError(message) from error
        loaded_libraries.add(real_path)
        return
    present = [schema for schema in _OPERATORS if _declares(real_path, *schema.partition("(")[0].split("::"))]
    if not _PACKAGES_WITH_FALLBACK.isdisjoint(os.path.normpath(real_path).split(os.sep)):
        raise OSError(f"{message}: it is linked with PyTorch's libraries, which ts does not run")
    for schema in present:
        if not registry.lookup(schema.partition("(")[0]):
            registry.add(
                OperatorRecord(
                    schema, _OPERATORS[schema], "custom", where="", tensor_kernel=True, of_program=True
                )
            )
    if real_path not in loaded_libraries:
        loaded_libraries.add(real_path)
        _unloaded_libraries.append(real_path)
        warnings.warn(
            f"{real_path} is linked with PyTorch's libraries, and ts does not run its code in C++; calls of "
            "its operators raise NotImplementedError unless ts or a program (by torch.library) "
            "implements them",
            stacklevel=2,
        )


def _search(path: str, pattern: re.Pattern[bytes]) -> bool:
    """Return whether the file `path` contains a match of a bytes pattern."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return pattern.search(content) is not None


@functools.cache
def _declares(path: str, namespace: str, name: str) -> bool:
    """Return whether the file `path` contains the namespace and the name of an operator as words."""
    words = (re.escape(x.encode("utf-8", "surrogatepass")) for x in (namespace, name))
    return all(_search(path, re.compile(rb"(?<!\w)" + word + rb"(?!\w)")) for word in words)


class UnavailableOperator:
    """Operator of an unloaded library. A call raises NotImplementedError."""

    def __init__(self, namespace: str, name: str, library: str) -> None:
        self.namespace, self.__name__, self.library = namespace, name, library
        self.qualified_name = f"{namespace}::{name}"

    @property
    def default(self) -> UnavailableOperator:
        """The default overload, which is this object."""
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise a NotImplementedError that names the operator and its library."""
        raise NotImplementedError(
            f"torch.ops.{self.namespace}.{self.__name__} is an operator in C++ of {self.library}, whose code "
            f"ts does not run: implement it in Python with torch.library (define, impl)"
        )

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self.namespace}.{self.__name__}')>"


def unavailable_operator(namespace: str, name: str) -> UnavailableOperator | None:
    """Return a placeholder for an operator if a library that was not loaded declares it, otherwise None."""
    for path in _unloaded_libraries:
        if _declares(path, namespace, name):
            return UnavailableOperator(namespace, name, path)
    return None
