"""Checks for dtypes that PyTorch's kernels do not support, although the array library does.

In: the `dtype_errors` field of a record, and a kernel. Out: the kernel, preceded by a check of the first
tensor's dtype:

    guarded({"b": "addmm_impl_cpu_"}, kernel)(np, a, b)
    NotImplementedError: "addmm_impl_cpu_" not implemented for 'Bool'

The letters for dtype kinds are b (bool), i (integers), h (16-bit floats), n (narrow floats, which
`narrow_floats` rejects for most operators), f (other floats) and c (complex). A message of one word is the
name of PyTorch's kernel. A message of several words is the error text, in which `{dtype}` is replaced by the
dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from ts import dtypes
from ts.ops import common

Kernel = Callable[..., Any]

# Error texts that records use after the name of the operator, as in "linalg.inv: Low precision ...".
LOW_PRECISION: Final = "Low precision dtypes not supported. Got {dtype}"
INEXACT: Final = "Expected a floating point or complex tensor as input. Got {dtype}"

_KIND: Final[dict[common.DType, str]] = {}


def _enter_dtype(d: dtypes.dtype, numpy_dtype: common.DType) -> None:
    letters = {dtypes.UPCAST: "bihc", dtypes.NARROW: "binc"}.get(d.kernel_set, "bifc")
    _KIND[numpy_dtype] = letters[d.category]


dtypes.for_each_dtype(_enter_dtype)


class NotImplementedMessage(str):
    """Error text that is raised as NotImplementedError. Other error texts are raised as RuntimeError."""


def with_dtype_check(dtype_errors: Mapping[str, str] | None, kernel: Kernel) -> Kernel:
    """Return the kernel with a check that raises errors for unsupported dtype kinds."""
    if not dtype_errors:
        return kernel
    messages = by_kind(dtype_errors)

    def checked(xp: Any, *args: Any) -> Any:
        check(messages, _first_dtype(args))
        return kernel(xp, *args)

    return checked


def by_kind(dtype_errors: Mapping[str, str]) -> dict[str, str]:
    """Return a dict from each single dtype kind to its message.

    A key of the argument may list several kinds.
    """
    return {kind: message for kinds, message in dtype_errors.items() for kind in kinds}


def check(messages: Mapping[str, str], dtype: common.DType | None) -> None:
    """Raise the error for the kind of `dtype`, if `messages` contains this kind."""
    if dtype is not None and (message := messages.get(_KIND.get(dtype, ""))):
        _raise_dtype_error(message, dtype)


def _first_dtype(args: Sequence[Any]) -> Any:
    for x in args:
        if type(x) is list and x:
            x = x[0]
        dtype = getattr(x, "dtype", None)
        if dtype is not None:
            return dtype
    return None


def _raise_dtype_error(message: str, dtype: common.DType) -> NoReturn:
    if " " not in message:
        common.raise_unsupported_dtype(message, dtype)
    formatted = message.format(dtype=common.NAME_OF[dtype])
    raise (NotImplementedError if isinstance(message, NotImplementedMessage) else RuntimeError)(formatted)
