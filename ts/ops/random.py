"""Random numbers of PyTorch's CPU streams.

For the same seed, random integers are equal to PyTorch's. Each line shows operators and the source of their
samples:

    randint             one random word (two for ranges of 2^28 or more integers) modulo the range
    randperm            a Fisher-Yates shuffle from the first element
    rand, randn         numbers of `ts.ops.generator` (16-bit floats: rounded float32 numbers)

In-place operators fill a tensor in memory order, not in index order. The generator None is the default
generator. Devices may have their own random streams.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ts import dtypes
from ts._core.thread.warnings import warn
from ts.ops import common
from ts.ops.generator import Generator, manual_seed, source
from ts.ops.operator_record import OperatorRecord
from ts.ops.out_variants import SILENT, write_out
from ts.ops.registry import add, op, order

Array = common.Array

# Both dicts have dtypes as keys. `C_NAMES` contains for each supported dtype the name of the C type in
# PyTorch's messages, and `EXACT_BITS` contains for each float dtype the number of significant bits.
C_NAMES: dict[common.DType, str] = {}
EXACT_BITS: dict[common.DType, int] = {}


def _enter_dtype(d: dtypes.dtype, numpy_dtype: common.DType) -> None:
    if d.has_storage_class and not d.is_complex:
        C_NAMES[numpy_dtype] = d.cpp_names[1]
        if d.is_floating_point:
            EXACT_BITS[numpy_dtype] = d.digits


dtypes.for_each_dtype(_enter_dtype)


# ---------------------------------------------------------------------------------------- samples


def uniform_samples(stream: Any, n: int, dtype: common.DType, low: float = 0, high: float = 1) -> Array:
    """Return uniform samples in [low, high) of a real or complex floating dtype."""
    if common.is_complex(dtype):
        return uniform_samples(stream, 2 * n, common.real_dtype(dtype), low, high).view(dtype)
    if dtype == common.DOUBLE:
        return stream.doubles(n, low, high)
    samples = stream.floats(n, low, high)
    # Samples that are rounded up to `high`, which is excluded, are replaced by `low`.
    if dtype in common.HALF_DTYPES:
        rounded = samples.astype(dtype).astype(common.FLOAT)
        rounded[rounded == float(dtype.type(high))] = low
        return rounded.astype(dtype)
    return samples


def normal_samples(
    stream: Any, n: int, dtype: common.DType, mean: float = 0, std: float = 1, blocks: bool = True
) -> Array:
    """Return `n` normal samples. If `blocks` and n >= 16, they are drawn in blocks of 16.

    For a complex dtype, the real and the imaginary part of a sample each have the mean `mean` and the
    variance `std`² / 2.
    """
    if common.is_complex(dtype):
        components = normal_samples(
            stream, 2 * n, common.real_dtype(dtype), mean, std * math.sqrt(0.5), blocks
        )
        return components.view(dtype)
    if not stream.in_blocks(n, blocks):
        return _cast_samples(stream.normals(n) * std + mean, dtype)
    work = common.opmath(dtype)
    samples = stream.block_normals(n, work == common.DOUBLE, dtype in common.HALF_DTYPES)
    samples *= work.type(std)
    samples += work.type(mean)
    return _cast_samples(samples, dtype)


def _cast_samples(samples: Array, dtype: common.DType) -> Array:
    if dtype in common.HALF_DTYPES:
        samples = samples.astype(common.opmath(dtype))
    return samples.astype(dtype, copy=False)


def integer_samples(stream: Any, n: int, low: int, span: int) -> Array:
    """Return integer samples in [low, low + span)."""
    if span >= 1 << 64:
        values = stream.double_words(n)
    elif span >= 1 << 28:
        values = stream.double_words(n) % np.uint64(span)
    else:
        values = (stream.words(n) % np.uint32(span)).astype(np.uint64)
    return values.view(np.int64) + np.int64(low)


def integer_bounds(low: int, high: int, dtype: common.DType) -> tuple[int, int]:
    """Return the bounds low and high, moved inwards if samples rounded to `dtype` could leave [low, high).

    Raise RuntimeError if the range [low, high) is empty or contains numbers outside of the range of `dtype`.
    """
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype in EXACT_BITS:
        high = round_inwards(high, -1, dtype)
        low = round_inwards(low, 1, dtype)
        if low >= high:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got "
                f"from={low} >= to={high}"
            )
    check_integer(low, "from", dtype)
    check_integer(high - 1, "to - 1", dtype)
    return low, high


def round_inwards(bound: int, inwards: int, dtype: common.DType) -> int:
    """Return `bound`, or a number further inside of the range if rounding to `dtype` requires this.

    The bound moves if the adjacent integer inside of the range rounds to a number outside. `inwards` is the
    direction into the range: 1 for the lower bound, -1 for the upper bound.
    """
    digits = EXACT_BITS[dtype]
    work, neighbor = common.opmath(dtype), bound + inwards
    with np.errstate(over="ignore"):
        rounded = float(work.type(neighbor).astype(dtype))
    if abs(rounded) >= 1 << 63 or (rounded >= bound if inwards > 0 else rounded < bound):
        return bound
    step = 1 << max(abs(neighbor).bit_length() - digits, 0)
    return int(work.type(bound + inwards * step).astype(dtype))


def check_integer(value: int, name: str, dtype: common.DType) -> None:
    """Raise RuntimeError if `value` is out of the range of `dtype`.

    For a float dtype, emit a warning if some integers with a smaller magnitude than `value` have no exact
    representation in `dtype`.
    """
    if dtype not in C_NAMES:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if dtype in EXACT_BITS:
        digits = EXACT_BITS[dtype]
        if abs(value) > dtypes.finfo(dtypes.from_numpy_dtype(dtype)).max:
            raise RuntimeError(f"{name} is out of bounds for {C_NAMES[dtype]}")
        if abs(value) > 1 << digits:
            warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
                f"{C_NAMES[dtype]} can support discrete uniform distribution only within this range. This "
                "warning will become an error in version 1.7 release, please fix the code in advance"
            )
        return
    min_value, max_value = (
        (0, 1) if dtype == common.BOOL else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    )
    if not min_value <= value <= max_value:
        raise RuntimeError(f"{name} is out of bounds for {C_NAMES[dtype]}")


# ---------------------------------------------------------------------------------------- filling arrays


def fill(xp: Any, self: Array, draw: Callable[[int], Array]) -> Array:
    """Write the numbers `draw(n)` into the array of n elements, in memory order."""
    if xp.shapes_only:
        return self
    n = math.prod(self.shape)
    if n:
        ordered_view = self.transpose(memory_order(self))
        ordered_view[...] = _cast(xp, xp.asarray(draw(n)), self.dtype).reshape(ordered_view.shape)
    return self


def _cast(xp: Any, samples: Array, dtype: common.DType) -> Array:
    return _cast_samples(samples, dtype) if dtype in common.HALF_DTYPES else common.cast(xp, samples, dtype)


def memory_order(self: Array) -> list[int]:
    """Return the dimensions by decreasing stride."""
    return sorted(range(self.ndim), key=lambda i: -self.strides[i])


def is_row_major(self: Array) -> bool:
    """Return whether an array is contiguous in row-major order."""
    step = self.dtype.itemsize
    for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
        if length != 1 and stride != step:
            return False
        step *= length
    return True


_CHANNELS_LAST = (dtypes.channels_last.code, dtypes.channels_last_3d.code)


def empty_like(
    xp: Any, self: Array, dtype: common.DType | None = None, memory_format: int | None = None
) -> Array:
    """Return an uninitialized array of equal shape, in `memory_format` or the memory order of `self`."""
    dtype = dtype or self.dtype
    if memory_format in _CHANNELS_LAST:
        batch, channels, *rest = self.shape
        return xp.moveaxis(xp.empty((batch, *rest, channels), dtype=dtype), -1, 1)
    if memory_format == dtypes.contiguous_format.code or 0 in self.strides:
        return xp.empty(self.shape, dtype=dtype)
    return xp.empty_like(self, dtype=dtype)


def fill_uniform(xp: Any, self: Array, generator: Any, low: float = 0, high: float = 1) -> Array:
    """Fill a floating array with uniform numbers in [low, high)."""
    if common.CATEGORY_OF[self.dtype] < common.FLOATING:
        common.raise_unsupported_dtype("check_uniform_bounds", self.dtype)
    stream = source(xp, generator)
    return fill(xp, self, lambda n: uniform_samples(stream, n, self.dtype, low, high))


def fill_normal(xp: Any, self: Array, generator: Any, mean: float = 0, std: float = 1) -> Array:
    """Fill a floating array with normal numbers."""
    if common.CATEGORY_OF[self.dtype] < common.FLOATING and math.prod(self.shape):
        common.raise_unsupported_dtype("normal_kernel_cpu", self.dtype)
    stream, blocks = source(xp, generator), is_row_major(self)
    return fill(xp, self, lambda n: normal_samples(stream, n, self.dtype, mean, std, blocks))


def fill_integers(xp: Any, self: Array, generator: Any, low: int, high: int) -> Array:
    """Fill an array of any real dtype with integers in [low, high)."""
    low, high = integer_bounds(low, high, self.dtype)
    stream = source(xp, generator)
    return fill(xp, self, lambda n: integer_samples(stream, n, low, high - low))


def uniform_array(xp: Any, shape: Sequence[int], dtype: common.DType, generator: Any) -> Array:
    """Return a new array of uniform numbers in [0, 1)."""
    return fill_uniform(xp, xp.empty(common.check_sizes(shape), dtype=dtype), generator)


_MAX_PERMUTATIONS = {
    common.HALF: (2049, "2049"),
    common.FLOAT: ((1 << 24) + 1, "2^24+1"),
    common.DOUBLE: ((1 << 53) + 1, "2^53+1"),
}


def permutation(xp: Any, n: int, dtype: common.DType, generator: Any) -> Array:
    """Return a random permutation of the integers 0..n-1."""
    common.check_sizes([n])
    if dtype not in C_NAMES or dtype == common.BOOL:
        common.raise_unsupported_dtype("randperm", dtype)
    if n > _MAX_PERMUTATIONS.get(dtype, (n, ""))[0]:
        limit = _MAX_PERMUTATIONS[dtype][1]
        raise RuntimeError(f"n cannot be greater than {limit} for {common.NAME_OF[dtype]} type.")
    if dtype not in EXACT_BITS and n > int(np.iinfo(dtype).max):
        raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
    stream = source(xp, generator)
    return fill(xp, xp.empty((n,), dtype=dtype), stream.permutation)


# ---------------------------------------------------------------------------------------- new random tensors


_OPTIONS = "Layout? layout=None, Device? device=None, bool? pin_memory=None"
_FORMAT = "MemoryFormat? memory_format=None"
_FIELDS: dict[str, Any] = {"where": "f", "nondeterministic": True}
_PLAIN = ("", "generator", "out", "generator_out")


def creation(
    name: str, arguments: str, overloads: Sequence[str] = _PLAIN, dtype: str = "None"
) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Declare the four overloads of an operator that creates random numbers.

    The overloads have neither, one or both of the parameters `generator` and `out`. The decorated function
    also receives `dtype` and `generator`. It receives `memory_format` if an argument is a tensor.
    """
    count = arguments.count(",") + 1
    like = "Tensor self" in arguments
    options = f"ScalarType? dtype={dtype}, {_OPTIONS}" + (f", {_FORMAT}" if like else "")
    out = (f"{_FORMAT}, " if like else "") + "Tensor(a!) out"

    def declare(compute: Callable[..., Array]) -> Callable[..., Array]:
        def plain(xp: Any, *args: Any, generator: Any = None) -> Array:
            more = {"memory_format": args[-1]} if like else {}
            return compute(xp, *args[:count], dtype=args[count], generator=generator, **more)

        def seeded(xp: Any, *args: Any) -> Array:
            return plain(xp, *args[:count], *args[count + 1 :], generator=args[count])

        def into(xp: Any, *args: Any, generator: Any = None) -> Array:
            target = args[-1]
            more = {"memory_format": None} if like else {}
            code = common.CODE_OF[target.dtype]
            return write_out(
                xp, target, compute(xp, *args[:count], dtype=code, generator=generator, **more), SILENT
            )

        def seeded_into(xp: Any, *args: Any) -> Array:
            return into(xp, *args[:count], *args[count + 1 :], generator=args[count])

        generator_parameter = "Generator? generator"
        schema_tails = (f"{options}) -> Tensor", f"{generator_parameter}, {options}) -> Tensor",
                 f"{out}) -> Tensor(a!)", f"{generator_parameter}, {out}) -> Tensor(a!)")  # fmt: skip
        for overload, schema_tail, kernel in zip(
            overloads, schema_tails, (plain, seeded, into, seeded_into), strict=True
        ):
            head = f"aten::{name}.{overload}" if overload else f"aten::{name}"
            variant = "out" if "(a!)" in schema_tail else ""
            add(
                OperatorRecord(
                    f"{head}({arguments}, *, {schema_tail}", kernel, "random", variant=variant, **_FIELDS
                )
            )
        return compute

    return declare


@creation("rand", "SymInt[] size")
def _rand(xp: Any, size: Sequence[int], *, dtype: int | None, generator: Any) -> Array:
    return uniform_array(xp, size, common.dtype_from(dtype), generator)


@creation("randn", "SymInt[] size")
def _randn(xp: Any, size: Sequence[int], *, dtype: int | None, generator: Any) -> Array:
    output = xp.empty(common.check_sizes(size), dtype=common.dtype_from(dtype))
    return fill_normal(xp, output, generator)


@creation("randint", "SymInt high, SymInt[] size", dtype="4")
def _randint(xp: Any, high: int, size: Sequence[int], *, dtype: int | None, generator: Any) -> Array:
    return _randint_low(xp, 0, high, size, dtype=dtype, generator=generator)


@creation(
    "randint",
    "SymInt low, SymInt high, SymInt[] size",
    ("low", "low_generator", "low_out", "low_generator_out"),
    dtype="4",
)
def _randint_low(
    xp: Any, low: int, high: int, size: Sequence[int], *, dtype: int | None, generator: Any
) -> Array:
    output = xp.empty(common.check_sizes(size), dtype=common.dtype_from(dtype, common.INT64))
    return fill_integers(xp, output, generator, low, high)


@creation("randperm", "SymInt n", dtype="4")
def _randperm(xp: Any, n: int, *, dtype: int | None, generator: Any) -> Array:
    return permutation(xp, n, common.dtype_from(dtype, common.INT64), generator)


for _name, _fill in (("rand_like", fill_uniform), ("randn_like", fill_normal)):

    @creation(_name, "Tensor self")
    def _random_like(
        xp: Any,
        self: Array,
        *,
        dtype: int | None,
        generator: Any,
        memory_format: int | None,
        fill: Callable[..., Array] = _fill,
    ) -> Array:
        output = empty_like(xp, self, common.dtype_from(dtype, self.dtype), memory_format)
        return fill(xp, output, generator)


@creation("randint_like", "Tensor self, SymInt high")
def _randint_like(xp: Any, self: Array, high: int, **options: Any) -> Array:
    return _randint_like_low(xp, self, 0, high, **options)


@creation(
    "randint_like", "Tensor self, Tensor high",
    ("Tensor", "Tensor_generator", "Tensor_out", "Tensor_generator_out"),
)  # fmt: skip
def _randint_like_tensor(xp: Any, self: Array, high: Array, **options: Any) -> Array:
    if xp.shapes_only:  # on the meta device, the bounds are unknown and no numbers are drawn
        return empty_like(xp, self, common.dtype_from(options["dtype"], self.dtype), options["memory_format"])
    return _randint_like_low(xp, self, 0, int(high.item()), **options)


@creation(
    "randint_like",
    "Tensor self, SymInt low, SymInt high",
    ("low_dtype", "low_generator_dtype", "low_dtype_out", "low_generator_dtype_out"),
)
def _randint_like_low(
    xp: Any,
    self: Array,
    low: int,
    high: int,
    *,
    dtype: int | None,
    generator: Any,
    memory_format: int | None,
) -> Array:
    output = empty_like(xp, self, common.dtype_from(dtype, self.dtype), memory_format)
    return fill_integers(xp, output, generator, low, high)


order("aten::randint_like", "- Tensor low_dtype")


# ---------------------------------------------------------------------------------------- generators


@op("aten::Generator(*, Device? device=None, int? seed=None) -> Generator", where="", nondeterministic=True)
def _generator(xp: Any, device: Any = None, seed: int | None = None) -> Generator:
    generator = Generator("cpu" if device is None else device)
    return generator if seed is None else generator.manual_seed(seed)


@op("aten::manual_seed(int seed) -> ()", where="", side_effect=True)
def _manual_seed(xp: Any, seed: int) -> None:
    manual_seed(seed)


@op("aten::manual_seed.generator(Generator(a!) self, int seed) -> Generator(a!)", where="", side_effect=True)
def _manual_seed_generator(xp: Any, self: Generator, seed: int) -> Generator:
    return self.manual_seed(seed)


@op("aten::seed(Generator(a!) self) -> int", where="", side_effect=True, nondeterministic=True)
def _seed(xp: Any, self: Generator) -> int:
    return self.seed()


@op("aten::initial_seed(Generator self) -> int", where="", nondeterministic=True)
def _initial_seed(xp: Any, self: Generator) -> int:
    seed = self.initial_seed()
    return seed - (1 << 64) if seed >> 63 else seed  # convert to a signed 64-bit int
