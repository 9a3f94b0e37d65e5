"""Files of named tensors in the format of the library `safetensors` (an optional dependency).

A file in this format contains only tensors and text, and no executable code. The example writes a file with
one tensor and one metadata entry, and reads the tensor:

    save_file({"weight": x}, "model.safetensors", {"format": "pt"})
    load_file("model.safetensors")["weight"]
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ts import dtypes
from ts._core.tensor.tensor import Tensor, wrap_array
from ts.archive.zip_writer import write_atomically
from ts.errors import ArchiveError

_DTYPES: Final = {d.safetensors_name: d for d in dtypes.ALL if d.safetensors_name}


def save_file(
    tensors: Mapping[str, Tensor], path: str | os.PathLike[str], metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors and string metadata to a file. Tensors that share memory are written separately."""
    stored = {name: _to_array(name, tensor) for name, tensor in tensors.items()}
    data = _library("safetensors.numpy").save(stored, None if metadata is None else dict(metadata))
    write_atomically(os.fspath(path), lambda file, root: file.write(data))


def load_file(path: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Tensor]:
    """Load the tensors of a file, by name."""
    library = _library("safetensors")
    with open(path, "rb") as file:
        data = file.read()
    try:
        stored_tensors = library.deserialize(data)
    except library.SafetensorError as error:
        raise ArchiveError(f"{os.fspath(path)} is not a safetensors file or is damaged: {error}") from None
    tensors = {}
    for name, stored in stored_tensors:
        dtype = _DTYPES.get(stored["dtype"])
        if dtype is None:
            raise ArchiveError(f"the tensor '{name}' is of type {stored['dtype']}, which ts does not support")
        array = np.frombuffer(stored["data"], dtype.numpy_dtype).reshape(stored["shape"]).copy()
        tensors[name] = wrap_array(array).to(device)
    return tensors


def _to_array(name: str, tensor: Any) -> NDArray[Any]:
    if not isinstance(tensor, Tensor):
        raise ValueError(f"'{name}' is a {type(tensor).__name__}: safetensors files can contain only tensors")
    if tensor.dtype not in _DTYPES.values():
        raise ValueError(f"'{name}' is of type {tensor.dtype}, which safetensors files do not support")
    return np.array(tensor.detach().cpu().array, order="C")


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ModuleNotFoundError(
            "reading and writing safetensors files needs the package safetensors: pip install safetensors"
        ) from None
