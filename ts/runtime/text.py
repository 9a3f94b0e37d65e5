"""How tensors print inside of scripts, which is not how they print in Python.

In: a value that `print`, `str` or `format` of a program shows; out: PyTorch's text of it there.

    >>> print(script_text(ts.tensor([[1.5, 2.25], [1000.0, 3.0]])))
        1.5000     2.2500
     1000.0000     3.0000
    [ CPUFloatType{2,2} ]

All elements share one format: whole numbers, fixed point (under a common scale where they are large or
small), or scientific where the largest and the smallest are far apart.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ts import dtypes
from ts._core.tensor.tensor import Tensor

_LINE = 80
_DEVICES = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}


class _Format:
    """Width and spelling of the elements: PyTorch's choice, by the digits before the point."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.scale = 1.0
        finite = np.abs(values[np.isfinite(values)])
        smallest = _digits(float(finite.min())) if finite.size else 1
        largest = _digits(float(finite.max())) if finite.size else 1
        if np.array_equal(finite, np.ceil(finite)):
            self.spec, self.width = ("g", largest + 1) if largest <= 9 else (".4e", 11)
        elif largest - smallest > 4:
            self.spec = ".4e"
            self.width = 11 if abs(largest) <= 99 and abs(smallest) <= 99 else 12
        else:
            self.spec, self.width = ".4f", 7
            if largest > 5 or largest < 0:
                self.scale = 10.0 ** (largest - 1)
            elif largest > 0:
                self.width = largest + 6

    def text(self, value: float) -> str:
        return format(value / self.scale, self.spec).rjust(self.width)


def _digits(value: float) -> int:
    return math.floor(math.log10(value)) + 1 if value else 1


def _matrix(values: NDArray[Any], margin: str) -> list[str]:
    """The lines of a matrix; where it is too wide, blocks of columns one below the other."""
    form = _Format(values)
    columns = values.shape[1]
    per_line = max(1, (_LINE - len(margin)) // (form.width + 1))
    scale = "" if form.scale == 1 else f"{form.scale:g} *\n{margin}"
    indent = margin + " " if scale else margin
    lines: list[str] = []
    for first in range(0, columns, per_line):
        last = min(first + per_line, columns)
        rows = [" ".join(map(form.text, row)) for row in values[:, first:last].tolist()]
        heading = f"Columns {first + 1} to {last}{margin}" if columns > per_line else ""
        if lines:
            lines.append("")
        lines += [heading + scale + rows[0], *(indent + row for row in rows[1:])]
    return lines


def _lines(values: NDArray[Any]) -> list[str]:
    """The lines of the elements of an array that is not empty."""
    if values.ndim == 0:
        return [repr(float(values)).removesuffix(".0")]
    if values.ndim == 1:
        form = _Format(values)
        scale = [] if form.scale == 1 else [f"{form.scale:g} *"]
        return scale + [form.text(v) for v in values.tolist()]
    if values.ndim == 2:
        return _matrix(values, "")
    lines: list[str] = []
    for index in np.ndindex(values.shape[:-2]):
        lines += [""] if lines else []
        lines.append(f"({','.join(str(i + 1) for i in index)},.,.) = ")
        lines += _matrix(values[index], " ")
    return lines


def script_text(value: object) -> str:
    """The text of a tensor inside of scripts; of anything else, Python's."""
    if not isinstance(value, Tensor) or value.is_meta or value.dtype.is_complex:
        return str(value)
    array = value.detach().cpu().array
    lines = _lines(array.astype(np.float64)) if array.size else []
    type_name = "BFloat16" if value.dtype is dtypes.bfloat16 else value.dtype.type_name
    sizes = ",".join(map(str, value.shape))
    return "\n".join([*lines, f"[ {_DEVICES.get(value.device.type, '')}{type_name}Type{{{sizes}}} ]"])
