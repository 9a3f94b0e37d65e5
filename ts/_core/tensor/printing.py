"""Tensor printing (scientific notation, summarization of large tensors), identical to PyTorch's.

    >>> ts.tensor([[1.5, 20.0]])
    tensor([[ 1.5000, 20.0000]])

All elements of a tensor have one format, which depends on the elements that are shown. The formats are
integers, whole floats (`2.`), fixed point and scientific. A tensor with more than `threshold` elements shows
only `edgeitems` elements at both ends of each dimension.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ts import dtypes
from ts._core.tensor.python_operators import operator
from ts._core.tensor.tensor_metadata import layer_of
from ts._core.thread import deadline
from ts._core.thread.context import GradMode
from ts.module_names import is_own

if TYPE_CHECKING:
    from ts._core.tensor.tensor import Tensor


@dataclass
class PrintOptions:
    """Options of tensor formatting, set by `set_printoptions`."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    # Whether floats are printed in scientific notation. If the option is None, the printed values determine
    # the notation.
    sci_mode: bool | None = None


OPTIONS = PrintOptions()
_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set print options. `sci_mode` becomes automatic if it is not given."""
    options = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    settings = dict(_PROFILES.get(profile, {})) if profile is not None else {}
    settings |= {name: value for name, value in options.items() if value is not None}
    for name, value in settings.items():
        setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


_CHUNK_ELEMENTS: Final = 1 << 12  # number of elements that are formatted between two checks of the deadline
_NUMBER_NS: Final = 100.0  # lower bound of the time to format a number, in ns


def _numbers(values: NDArray[Any]) -> Iterator[Any]:
    """Yield the elements as Python numbers. Charge the time for formatting them to the time limit."""
    flat = values.reshape(-1)
    for start in range(0, flat.size, _CHUNK_ELEMENTS):
        piece = flat[start : start + _CHUNK_ELEMENTS]
        deadline.charge(_NUMBER_NS * piece.size)
        yield from piece.tolist()


class _IntegerFormat:
    """Format of integers and bools. All are padded to the width of the longest number."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.width = max((len(str(v)) for v in _numbers(values)), default=1)

    def format_value(self, value: Any) -> str:
        return str(value).rjust(self.width)


class _FloatFormat:
    """Format of floats: whole numbers, fixed point or scientific, depending on the finite nonzero values."""

    def __init__(self, values: NDArray[Any], zero: float = 0.0) -> None:
        self.width = 1
        self.is_integral = True
        self.scientific = False
        flat = values.ravel().astype(np.float64)
        finite = flat[np.isfinite(flat) & (flat != zero)]
        if finite.size:
            self._choose(finite)

    def _choose(self, finite: NDArray[Any]) -> None:
        smallest, largest = float(np.abs(finite).min()), float(np.abs(finite).max())
        self.is_integral = bool((finite == np.ceil(finite)).all())
        # If the ratio is too large for a double, it is infinite, as in C and PyTorch. Python's division would
        # raise an error.
        ratio = largest / smallest if smallest > largest / 1e300 else math.inf
        self.scientific = ratio > 1000.0 or largest > 1e8 or (not self.is_integral and smallest < 1e-4)
        if OPTIONS.sci_mode is not None:
            self.scientific = OPTIONS.sci_mode
        if self.scientific:
            spec, extra = f".{OPTIONS.precision}e", 0
        elif self.is_integral:
            spec, extra = ".0f", 1  # one more column for the decimal point, as in "2."
        else:
            spec, extra = f".{OPTIONS.precision}f", 0
        self.width = max(len(format(v, spec)) + extra for v in _numbers(finite))

    def format_value(self, value: float) -> str:
        if self.scientific:
            formatted = format(value, f".{OPTIONS.precision}e")
        elif self.is_integral:
            formatted = format(value, ".0f") + ("." if math.isfinite(value) else "")
        else:
            formatted = format(value, f".{OPTIONS.precision}f")
        return formatted.rjust(self.width)


class _ComplexFormat:
    """Format of complex numbers, with separate formats for the real and imaginary parts."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.real, self.imag = _FloatFormat(values.real), _FloatFormat(values.imag)
        self.width = self.real.width + self.imag.width + 1

    def format_value(self, value: complex) -> str:
        imag = f"{self.imag.format_value(value.imag)}j".lstrip()
        return self.real.format_value(value.real) + ("" if imag[0] in "+-" else "+") + imag


_Format = _IntegerFormat | _FloatFormat | _ComplexFormat


def _format_of(values: NDArray[Any], zero: float) -> _Format:
    if values.dtype.kind in "iub":
        return _IntegerFormat(values)
    return _ComplexFormat(values) if values.dtype.kind == "c" else _FloatFormat(values, zero)


def _edges(values: NDArray[Any]) -> NDArray[Any]:
    """Return the `edgeitems` elements at both ends of each dimension, which a summary shows."""
    n = OPTIONS.edgeitems
    for axis, length in enumerate(values.shape):
        if length > 2 * n:
            indices = [*range(n), *range(length - n, length)]
            values = values.take(indices, axis)
    return values


def _vector(values: NDArray[Any], indent: int, number_format: _Format, summarize: bool) -> str:
    per_line = max(1, (OPTIONS.linewidth - indent) // (number_format.width + 2))
    n = OPTIONS.edgeitems
    if summarize and not n:
        items = ["..."]
    elif summarize and len(values) > 2 * n:
        items = [
            *map(number_format.format_value, values[:n].tolist()),
            " ...",
            *map(number_format.format_value, values[len(values) - n :].tolist()),
        ]
    else:
        items = [number_format.format_value(v) for v in _numbers(values)]
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(values: NDArray[Any], indent: int, number_format: _Format, summarize: bool) -> str:
    if values.ndim == 0:
        return number_format.format_value(values.item())
    if values.ndim == 1:
        return _vector(values, indent, number_format, summarize)
    n = OPTIONS.edgeitems
    rows = list(range(len(values)))
    if summarize and len(rows) > 2 * n:
        lines = [
            _nested(values[i], indent + 1, number_format, summarize)
            for i in (*rows[:n], *rows[len(rows) - n :])
        ]
        lines.insert(n, "...")
    else:
        lines = [_nested(values[i], indent + 1, number_format, summarize) for i in rows]
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(lines) + "]"


def elements_text(x: Tensor, indent: int = 0) -> str:
    """Return the text of the elements in nested brackets, without `tensor(...)`."""
    layer = layer_of(x)
    dispatches = layer is not None and layer.dispatches
    values = elements_of_subclass(x) if dispatches else x.detach().cpu().array
    if values.size == 0:
        return "[]"
    if x.dtype.is_narrow:
        from ts._core.tensor import narrow_casts

        values = narrow_casts.numbers(values)
    elif x.dtype.compute is not x.dtype:
        values = values.astype(x.dtype.compute.numpy_dtype)
    summarize = values.size > OPTIONS.threshold
    # Zeros do not influence the format. For unsigned floats, which cannot represent zero, the smallest number
    # is ignored instead.
    zero = dtypes.finfo(x.dtype).tiny if x.dtype.is_floating_point and not x.dtype.is_signed else 0.0
    number_format = _format_of(_edges(values) if summarize else values, zero)
    return _nested(values, indent, number_format, summarize)


def elements_of_subclass(x: Tensor) -> Any:
    """Return the elements of a tensor whose class defines `__torch_dispatch__` as a NumPy array."""
    with GradMode(False):
        flat: Any = operator("reshape")(x, [-1])
    layer = layer_of(flat)
    if layer is not None and layer.dispatches and x.is_floating_point():
        raise TypeError(f"unsupported format string passed to {type(flat).__name__}.__format__")
    if (layer is not None and layer.dispatches) or x.ndim < 2:
        raise RuntimeError(f".tolist() is not supported for tensor subclasses, got {type(x).__name__}")
    return flat.cpu().array.reshape(x.shape)


def is_derived(x: Tensor) -> bool:
    """Return whether the class of `x` is defined outside of `ts`."""
    return not is_own(type(x).__module__)


def tensor_text(x: Tensor) -> str:
    """Return the text of `repr(x)`, such as "tensor([1., 2.], requires_grad=True)"."""
    layer = layer_of(x)
    describe = None if layer is None else getattr(layer, "describe", None)
    if describe is not None and (rendered := describe()):
        return str(rendered)
    default = dtypes.get_default_dtype()
    expected = {default, dtypes.int64, dtypes.bool_}
    if default in dtypes.TO_COMPLEX:
        expected.add(default.to_complex())
    prefix = f"{type(x).__name__}(" if is_derived(x) else "tensor("
    if x.layout is not dtypes.strided:
        return _sparse_text(x, prefix, default)
    suffixes: list[str] = []
    if x.device.type != "cpu":
        suffixes.append(f"device='{x.device}'")
    if x.is_meta or x.numel() == 0:
        body = "..." if x.is_meta else "[]"
        if x.is_meta or x.ndim != 1:
            suffixes.append(f"size={tuple(x.shape)}")
        expected = {default}
    else:
        body = elements_text(x, len(prefix))
        if OPTIONS.edgeitems == 0 and x.numel() > OPTIONS.threshold:
            suffixes.append(f"size={tuple(x.shape)}")
    if x.dtype not in expected:
        suffixes.append(f"dtype={x.dtype}")
    suffixes.extend(_autograd_suffix(x))
    rendered = with_suffixes(prefix + body, suffixes, len(prefix))
    return f"Parameter({rendered})" if is_derived(x) and getattr(x, "_is_param", False) else rendered


def _autograd_suffix(x: Tensor) -> list[str]:
    """Return the texts about the gradient and the tangent of `x`."""
    layer = layer_of(x)
    suffixes = layer.suffixes(x) if layer is not None and hasattr(layer, "suffixes") else []
    try:
        node = x.grad_fn
    except RuntimeError:  # a view that cannot be used after a write to its base
        return ["grad_fn=<Invalid>", *suffixes]
    if node is not None:
        return [f"grad_fn=<{node.name()}>", *suffixes]
    return ["requires_grad=True", *suffixes] if x.requires_grad else suffixes


_PARTS: Final = {  # sparse layout -> names of the methods that return its index tensors
    dtypes.sparse_csr: ("crow_indices", "col_indices"),
    dtypes.sparse_csc: ("ccol_indices", "row_indices"),
}


def _component_text(name: str, component: Tensor, indent: int) -> str:
    """Return the text of one component of a sparse tensor, such as `indices=tensor([[0, 1]])`."""
    body = elements_text(component, indent + len(name) + 8)
    size = f", size={tuple(component.shape)}" if component.numel() == 0 else ""
    return f"{name}=tensor({body}{size})"


def _sparse_text(x: Tensor, prefix: str, default: dtypes.dtype) -> str:
    plain = x.detach()
    suffixes = [f"size={tuple(x.shape)}", f"nnz={plain._nnz()}"]
    if x.dtype not in {default, dtypes.int64, dtypes.bool_}:
        suffixes.append(f"dtype={x.dtype}")
    suffixes.append(f"layout={x.layout}")
    names = _PARTS.get(x.layout, ())
    indices = [(name, getattr(plain, name)()) for name in names] or [("indices", plain._indices())]
    values = plain.values() if names else plain._values()
    components = [*indices, ("values", values)]
    indent = len(prefix)
    rendered = prefix + (",\n" + " " * indent).join(
        [_component_text(name, component, indent) for name, component in components]
    )
    suffixes.extend(_autograd_suffix(x))
    return with_suffixes(rendered, suffixes, indent, first_on_new_line=not names)


def with_suffixes(rendered: str, suffixes: list[str], indent: int, *, first_on_new_line: bool = False) -> str:
    """Append the suffixes, separated by commas.

    A suffix that does not fit into the line begins a new line.
    """
    used = len(rendered) - rendered.rfind("\n") + 1
    pieces = [rendered]
    for suffix in suffixes:
        if first_on_new_line or used + len(suffix) + 2 > OPTIONS.linewidth:
            pieces.append(",\n" + " " * indent + suffix)
            used = indent + len(suffix)
            first_on_new_line = False
        else:
            pieces.append(", " + suffix)
            used += len(suffix) + 2
    return "".join(pieces) + ")"
