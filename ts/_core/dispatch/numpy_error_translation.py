"""Exception translation (error translation) of NumPy errors to PyTorch's exception classes and messages.

Input: the exception that a kernel raised, and the operator's name. Output: the exception to raise instead. If
a `raise` statement of the kernel raised the exception, the output is None.

Kernels check most arguments before they call NumPy, and the translation covers the other cases. In this
example, the second line replaces the first:

    ValueError: operands could not be broadcast together with shapes (3,2) (3,)
    RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1
"""

from __future__ import annotations

import dis
import math
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ts.errors import LinAlgError

Reword = Callable[[re.Match[str], str], Exception]


def reworded(error: Exception, operator: str) -> Exception | None:
    """Return PyTorch's exception for an error raised by NumPy, or None for an error raised by a kernel.

    An error of NumPy or Python that matches no pattern becomes a RuntimeError with the operator's name.
    """
    message = str(error)
    for pattern, reword in _WORDINGS:
        match = re.search(pattern, message)
        if match is not None:
            return reword(match, operator)
    if isinstance(error, MemoryError) or _has_raise_statement(error):
        return None
    detail = f"KeyError: {message}" if isinstance(error, KeyError) else message
    return RuntimeError(f"{operator.removeprefix('aten::')}(): the arguments are incompatible: {detail}")


_RAISING: Final = {dis.opmap[name] for name in ("RAISE_VARARGS", "RERAISE")}


def _has_raise_statement(error: Exception) -> bool:
    """Return whether the error comes from a `raise` statement of a kernel, not from NumPy or an operation."""
    trace = error.__traceback__
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        return False
    if not code.co_filename.endswith(".py"):  # an error of an extension module counts as raised by the kernel
        return True
    return code.co_code[trace.tb_lasti] in _RAISING


_LIBRARIES: Final = ("numpy", "scipy")


def _shape(literal: str) -> list[int]:
    return [int(n) for n in re.findall(r"-?\d+", literal)]


def _not_broadcast(match: re.Match[str], operator: str) -> Exception:
    shapes = [_shape(literal) for literal in re.findall(r"\(([\d, ]*)\)", match[1])]
    first = shapes[0] if shapes else []
    for shape in shapes[1:]:
        for i in range(1, min(len(first), len(shape)) + 1):
            if first[-i] != shape[-i] and 1 not in (first[-i], shape[-i]):
                dim = max(len(first), len(shape)) - i
                return RuntimeError(
                    f"The size of tensor a ({first[-i]}) must match the size of tensor b ({shape[-i]}) "
                    f"at non-singleton dimension {dim}"
                )
        longer, shorter = (first, shape) if len(first) >= len(shape) else (shape, first)
        first = [max(n, m) for n, m in zip(longer, [1] * (len(longer) - len(shorter)) + shorter, strict=True)]
    return RuntimeError(f"{operator}: the shapes {', '.join(map(str, shapes))} do not broadcast together")


def _batches_not_broadcast(match: re.Match[str], operator: str) -> Exception:
    """Return PyTorch's error for a batched matrix product, as NumPy's message names only whole shapes."""
    pairs = re.findall(r"\(([\d,]*)\)->\(([\d,newaxis]*)\)", match[1])
    batches = ["(" + ",".join(n for n in remapped.split(",") if n.isdigit()) + ")" for _, remapped in pairs]
    found_in = re.match(r"(.*)", " ".join(batches))
    assert found_in is not None
    return _not_broadcast(found_in, operator)


def _not_assignable(match: re.Match[str], operator: str) -> Exception:
    source, target = _shape(match[1]), _shape(match[2])
    for i in range(1, min(len(source), len(target)) + 1):
        if source[-i] not in (1, target[-i]):
            return RuntimeError(
                f"The expanded size of the tensor ({target[-i]}) must match the existing size ({source[-i]}) "
                f"at non-singleton dimension {len(target) - i}.  Target sizes: {target}.  "
                f"Tensor sizes: {source}"
            )
    return RuntimeError(
        f"expand: the number of sizes provided ({len(target)}) must be greater or equal to the number of "
        f"dimensions in the tensor ({len(source)})"
    )


def _not_converged(match: re.Match[str], operator: str) -> Exception:
    name, what = {"SVD": ("svd", "singular")}.get(match[1], ("eigh", "eigen"))
    return LinAlgError(
        f"linalg.{name}: The algorithm failed to converge because the input matrix is ill-conditioned or has "
        f"too many repeated {what}{' ' if what == 'singular' else ''}values (error code: 1)."
    )


def _axis(match: re.Match[str], operator: str) -> Exception:
    n = max(int(match[2]), 1)
    return IndexError(
        f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {match[1]})"
    )


def _no_memory(match: re.Match[str], operator: str) -> Exception:
    sizes = _shape(match[1])
    return RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: "
        f"you tried to allocate {math.prod(sizes) * _itemsize(match[2])} bytes. "
        "Error code 12 (Cannot allocate memory)"
    )


def _itemsize(dtype: str) -> int:
    try:
        return np.dtype(dtype).itemsize
    except TypeError:  # the only dtype name that NumPy does not know is bfloat16
        return 2


def _fixed(cls: type[Exception], template: str) -> Reword:
    def reword(match: re.Match[str], operator: str) -> Exception:
        fields: dict[str, Any] = {"op": operator.removeprefix("aten::")}
        return cls(template.format(*match.groups(), **fields))

    return reword


# The patterns are compiled when the first error is translated.
_WORDINGS: tuple[tuple[str, Reword], ...] = (
    (r"^operands could not be broadcast together with shapes? (.*)$", _not_broadcast),
    (r"^operands could not be broadcast together with remapped shapes.*?: (.*?)(?: and requested shape .*)?$",
     _batches_not_broadcast),
    (r"mismatch in its core dimension \d+, with gufunc signature .*\(size (\d+) is different from (\d+)\)",
     _fixed(RuntimeError, "{op}: sizes of the matrices do not match: {0} is different from {1}")),
    (r"does not have enough dimensions \(has (\d+), gufunc core with signature .* requires (\d+)\)",
     _fixed(RuntimeError, "{op}: expected a tensor of at least {1} dimensions, but got {0}")),
    (r"^shape mismatch: objects cannot be broadcast to a single shape.*?(\(.*)$", _not_broadcast),
    (r"^could not broadcast input array from shape (\(.*?\)) into shape (\(.*?\))", _not_assignable),
    (r"^shape mismatch: value array of shape (\(.*?\)) could not be broadcast to .*?of shape (\(.*?\))",
     _not_assignable),
    (r"^axis (-?\d+) is out of bounds for array of dimension (\d+)", _axis),
    (r"^Unable to allocate .*? for an array with shape (\(.*?\)) and data type (\w+)", _no_memory),
    (r"^(?:Python int too large to convert to C|signed integer is (?:greater|less) than m|"
     r"int too (?:large|big) to convert)",
     _fixed(RuntimeError, "{op}: a size or offset calculation overflowed 64 bits")),
    (r"^shape mismatch: indexing arrays could not be broadcast together with shapes (.*)$",
     _fixed(IndexError,
            "shape mismatch: indexing tensors could not be broadcast together with shapes {0}")),
    (r"^index (-?\d+) is out of bounds for axis (\d+) with size (\d+)",
     _fixed(IndexError, "index {0} is out of bounds for dimension {1} with size {2}")),
    (r"^(?:arrays used as indices must be of integer|`indices` must be an integer array)",
     _fixed(RuntimeError, "{op}(): Expected dtype int32 or int64 for index")),
    (r"^(?:number of dimensions must be within|maximum supported dimension)",
     _fixed(RuntimeError, "only tensors with up to 64 dims are supported")),
    (r"^(Eigenvalues|SVD) did not converge", _not_converged),
    (r"^negative dimensions are not allowed",
     _fixed(RuntimeError, "Trying to create tensor with negative dimension in {op}")),
    (r"^(?:array is too big|Maximum allowed (?:dimension|size) exceeded)",
     _fixed(RuntimeError, "Storage size calculation overflowed in {op}")),
    (r"^cannot reshape array of size (\d+) into shape \((.*?),?\)$",
     _fixed(RuntimeError, "shape '[{1}]' is invalid for input of size {0}")),
    (r"^ufunc '(\w+)' not supported for the input types",
     _fixed(NotImplementedError, '"{op}_cpu" not implemented for the types of these tensors')),
    (r"^(?:cannot convert float (?:NaN|infinity) to integer)",
     _fixed(RuntimeError, "value cannot be converted to type int64_t without overflow")),
    (r"^Singular matrix",
     _fixed(RuntimeError,
            "{op}: The inversion could not be completed because the input matrix is singular.")),
    (r"^zero-size array to reduction operation (\w+) which has no identity",
     _fixed(IndexError, "{op}(): Expected reduction dim to be specified for input.numel() == 0. "
                        "Specify the reduction dim with the 'dim' argument.")),
)  # fmt: skip
