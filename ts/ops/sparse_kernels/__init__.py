"""Kernels of operators for sparse operands.

Input: the operator's dense kernel, the array namespace, and the arguments of the schema. Sparse tensors are
passed and returned as `CooArray` or `CompressedArray`, and dense tensors as NumPy arrays.

A record names its kernel by module and function, for example `sparse="elementwise.add"`. `sparse_kernel_of`
returns the kernel, also for in-place and `out=` variants. If the record has no such name, a call raises
PyTorch's NotImplementedError.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from ts import backends
from ts.backends.sparse import SparseArray
from ts.ops import common

backends.get("sparse")  # registers the sparse backend, which creates tensors for sparse arrays
Kernel = Callable[..., Any]


def sparse_kernel_of(record: Any) -> Kernel:
    """Return the sparse kernel of a record.

    Without one, return a function that raises NotImplementedError.
    """
    return partial(_run, record.key, _kernel_of(record))


def _run(key: str, kernel: Kernel, xp: Any, *args: Any) -> Any:
    """Call a kernel. Raise NotImplementedError for operands of an unsupported layout."""
    try:
        return kernel(xp, *args)
    except AttributeError as error:
        if isinstance(error.obj, (np.ndarray, SparseArray)):
            _raise_not_available(key, xp, *args)
        raise


def _kernel_of(record: Any) -> Kernel:
    kernel_name = record.sparse
    if kernel_name:
        return partial(_find(kernel_name), record.kernel)
    base = record.base
    if base is None or not base.sparse:
        return partial(_raise_not_available, record.key)
    kernel = partial(_find(base.sparse), base.kernel)
    if record.variant == "out":
        return partial(_into_outputs, kernel, record.out_spec)
    return partial(_in_place, kernel)


def _find(name: str) -> Kernel:
    module, _, function = name.partition(".")
    kernel: Kernel = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    return kernel


def not_available(key: str, dispatch_key: str) -> NotImplementedError:
    """Return PyTorch's error for operator `key` without a kernel for `dispatch_key`."""
    return NotImplementedError(
        f"Could not run '{key}' with arguments from the '{dispatch_key}' backend. This could be because "
        "the operator doesn't exist for this backend, or was omitted during the selective/custom build "
        "process (if using custom build). If you are a Facebook employee using PyTorch on mobile, please "
        f"visit https://fburl.com/ptmfixes for possible resolutions. '{key}' is only available for these "
        "backends: [CPU, Meta]. Use `Tensor.to_dense()` first where the tensor is small enough."
    )


def _raise_not_available(key: str, xp: Any, *args: Any) -> NoReturn:
    for x in args:
        for y in x if isinstance(x, list) else (x,):
            if isinstance(y, SparseArray):
                raise not_available(key, y.dispatch_key)
    raise not_available(key, "SparseCPU")


def _in_place(kernel: Kernel, xp: Any, self: Any, *args: Any) -> Any:
    """Run an in-place variant: compute the result by the functional `kernel`, and store it in `self`.

    If `self` is sparse, the sparse result replaces its array. If `self` is dense, the dense result is copied
    into its array.
    """
    return _write_result(xp, self, kernel(xp, self, *args))


def _write_result(xp: Any, target: Any, result: Any) -> Any:
    common.check_cast(result.dtype, target.dtype)
    if isinstance(target, SparseArray) != isinstance(result, SparseArray):
        raise RuntimeError(
            f"a result of layout {_layout(result)} cannot be written to a tensor of layout {_layout(target)}"
        )
    if isinstance(target, SparseArray):
        return result if result.dtype == target.dtype else result.with_values(
            common.cast(xp, result.values, target.dtype)
        )  # fmt: skip
    if result.shape != target.shape:
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )
    target[...] = common.cast(xp, result, target.dtype)
    return target


def _layout(x: Any) -> str:
    return str(x.layout) if isinstance(x, SparseArray) else "torch.strided"


def _into_outputs(kernel: Kernel, out_spec: Any, xp: Any, *args: Any) -> Any:
    inputs, outputs = list(args[: -out_spec.outputs]), args[-out_spec.outputs :]
    if out_spec.options_at >= 0:
        inputs[out_spec.options_at : out_spec.options_at] = common.CODE_OF[outputs[0].dtype], None, None, None
    result = kernel(xp, *inputs)
    results = result if isinstance(result, tuple) else (result,)
    written = []
    for target, one in zip(outputs, results, strict=True):
        if (
            not isinstance(target, SparseArray)
            and not isinstance(one, SparseArray)
            and target.shape != one.shape
        ):
            target = np.empty(one.shape, target.dtype)
        written.append(_write_result(xp, target, one))
    return written[0] if len(written) == 1 else tuple(written)
