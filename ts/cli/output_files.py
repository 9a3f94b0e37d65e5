"""Output of results to files: `-o y.npy` for a single tensor, `-o out.npz` for all results.

Input: the result of a function. Output: a file of named arrays. Examples of results and their arrays:

    x                            {"out": x}
    (x, y)                       {"0": x, "1": y}
    {"boxes": x, "labels": y}    {"boxes": x, "labels": y}
    (x, {"a": [y, 2]})           {"0": x, "1.a.0": y, "1.a.1": 2}

Items of a named tuple have the names of its fields. A result None is omitted. NumPy lacks some 16-bit float
types, whose tensors are converted to float32. A file is written under a temporary name, and replaces the old
file when it is complete.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ts
from ts.cli.arguments import STANDARD
from ts.cli.errors import ProgramError, UsageError


def check_out(path: str) -> None:
    """Raise UsageError for an output file of unknown format, before the computation starts."""
    if path != STANDARD and not path.endswith((".npy", ".npz")):
        raise UsageError(
            f"--out: expected .npy (one tensor), .npz (all results) or {STANDARD} (one tensor, to standard "
            f"output), got {path}"
        )


def write_results(path: str, result: Any, function: str) -> None:
    """Write the result of a function to a file."""
    # imported at first use, because most commands write no file
    from ts.archive.zip_writer import write_atomically

    if path == STANDARD or path.endswith(".npy"):
        if not isinstance(result, ts.Tensor):
            kind = type(result).__name__
            raise UsageError(
                f"{path} can contain only one tensor, but {function} returned {kind}; use an .npz file"
            )
        array = _array(result, function)
        if path == STANDARD:
            np.save(sys.stdout.buffer, array, allow_pickle=False)
            return
        _write(write_atomically, path, lambda file: np.save(file, array, allow_pickle=False))
    else:
        arrays = {name or "out": _array(leaf, f"{function}, {name}") for name, leaf in _leaves(result, "")}
        _write(write_atomically, path, lambda file: np.savez(file, allow_pickle=False, **arrays))


def _write(write_atomically: Any, path: str, save: Any) -> None:
    try:
        write_atomically(path, lambda file, root: save(file))
    except (OSError, RuntimeError) as error:
        raise ProgramError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from None


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested containers, with their names."""
    if isinstance(value, dict):
        children = [(str(key), child) for key, child in value.items()]
    elif hasattr(value, "_fields"):
        children = list(zip(value._fields, value, strict=True))
    elif isinstance(value, list | tuple):
        children = [(str(index), child) for index, child in enumerate(value)]
    else:
        if value is not None or not name:
            yield name, value
        return
    for child_name, child in children:
        yield from _leaves(child, f"{name}.{child_name}" if name else child_name)


def _array(value: Any, origin: str) -> NDArray[Any]:
    if isinstance(value, ts.Tensor):
        array: NDArray[Any] = value.detach().cpu().numpy()
        return array if array.dtype.isbuiltin == 1 else array.astype(np.float32)
    if isinstance(value, bool | int | float | complex | str):
        return np.asarray(value)
    raise UsageError(f"{origin} returned {type(value).__name__}, which .npy and .npz files cannot contain")
