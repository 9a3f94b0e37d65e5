"""Unusual tensors, arrays and values that the fuzz tests substitute for arguments.

    tensors(ts.float32)     [tensor([1., 1., 1.]), ...]      in all memory layouts
    arrays()                reversed, unaligned, read-only, byte-swapped, of objects, of other libraries
    values()                of other types: surrogates, numbers beyond 64 bits, self-referential containers
"""

from __future__ import annotations

import enum
from typing import Any

import ml_dtypes
import numpy as np

import ts
from ts._core.tensor.tensor import wrap_array


class Color(enum.Enum):
    RED = 1


@ts.jit.script
def doubled(x: ts.Tensor, n: int) -> ts.Tensor:
    return x * n


def tensors(dtype: ts.dtype) -> list[ts.Tensor]:
    """Return tensors of a dtype with unusual memory layouts."""
    many_dims = ts.ones([1] * 63 + [2], dtype=dtype)
    resized, emptied = ts.ones(4, dtype=dtype), ts.ones(4, dtype=dtype)
    view = emptied[1:3]
    resized.resize_(0)
    emptied.resize_(9)
    numbers = ts.ones(2, 3, dtype=dtype).numpy() if dtype != ts.bfloat16 else np.ones((2, 3), ml_dtypes.bfloat16)
    unaligned = np.frombuffer(bytes(numbers.itemsize * 6 + 1), np.uint8)[1:].view(numbers.dtype)
    return [
        ts.ones((), dtype=dtype), ts.ones(3, dtype=dtype), many_dims, many_dims.transpose(0, 63), many_dims.squeeze(),
        ts.ones(0, 1 << 40, dtype=dtype), ts.ones(1 << 31, 0, 3, dtype=dtype), ts.ones([0] * 64, dtype=dtype),
        ts.ones(3, 2, dtype=dtype).t(), ts.ones(2, 3, 4, dtype=dtype).permute(2, 0, 1)[::2], ts.ones(8, dtype=dtype)[1::3],
        ts.ones(3, 1, dtype=dtype).expand(3, 4), ts.ones((), dtype=dtype).expand(2, 0, 3), ts.ones(8, dtype=dtype).as_strided([3, 3], [1, 1]),
        ts.ones(4, dtype=dtype).as_strided([2, 2], [0, 0]), ts.ones(3, dtype=dtype).flip(0), ts.ones(2, dtype=dtype, device="meta"),
        wrap_array(numbers[::-1, ::-2]), wrap_array(unaligned), wrap_array(numbers.T), resized, emptied, view,
        ts.Tensor.__new__(ts.Tensor),
    ]  # fmt: skip


def mixed() -> list[ts.Tensor]:
    """Return tensors of all dtypes, including expanded tensors larger than the memory."""
    return [
        *tensors(ts.float32), ts.ones(1, 3, 4, 4), ts.ones(1).expand(1 << 40), ts.ones(1, dtype=ts.uint8).expand(1 << 31, 1 << 31),
        ts.arange(5), ts.tensor([1 << 62, -1 << 63]), ts.ones(3, dtype=ts.bool), ts.ones(2, dtype=ts.complex64), ts.ones(2, dtype=ts.bfloat16),
        ts.ones(2, dtype=ts.float16), ts.ones(2, dtype=ts.float64), ts.ones(1, 2, 3, dtype=ts.uint8), ts.ones(2, dtype=ts.uint64),
        ts.tensor([float("nan"), float("inf")]), ts.nn.Parameter(ts.ones(2)),
    ]  # fmt: skip


def arrays() -> list[np.ndarray[Any, Any]]:
    """Return arrays with unusual memory layouts."""
    unaligned = np.frombuffer(bytes(25), np.uint8)[1:].view(np.float32)
    fixed = np.ones(3, np.float32)
    fixed.flags.writeable = False
    repeated = np.lib.stride_tricks.as_strided(np.ones(5, np.float32), (3, 3), (4, 4))
    return [
        np.ones(3, np.float32), np.ones((2, 3), np.float32), np.ones((1, 3, 4, 4), np.float32), np.float32(1).reshape(()),
        np.ones(6, np.float32)[::-1], np.ones((4, 4), np.float32)[::-2, ::-1], np.ones((4, 3), np.float32).T, unaligned, fixed, repeated,
        np.ones(2, ">f4"), np.ones(2, ">i8"), np.array([None, 1]), np.array(["a", "bc"]), np.ones(0, np.float32), np.ones((0, 1 << 40), np.int64),
        np.arange(4), np.array([1 << 62, -1]), np.ones(2, np.complex64), np.ones([1] * 63 + [2], np.float32), np.ones(2, bool),
        np.broadcast_to(np.float32(1), (1 << 20, 1 << 20)), np.ones((1, 1, 2, 2)), np.arange(6, dtype=np.uint8), np.ones(2, ml_dtypes.bfloat16),
        np.ones(2, ml_dtypes.float8_e4m3fn), np.ones(2, np.longdouble), np.array(["2020"], "M8[D]"), np.zeros(2, [("a", "f4"), ("b", "O")]),
        np.ma.masked_array([1.0, 2.0], [True, False]), np.array([np.nan, np.inf]),
    ]  # fmt: skip


def values() -> list[Any]:
    """Return values of types that no signature accepts."""
    itself: list[Any] = []
    itself.append(itself)
    among: dict[Any, Any] = {}
    among["self"] = among
    return [
        None, b"bytes", bytearray(9), memoryview(b"12"), 2j, 1 << 70, -1 << 200, "\ud800", "\0", Color.RED, object(), len, iter([1]), {1, 2},
        ts.device("cpu"), range(3), range(1 << 62), doubled, ts, ..., NotImplemented, slice(None, 1 << 70), itself, among, (itself,),
        float("nan"), np.float32(1), np.int64(-1), np.str_("a"), ts.float32, ts.strided, Exception("x"), type, ts.Tensor, lambda *x: x,
    ]  # fmt: skip


def with_unusual_strides(x: ts.Tensor) -> list[ts.Tensor]:
    """Return tensors with equal elements and shape but unusual strides, and slices of the tensor."""
    array = x.contiguous().array
    raw = np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)
    gaps = np.zeros([2 * n for n in array.shape], array.dtype)[(..., *[slice(None, None, 2)] * array.ndim)]
    gaps[...] = array
    resized = ts.zeros(array.size + 7, dtype=x.dtype)
    resized.resize_(array.shape).copy_(x)
    found = [
        wrap_array(np.flip(np.flip(array).copy())), wrap_array(raw), wrap_array(gaps), wrap_array(array.T.copy().T),
        wrap_array(array.T.copy()[..., None].T[0]), resized, x.to("meta"), ts.Tensor.__new__(ts.Tensor).to(x.dtype),
    ]  # fmt: skip
    if array.size and array.ndim:
        strides = [0] * array.ndim
        found += [wrap_array(np.lib.stride_tricks.as_strided(array, array.shape, strides)), x[:1].expand(x.shape), x[:0], x.flatten()[0]]
        found.append(wrap_array(np.lib.stride_tricks.as_strided(np.resize(array, sum(array.shape)), array.shape, [x.element_size()] * array.ndim)))
    return found
