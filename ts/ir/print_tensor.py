"""Printing of tensors in the layout of PyTorch's C++ printer, for graph attributes and `print` in scripts.

Each line shows printed text and the tensors with this form. In attributes, spaces replace line breaks::

    {3.5}                                                  one element
     1.0000  2.5000 [ CPUFloatType{2} ]                    up to ten elements: rows in order
    0.01 *  5.0000  2.5000 [ CPUFloatType{2} ]             small or large numbers, with a common factor
    (1,.,.) =   1  (2,.,.) =   2 [ CPULongType{2,1,1} ]    more than two dimensions: matrix by matrix
    <Tensor>                                               more than ten elements

As in PyTorch, only the real part of complex elements is printed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from ts.dtypes import SCALAR_TYPE_NAMES
from ts.ir.attributes import ParsedTensor

_MAX_PRINTED_ELEMENTS: Final = 10
_DEVICES: Final = {"meta": "Meta"}
_LINE_WIDTH_CHARS: Final = 80  # maximum length of a printed line of a matrix
_DIGITS: Final = 4  # number of printed digits after the decimal point


def format_tensor(value: Any) -> str:
    """Return the text of a tensor attribute."""
    if isinstance(value, ParsedTensor):
        return value.text
    count = math.prod(map(int, value.shape))
    if count == 1:
        return f"{{{_scalar(value.item())}}}"
    return " ".join(tensor_lines(value)) if count <= _MAX_PRINTED_ELEMENTS else "<Tensor>"


def tensor_lines(value: Any) -> list[str]:
    """Return the printed lines of a tensor: elements, then the type and sizes."""
    sizes = list(map(int, value.shape))
    name = SCALAR_TYPE_NAMES[int(value.dtype.code)] if hasattr(value.dtype, "code") else "Float"
    device = str(getattr(value, "device", "cpu")).split(":")[0]
    type = f"{_DEVICES.get(device, device.upper())}{name}Type{{{','.join(map(str, sizes))}}}"
    return [*(_elements(value.tolist(), sizes) if 0 not in sizes else ()), f"[ {type} ]"]


def _scalar(item: Any) -> str:
    if isinstance(item, complex):
        return f"({item.real:g},{item.imag:g})"
    return f"{item:g}" if isinstance(item, float) else str(int(item))


def _elements(items: Any, sizes: list[int]) -> Iterator[str]:
    if not sizes:
        yield repr(float(items.real)).removesuffix(".0")
    elif len(sizes) == 1:
        number_format = _number_format(items)
        if number_format.factor != 1:
            yield number_format.format_factor()
        yield from map(number_format.element, _reals(items))
    elif len(sizes) == 2:
        yield from _matrix(items, 0)
    else:
        first = True
        # As in PyTorch, the first index varies fastest from matrix to matrix.
        for index in itertools.product(*map(range, reversed(sizes[:-2]))):
            if not first:
                yield ""
            first = False
            matrix = items
            for i in reversed(index):
                matrix = matrix[i]
            yield f"({','.join(str(i + 1) for i in reversed(index))},.,.) = "
            yield from _matrix(matrix, 1)


def _matrix(rows: list[list[Any]], indent: int) -> Iterator[str]:
    """Yield the lines of a matrix. A matrix wider than a line is split into groups of columns.

    All lines except the first are indented by `indent` columns.
    """
    number_format = _number_format(list(itertools.chain.from_iterable(rows)))
    width = len(rows[0])
    columns_per_line = max(1, (_LINE_WIDTH_CHARS - indent) // (number_format.width + 1))
    margin = " " * indent
    for start in range(0, width, columns_per_line):
        columns = slice(start, min(start + columns_per_line, width))
        header = ""
        if columns_per_line < width:
            if start:
                yield ""
            header = f"Columns {start + 1} to {columns.stop}{margin}"
        if number_format.factor != 1:
            yield header + number_format.format_factor()
            header = margin
        for row in rows:
            yield header + " ".join(map(number_format.element, _reals(row[columns])))
            header = margin if number_format.factor == 1 else margin + " "


class _NumberFormat(NamedTuple):
    """Number format shared by the elements of a vector or matrix."""

    width: int
    notation: str  # Python format specification
    factor: float = 1  # the factor is printed first, then each element divided by the factor

    def format_factor(self) -> str:
        return f"{self.factor:.16g} *"

    def element(self, value: float) -> str:
        return f"{value / self.factor:{self.width}{self.notation}}"


def _number_format(items: Sequence[Any]) -> _NumberFormat:
    finite = [abs(value) for value in _reals(items) if math.isfinite(value)]
    min_digits, max_digits = (_digits(pick(finite)) if finite else 1 for pick in (min, max))
    scientific = f".{_DIGITS}e"
    if all(value == int(value) for value in finite):
        return _NumberFormat(11, scientific) if max_digits > 9 else _NumberFormat(max_digits + 1, "g")
    if max_digits - min_digits > 4:
        return _NumberFormat(12 if max(abs(min_digits), abs(max_digits)) > 99 else 11, scientific)
    fixed = f".{_DIGITS}f"
    if max_digits > 5 or max_digits < 0:
        return _NumberFormat(7, fixed, 10.0 ** (max_digits - 1))
    return _NumberFormat(7 if max_digits == 0 else max_digits + 6, fixed)


def _digits(value: float) -> int:
    """Return the number of digits before the decimal point, which is 0 or negative for values below 1."""
    return math.floor(math.log10(value)) + 1 if value else 1


def _reals(items: Sequence[Any]) -> list[float]:
    return [float(item.real) for item in items]
