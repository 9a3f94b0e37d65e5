"""Checks for dtypes that PyTorch's kernels do not support, although the array library does.

`with_dtype_check(record, kernel)` returns a kernel that first checks dtypes. The record field `dtype_errors`
maps letters for dtype kinds to messages. The letters are b (bool), i (integers), h (16-bit floats), n (narrow
floats), f (other floats) and c (complex).

A message of one word is the name of PyTorch's kernel, which occurs in the error:

    NotImplementedError: "addmm_impl_cpu_" not implemented for 'Bool'

A longer message is the error text, in which `{dtype}` stands for the dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from ts import dtypes
from ts._core.dispatch.signature import signature
from ts.ops import common
from ts.ops.out_variants import SCALAR

Kernel = Callable[..., Any]

# Error texts that follow the name of an operator, as in "linalg.inv: Low precision ...".
LOW_PRECISION: Final = "Low precision dtypes not supported. Got {dtype}"
INEXACT: Final = "Expected a floating point or complex tensor as input. Got {dtype}"

PROMOTED: Final = "promoted"
FOUND_DTYPE: Final = "Found dtype {got} but expected {want}"

_KIND: Final[dict[common.DType, str]] = {}


def _enter_dtype(d: dtypes.dtype, numpy_dtype: common.DType) -> None:
    letters = {dtypes.UPCAST: "bihc", dtypes.NARROW: "binc"}.get(d.kernel_set, "bifc")
    _KIND[numpy_dtype] = letters[d.category]


dtypes.for_each_dtype(_enter_dtype)


class NotImplementedMessage(str):
    """Error text that is raised as NotImplementedError. Other error texts are raised as RuntimeError."""


def with_dtype_check(record: Any, kernel: Kernel) -> Kernel:
    """Return a kernel that raises errors for unsupported dtypes and mixed dtypes, then calls `kernel`."""
    if not record.dtype_errors and not record.checked_dtype:
        return kernel
    messages = by_kind(record.dtype_errors or {})
    if record.checked_dtype:
        check_all = _check_of_several(record, messages)
    else:
        check_all = lambda args: check(messages, _first_dtype(args))  # noqa: E731

    def checked(xp: Any, *args: Any) -> Any:
        check_all(args)
        return kernel(xp, *args)

    return checked


def _check_of_several(record: Any, messages: Mapping[str, str]) -> Callable[[Sequence[Any]], None]:
    """Return the check of the arguments that `checked_dtype` names."""
    names = record.checked_dtype.removeprefix(PROMOTED).split()
    parameters = [parameter.name for parameter in signature(record.schema_text).parameters]
    positions = [parameters.index(name) for name in names if ":" not in name]
    fixed = [
        (parameters.index(name), allowed.split("|"))
        for name, _, allowed in (n.partition(":") for n in names)
        if allowed
    ]
    promotes, template = record.checked_dtype.startswith(PROMOTED), record.mixed_dtypes_error

    def check_all(args: Sequence[Any]) -> None:
        dtypes = [args[i].dtype for i in positions if i < len(args) and args[i] is not None]
        if promotes:
            dtype = common.result_type(*(x for x in args if hasattr(x, "dtype")))
            for result in dtypes:
                common.check_cast(dtype, result)
            return check(messages, dtype)
        # For operators whose text is `SCALAR`, PyTorch first selects a kernel by the first dtype, and then
        # detects mixed dtypes.
        if template == SCALAR:
            check(messages, dtypes[0])
        for other in dtypes:
            if other != dtypes[0]:
                raise RuntimeError(common.dtype_message(template, dtypes[0], other))
        check(messages, dtypes[0])
        for i, expected in fixed:
            if common.NAME_OF[args[i].dtype] not in expected:
                raise RuntimeError(SCALAR.format(want=expected[0], got=common.NAME_OF[args[i].dtype]))

    return check_all


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
