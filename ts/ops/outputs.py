"""How results get into tensors that are given: in place, and as `out=`.

In: a target and a result; out: the target with the result in it, cast to a higher category at most; where a
shape differs, another array for the tensor to take over.  Some operators refuse an `out=` whose dtype is not
the result's.  What they say is a fact of theirs (`Record.out_refused`), with places for both dtypes:

    write_out(np, np.zeros(2), np.array([1, 2]))                array([1., 2.])
    write_out(np, np.zeros(2), np.array([1, 2]), EXPECTED)      RuntimeError: Expected out tensor to have ...
"""

from __future__ import annotations

import warnings
from typing import Any, Final

from ts._core.tensor import storage, strides
from ts.ops import rules

# The two texts that many operators share.
EXPECTED: Final = "Expected out tensor to have dtype {want_cpp}, but got {got_cpp} instead"
FOUND: Final = "Found dtype {got} but expected {want}"


def write(xp: Any, target: Any, result: Any) -> Any:
    """Copy `result` into `target` where the in-place rules allow it."""
    result = xp.asarray(result)
    rules.check_cast(result.dtype, target.dtype)
    if result.shape != target.shape:
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )
    target[...] = rules.cast(xp, result, target.dtype)
    return target


def write_out(xp: Any, target: Any, result: Any, refused: str = "") -> Any:
    """Copy `result` into `target`; a new array, for the tensor to take over, when the shape differs.

    Where `refused` is a message, `target` must have the result's own dtype.
    """
    result = xp.asarray(result)
    if refused and target.dtype != result.dtype:
        raise RuntimeError(rules.dtype_message(refused, result.dtype, target.dtype))
    rules.check_cast(result.dtype, target.dtype)
    if result.shape != target.shape:
        target = resized_output(target, result)
    target[...] = rules.cast(xp, result, target.dtype)
    return target


def resized_output(target: Any, result: Any) -> Any:
    """An output with the shape and order of what it is to take; with a warning if it has elements already."""
    shape = tuple(result.shape)
    order = strides.preserved(shape, [step // result.dtype.itemsize for step in result.strides])
    if target.size:
        warnings.warn(
            f"An output with one or more elements was resized since it had shape {list(target.shape)}, "
            "which does "
            f"not match the required output shape {list(shape)}. This behavior is deprecated, and in a "
            "future "
            "PyTorch release outputs will not be resized unless they have zero elements. You can "
            "explicitly reuse "
            "an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            stacklevel=2,
        )
    item = target.dtype.itemsize
    return storage.resized(target, shape, [step * item for step in order])
