"""Operators called with random invalid arguments, several at once, within `ts.limits`.

Input: a range of seeds; output: a line for each call with a problem.

    python -m tests.fuzz.random_calls 0 200          problems of the calls of seeds 0 to 199

Tensors are empty, 0-dimensional, 8-dimensional, expanded with stride 0 beyond any memory size, overlapping, of
any dtype, filled with NaN, infinities and extreme integers.  Numbers, lists and strings are extreme, too.  Half
of the calls are a record's sample arguments with one to three replaced.  An operator may return or raise one of
PyTorch's error classes.  It must not end the process, exceed SECONDS or LIMIT_BYTES of memory, or raise
unintended errors of NumPy or Python.
"""

from __future__ import annotations

import linecache
import random
import sys
import warnings
from typing import Any

import numpy as np

import ts
from tests import samples
from tests.fuzz import subprocess_watchdog
from tests.fuzz.extreme_arguments import EXCLUDED
from ts._core.tensor.tensor import wrap_array
from ts.errors import InternalError
from ts.ops import registry

SECONDS = 4  # time limit of a call
LIMIT_BYTES = 500_000_000
SLACK_BYTES = 100_000_000  # allowance for Python, NumPy and the allocator in addition to counted memory
CALLS_PER_SEED = 200
REJECTION_ERRORS = (RuntimeError, TypeError, ValueError, IndexError)
INTEGERS = (0, 0, 1, 1, 2, 3, 4, 5, 8, -1, -1, -2, -3, 7, 16, 63, 64, 1000, 1 << 20, 1 << 31, (1 << 63) - 1, -(1 << 63), -(1 << 31))
FLOATS = (0.0, 1.0, -1.0, 0.5, 0.1, 2.0, 1e-5, float("inf"), float("-inf"), float("nan"), 1e308, -5e-324)
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 8)
EXPANDED = (1, 3, 1 << 10, 1 << 20, 1 << 26, 1 << 31, 1 << 40, 1 << 62)
DTYPES = (
    ts.float32, ts.float32, ts.float32, ts.float64, ts.int64, ts.int64, ts.int32, ts.int16, ts.int8, ts.uint8, ts.bool, ts.float16,
    ts.bfloat16, ts.complex64, ts.complex128,
)  # fmt: skip
TEXTS = (
    "", "a", "mean", "sum", "none", "max", "nearest", "bilinear", "reflect", "constant", "replicate", "circular", "tanh", "amax", "prod",
    "ij,jk->ik", "...->", "i...j,...", "\ud800", "x" * 1000, "valid", "same", "floor", "trunc", "fro", "nuc", "L", "gelsd",
)  # fmt: skip


class Caller:
    """Generates random arguments from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.shapes: list[list[int]] = []

    def begin(self) -> None:
        """Choose the shapes and the dtype that tensors of the next call mostly have."""
        rank = self.rng.choice((0, 1, 1, 2, 2, 3, 4, 5, 8))
        self.shapes = [[self.rng.choice(SIZES) for _ in range(rank)] for _ in range(2)]
        self.dtype = self.rng.choice(DTYPES)

    def shape(self) -> list[int]:
        if self.rng.random() < 0.8:
            return list(self.rng.choice(self.shapes))
        return [self.rng.choice(SIZES) for _ in range(self.rng.choice((0, 1, 2, 3, 4, 8)))]

    def elements(self, shape: list[int], dtype: Any) -> ts.Tensor:
        rng, count = self.rng, int(np.prod(shape))
        if dtype == ts.bool:
            return ts.tensor([rng.random() < 0.5 for _ in range(count)], dtype=dtype).reshape(shape)
        if dtype.is_floating_point or dtype.is_complex:
            special = FLOATS if rng.random() < 0.3 else (0.0, 1.0, -1.0, 0.5)
            return ts.tensor([rng.choice(special) for _ in range(count)], dtype=ts.float64).reshape(shape).to(dtype)
        limit = ts.iinfo(dtype)
        special = INTEGERS if rng.random() < 0.3 else (0, 1, 2, 3, -1)
        values = [rng.choice(special) for _ in range(count)]
        return ts.tensor([min(max(x, limit.min), limit.max) for x in values], dtype=dtype).reshape(shape)

    def tensor(self) -> ts.Tensor:
        rng = self.rng
        dtype = self.dtype if rng.random() < 0.6 else rng.choice(DTYPES)
        shape = self.shape()
        x = self.elements(shape, dtype)
        kind = rng.random()
        if kind < 0.12:
            ones = [n if rng.random() < 0.5 else 1 for n in shape]
            x = self.elements(ones, dtype).expand([m if n != 1 else rng.choice(EXPANDED[:5] if rng.random() < 0.8 else EXPANDED) for n, m in zip(ones, shape, strict=True)])
        elif kind < 0.2:
            x = self.elements([1] * len(shape), dtype).expand(shape)
        elif kind < 0.3 and len(shape) > 1:
            x = x.transpose(0, -1)
        elif kind < 0.35 and x.numel() > 3:
            x = x.flatten().as_strided([3] * min(len(shape), 3), [rng.choice((0, 1, 1))] * min(len(shape), 3))[..., : rng.choice((1, 2, 3))]
        elif kind < 0.4 and x.dim() and x.array.size:
            x = wrap_array(x.contiguous().array[::-1])
        elif kind < 0.43:
            x = x[..., None].expand(*shape, 3)[..., 0]
        elif kind < 0.45 and x.dim():
            x = x[::2]
        if rng.random() < 0.05 and x.dtype.is_floating_point:
            x = x.detach().requires_grad_()
        return x

    def value(self, parameter: Any) -> Any:
        rng, kind = self.rng, parameter.kind.removesuffix("?")
        if parameter.kind.endswith("?") and rng.random() < 0.3:
            return None
        match kind:
            case "Tensor":
                return self.tensor()
            case "Tensor[]":
                return [self.tensor() for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
            case "Tensor?[]":
                return [None if rng.random() < 0.3 else self.tensor() for _ in range(rng.choice((0, 1, 2, 3)))]
            case "int" | "SymInt":
                return rng.choice(INTEGERS if rng.random() < 0.5 else INTEGERS[:9])
            case "bool":
                return rng.random() < 0.5
            case "float":
                return rng.choice(FLOATS)
            case "complex":
                return complex(rng.choice(FLOATS), rng.choice(FLOATS))
            case "Scalar" | "number":
                return rng.choice((*INTEGERS, *FLOATS, True, 2j, complex(float("nan"), float("inf"))))
            case "int[]" | "SymInt[]":
                if rng.random() < 0.3:
                    return self.shape()
                some = INTEGERS if rng.random() < 0.3 else INTEGERS[:9]
                return [rng.choice(some) for _ in range(rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 6, 9)))]
            case "float[]":
                return [rng.choice(FLOATS) for _ in range(rng.choice((0, 1, 2, 3)))]
            case "Scalar[]":
                return [rng.choice((*INTEGERS, *FLOATS)) for _ in range(rng.choice((0, 1, 2, 3)))]
            case "bool[]":
                return [rng.random() < 0.5 for _ in range(rng.choice((1, 2, 3, 3)))]
            case "str":
                named = samples.STRINGS.get(parameter.name)
                return named if named and rng.random() < 0.6 else rng.choice(TEXTS)
            case "ScalarType":
                return rng.choice(DTYPES)
            case "MemoryFormat":
                return rng.choice((None, ts.contiguous_format, ts.channels_last, ts.preserve_format))
            case "Device":
                return ts.device("cpu")
            case "Generator":
                return ts.Generator()
        return None

    def arguments(self, record: Any) -> list[Any]:
        parameters = samples.operator(record).signature.parameters
        self.begin()
        given = None
        if self.rng.random() < 0.6:
            given = samples.arguments(record, self.rng.choice((ts.float32, self.dtype)))
        if given is None:
            return [self.value(each) for each in parameters]
        tensors = [x for x in given if isinstance(x, ts.Tensor)]
        if tensors:
            self.shapes = [list(x.shape) for x in tensors]
            self.dtype = tensors[0].dtype
        for i in self.rng.sample(range(len(given)), min(len(given), self.rng.choice((1, 1, 2, 3)))):
            given[i] = self.value(parameters[i])
        return given


def described(x: Any) -> str:
    """Return an argument in one line."""
    if isinstance(x, ts.Tensor):
        elements = x.array.ravel()[:6].tolist() if x.numel() < 1000 else "..."
        return f"{str(x.dtype)[3:]}{list(x.shape)}by{list(x.stride())}{elements}"
    if isinstance(x, list):
        return "[" + ", ".join(map(described, x)) + "]"
    return repr(x)[:80]


class UnintendedError(Exception):
    """An error that the operator did not raise on purpose."""


def resident(field: str) -> int:
    """Return VmRSS or VmHWM in bytes."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(field):
                return int(line.split()[1]) << 10
    return 0


def is_raised(error: BaseException) -> bool:
    """Return whether the innermost frame of a traceback is a `raise` of `ts`."""
    place = error.__traceback__
    if place is None:
        return True
    while place.tb_next is not None:
        place = place.tb_next
    file = place.tb_frame.f_code.co_filename
    if "site-packages" in file or "/lib/python3" in file:
        return False
    first = place.tb_lineno
    near = "".join(linecache.getline(file, line) for line in range(max(first - 3, 1), first + 1))
    return not near or "raise" in near


def call(record: Any, args: list[Any]) -> None:
    """Call the operator of a record within limits."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # resets the peak (VmHWM) to the current memory
    before = resident("VmRSS")
    try:
        with warnings.catch_warnings(), ts.limits(bytes=LIMIT_BYTES, seconds=SECONDS):
            warnings.simplefilter("ignore")
            result = samples.operator(record)(*args)
            del result
    except InternalError as error:
        raise UnintendedError(f"InternalError: {error}") from error
    except MemoryError as error:
        raise UnintendedError(f"MemoryError: {error}") from error
    except (ValueError, TypeError, IndexError) as error:
        if not is_raised(error):
            raise UnintendedError(f"{type(error).__name__}: {error}") from error
        raise
    finally:
        peak = resident("VmHWM") - before
        if peak > LIMIT_BYTES + SLACK_BYTES:
            raise UnintendedError(f"{peak >> 20} MiB were used")


def records() -> list[Any]:
    registry.load()
    return [
        r for r in registry.records()
        if r.base is None and r.name not in EXCLUDED and "__torch__" not in r.schema_text and not r.name.startswith(("prim::", "rpc::", "aten::_rpc", "profiler::", "aten::wait"))
    ]  # fmt: skip


def main(first: str, last: str, *place: str) -> None:
    """Run the calls of the seeds from `first` to `last`."""
    candidates = records()
    samples_of: dict[str, bool] = {}
    calls = subprocess_watchdog.Calls(*place, seconds=15 * SECONDS, bytes=3 << 30)
    for seed in range(int(first), int(last)):
        caller = Caller(seed)
        for _ in range(CALLS_PER_SEED):
            record = caller.rng.choice(candidates)
            try:
                args = caller.arguments(record)
            except (RuntimeError, KeyError, ValueError, TypeError, MemoryError):  # invalid tensor
                samples_of[record.key] = False
                continue
            if calls.count + 1 <= calls.after:
                calls.count += 1
                continue
            text = f"{record.key} " + ", ".join(map(described, args))
            calls.run(text[:900], REJECTION_ERRORS, call, record, args)


def problems(first: int, last: int) -> list[str]:
    """Return the problems found with the calls of the seeds from `first` to `last`."""
    return subprocess_watchdog.problems(__spec__.name, first, last)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print("\n".join(problems(int(sys.argv[1]), int(sys.argv[2]))))
    else:
        main(*sys.argv[1:])
