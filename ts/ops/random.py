"""Random numbers: PyTorch's streams on the CPU, bit for bit where PyTorch's are defined by integers.

In: a Generator (None is the default one) and a shape; out: samples.

    float32 in [0, 1)   24 low bits of one draw       float64   53 low bits of two draws
    randint             one draw (two when the range needs 32 bits or more) modulo the range
    randperm            a Fisher-Yates walk from the front
    randn               Box-Muller: blocks of 16 for 16 elements and more, else pairs in float64
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ts.ops import rules
from ts.ops.registry import op

Array = rules.Array
DEFAULT_SEED = 67280421310721


class MersenneTwister:
    """MT19937 as PyTorch's CPU generator runs it, with the leftover sample of its normal distribution."""

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Start the stream of `seed` (its low 32 bits)."""
        self.initial_seed = seed & 0xFFFFFFFFFFFFFFFF
        self._started: Any = None
        self._leftover: float | None = None

    @property
    def _bits(self) -> Any:
        """NumPy's generator of words; made on the first draw, because numpy.random is slow to import."""
        if self._started is None:
            key = np.empty(624, dtype=np.uint32)
            word = self.initial_seed & 0xFFFFFFFF
            for i in range(624):
                key[i] = word
                word = (1812433253 * (word ^ (word >> 30)) + i + 1) & 0xFFFFFFFF
            self._started = np.random.MT19937()
            self._started.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 624}}
        return self._started

    def draw32(self, n: int) -> NDArray[np.uint64]:
        """The next `n` words."""
        return self._bits.random_raw(n) if n else np.empty(0, dtype=np.uint64)  # type: ignore[no-any-return]

    def draw64(self, n: int) -> NDArray[np.uint64]:
        """The next `n` pairs of words, the first of a pair high."""
        words = self.draw32(2 * n)
        return (words[0::2] << np.uint64(32)) | words[1::2]

    def uniform(self, n: int, double: bool) -> NDArray[Any]:
        """`n` numbers in [0, 1)."""
        if double:
            return (self.draw64(n) & np.uint64((1 << 53) - 1)) * (1.0 / (1 << 53))
        return ((self.draw32(n) & np.uint64((1 << 24) - 1)).astype(np.float32)) * np.float32(1.0 / (1 << 24))

    def normal(self, n: int, double: bool) -> NDArray[Any]:
        """`n` standard normal numbers."""
        if n < 16:
            return np.array([self._one_normal() for _ in range(n)])
        data = self.uniform(n, double)
        whole = n - n % 16
        data[:whole] = _box_muller(data[:whole])
        if n % 16:  # the last 16 places are drawn again, overlapping the block before
            data[n - 16 :] = _box_muller(self.uniform(16, double))
        return data

    def _one_normal(self) -> float:
        if self._leftover is not None:
            sample, self._leftover = self._leftover, None
            return sample
        u1, u2 = self.uniform(2, True)
        radius, angle = math.sqrt(-2 * math.log1p(-u2)), 2 * math.pi * u1
        self._leftover = radius * math.sin(angle)
        return radius * math.cos(angle)

    def get_state(self) -> dict[str, Any]:
        """Everything that the next draw depends on."""
        return {"bits": self._bits.state, "leftover": self._leftover, "seed": self.initial_seed}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` gave."""
        self._bits.state = state["bits"]
        self._leftover, self.initial_seed = state["leftover"], state["seed"]


def _box_muller(uniform: NDArray[Any]) -> NDArray[Any]:
    blocks = uniform.reshape(-1, 2, 8)
    one = uniform.dtype.type(1)
    radius = np.sqrt(uniform.dtype.type(-2) * np.log(one - blocks[:, 0]))
    angle = uniform.dtype.type(2 * math.pi) * blocks[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)


default_generator = MersenneTwister()


def manual_seed(seed: int) -> MersenneTwister:
    """Seed the default generator, as `torch.manual_seed`."""
    default_generator.seed(int(seed))
    return default_generator


def clock_seed() -> int:
    """A seed from the clock."""
    return time.time_ns() & 0xFFFFFFFFFFFFFFFF


def source(generator: Any) -> MersenneTwister:
    """The stream behind a `generator=` argument."""
    if generator is None:
        return default_generator
    stream: MersenneTwister = getattr(generator, "stream", generator)
    return stream


def uniform_array(xp: Any, shape: Sequence[int], dtype: rules.DType, generator: Any) -> Array:
    """Uniform samples in [0, 1) of a real or complex floating dtype."""
    n = math.prod(shape)
    if dtype.kind == "c":
        part = source(generator).uniform(2 * n, dtype == rules.CDOUBLE)
        return xp.asarray(part.view(dtype).reshape(shape))
    if rules.CATEGORY_OF[dtype] != rules.FLOATING:
        rules.refuse("check_uniform_bounds", dtype)
    bits = {rules.HALF: 11, rules.BFLOAT16: 8}.get(dtype)
    if bits:
        words = source(generator).draw32(n) & np.uint64((1 << bits) - 1)
        return xp.asarray((words.astype(np.float32) / (1 << bits)).astype(dtype).reshape(shape))
    return xp.asarray(source(generator).uniform(n, dtype == rules.DOUBLE).astype(dtype).reshape(shape))


def normal_array(xp: Any, shape: Sequence[int], dtype: rules.DType, generator: Any) -> Array:
    """Standard normal samples; complex ones have variance 1/2 in each part."""
    n = math.prod(shape)
    if dtype.kind == "c":
        part = source(generator).normal(2 * n, dtype == rules.CDOUBLE).astype(rules.real_dtype(dtype))
        return xp.asarray((part * rules.real_dtype(dtype).type(math.sqrt(0.5))).view(dtype).reshape(shape))
    if rules.CATEGORY_OF[dtype] != rules.FLOATING:
        rules.refuse("normal_kernel_cpu", dtype)
    return xp.asarray(source(generator).normal(n, dtype == rules.DOUBLE).astype(dtype).reshape(shape))


def integer_array(
    xp: Any, low: int, high: int, shape: Sequence[int], dtype: rules.DType, generator: Any
) -> Array:
    """Integers in [low, high)."""
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    n, span = math.prod(shape), high - low
    stream = source(generator)
    words = stream.draw64(n) if span >= 1 << 28 else stream.draw32(n)
    values = (words % np.uint64(span)).astype(np.int64) + low
    return xp.asarray(rules.cast(np, values, dtype).reshape(shape))


# ---------------------------------------------------------------------------------------- creation


@op(
    "aten::rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _rand(xp: Any, size: Sequence[int], dtype: int | None = None, *_: Any) -> Array:
    return uniform_array(xp, size, rules.dtype_from(dtype), None)


@op(
    "aten::rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _rand_generator(xp: Any, size: Sequence[int], generator: Any, dtype: int | None = None, *_: Any) -> Array:
    return uniform_array(xp, size, rules.dtype_from(dtype), generator)


@op(
    "aten::randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randn(xp: Any, size: Sequence[int], dtype: int | None = None, *_: Any) -> Array:
    return normal_array(xp, size, rules.dtype_from(dtype), None)


@op(
    "aten::randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randn_generator(
    xp: Any, size: Sequence[int], generator: Any, dtype: int | None = None, *_: Any
) -> Array:
    return normal_array(xp, size, rules.dtype_from(dtype), generator)


@op(
    "aten::randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? "
    "device=None, bool? pin_memory=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randint(xp: Any, high: int, size: Sequence[int], dtype: int | None = 4, *_: Any) -> Array:
    return integer_array(xp, 0, high, size, rules.dtype_from(dtype, rules.INT64), None)


@op(
    "aten::randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? "
    "dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randint_generator(
    xp: Any, high: int, size: Sequence[int], generator: Any, dtype: int | None = 4, *_: Any
) -> Array:
    return integer_array(xp, 0, high, size, rules.dtype_from(dtype, rules.INT64), generator)


@op(
    "aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randint_low(xp: Any, low: int, high: int, size: Sequence[int], dtype: int | None = 4, *_: Any) -> Array:
    return integer_array(xp, low, high, size, rules.dtype_from(dtype, rules.INT64), None)


@op(
    "aten::randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, "
    "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randint_low_generator(
    xp: Any, low: int, high: int, size: Sequence[int], generator: Any, dtype: int | None = 4, *_: Any
) -> Array:
    return integer_array(xp, low, high, size, rules.dtype_from(dtype, rules.INT64), generator)


def permutation(n: int, generator: Any) -> NDArray[np.int64]:
    """The numbers below `n`, shuffled."""
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}")
    words = source(generator).draw32(max(n - 1, 0))
    steps = (words % np.arange(n, 1, -1, dtype=np.uint64)).tolist() if n > 1 else []
    order = list(range(n))
    for i, step in enumerate(steps):
        j = i + step
        order[i], order[j] = order[j], order[i]
    return np.array(order, dtype=np.int64)


@op(
    "aten::randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool?"
    " pin_memory=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randperm(xp: Any, n: int, dtype: int | None = 4, *_: Any) -> Array:
    return xp.asarray(permutation(n, None).astype(rules.dtype_from(dtype, rules.INT64)))


@op(
    "aten::randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=4, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randperm_generator(xp: Any, n: int, generator: Any, dtype: int | None = 4, *_: Any) -> Array:
    return xp.asarray(permutation(n, generator).astype(rules.dtype_from(dtype, rules.INT64)))


@op(
    "aten::rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
    "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _rand_like(xp: Any, self: Array, dtype: int | None = None, *_: Any) -> Array:
    return uniform_array(xp, self.shape, rules.dtype_from(dtype, self.dtype), None)


@op(
    "aten::randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
    "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randn_like(xp: Any, self: Array, dtype: int | None = None, *_: Any) -> Array:
    return normal_array(xp, self.shape, rules.dtype_from(dtype, self.dtype), None)


@op(
    "aten::randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randint_like(xp: Any, self: Array, high: int, dtype: int | None = None, *_: Any) -> Array:
    return integer_array(xp, 0, high, self.shape, rules.dtype_from(dtype, self.dtype), None)


@op(
    "aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
    "memory_format=None) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _randint_like_low(xp: Any, self: Array, low: int, high: int, dtype: int | None = None, *_: Any) -> Array:
    return integer_array(xp, low, high, self.shape, rules.dtype_from(dtype, self.dtype), None)


# ---------------------------------------------------------------------------------------- samples


@op("aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", out="out", nondeterministic=True)
def _bernoulli(xp: Any, self: Array, generator: Any = None) -> Array:
    draws = uniform_array(xp, self.shape, rules.DOUBLE, generator)
    return (draws < self).astype(self.dtype)


@op(
    "aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
    nondeterministic=True,
    inplace=False,
)
def _bernoulli_p(xp: Any, self: Array, p: float, generator: Any = None) -> Array:
    return (uniform_array(xp, self.shape, rules.DOUBLE, generator) < p).astype(self.dtype)


@op(
    "aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? "
    "generator=None) -> Tensor",
    out="out",
    nondeterministic=True,
)
def _multinomial(
    xp: Any, self: Array, num_samples: int, replacement: bool = False, generator: Any = None
) -> Array:
    if self.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if rules.category(self) != rules.FLOATING:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {rules.NAME_OF[self.dtype]}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > self.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    weights = xp.atleast_2d(self).astype(rules.DOUBLE)
    if not bool(xp.all(xp.isfinite(weights) & (weights >= 0))):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not bool(xp.all(xp.sum(weights, -1) > 0)):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if replacement:
        bounds = xp.cumsum(weights, -1) / xp.sum(weights, -1, keepdims=True)
        draws = uniform_array(xp, (len(weights), num_samples), rules.DOUBLE, generator)
        found = xp.stack([xp.searchsorted(b, u, side="right") for b, u in zip(bounds, draws, strict=True)])
    else:
        waiting = -xp.log1p(-uniform_array(xp, weights.shape, rules.DOUBLE, generator)) / weights
        found = xp.argsort(waiting, -1)[:, :num_samples]
    return found[0] if self.ndim == 1 else found


def _normal(xp: Any, mean: Any, std: Any, generator: Any) -> Array:
    dtype = next(x.dtype for x in (mean, std) if not isinstance(x, (int, float)))
    shape = rules.broadcast_shapes(rules.shape_of(mean), rules.shape_of(std))
    return rules.cast(xp, normal_array(xp, shape, dtype, generator) * std + mean, dtype)


@op(
    "aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
    out="Tensor_float_out",
    where="f",
    nondeterministic=True,
)
def _normal_tensor_float(xp: Any, mean: Array, std: float = 1, generator: Any = None) -> Array:
    return _normal(xp, mean, std, generator)


@op(
    "aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
    out="float_Tensor_out",
    where="f",
    nondeterministic=True,
)
@op(
    "aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
    out="Tensor_Tensor_out",
    where="f",
    nondeterministic=True,
)
def _normal_tensor(xp: Any, mean: Any, std: Array, generator: Any = None) -> Array:
    return _normal(xp, mean, std, generator)


@op(
    "aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor",
    where="f",
    nondeterministic=True,
)
def _normal_float(
    xp: Any,
    mean: float,
    std: float,
    size: Sequence[int],
    generator: Any = None,
    dtype: int | None = None,
    *_: Any,
) -> Array:
    return normal_array(xp, size, rules.dtype_from(dtype), generator) * std + mean


def _fill(xp: Any, self: Array, values: Array) -> Array:
    self[...] = rules.cast(xp, values, self.dtype)
    return self


@op(
    "aten::normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)",
    variant="inplace",
    where="m",
    nondeterministic=True,
)
def _normal_in_place(xp: Any, self: Array, mean: float = 0, std: float = 1, generator: Any = None) -> Array:
    return _fill(xp, self, normal_array(xp, self.shape, self.dtype, generator) * std + mean)


@op(
    "aten::uniform_(Tensor(a!) self, float from=0., float to=1., *, Generator? generator=None) -> Tensor(a!)",
    variant="inplace",
    where="m",
    nondeterministic=True,
)
def _uniform(xp: Any, self: Array, from_: float = 0, to: float = 1, generator: Any = None) -> Array:
    return _fill(xp, self, uniform_array(xp, self.shape, self.dtype, generator) * (to - from_) + from_)


@op(
    "aten::random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
    variant="inplace",
    where="m",
    nondeterministic=True,
)
def _random_from(xp: Any, self: Array, from_: int, to: int | None, generator: Any = None) -> Array:
    return _fill(
        xp, self, integer_array(xp, from_, (1 << 62) if to is None else to, self.shape, self.dtype, generator)
    )


@op(
    "aten::random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)",
    variant="inplace",
    where="m",
    nondeterministic=True,
)
def _random_to(xp: Any, self: Array, to: int, generator: Any = None) -> Array:
    return _random_from(xp, self, 0, to, generator)


@op(
    "aten::exponential_(Tensor(a!) self, float lambd=1., *, Generator? generator=None) -> Tensor(a!)",
    variant="inplace",
    where="m",
    nondeterministic=True,
)
def _exponential(xp: Any, self: Array, lambd: float = 1, generator: Any = None) -> Array:
    return _fill(xp, self, -xp.log1p(-uniform_array(xp, self.shape, rules.DOUBLE, generator)) / lambd)


@op(
    "aten::geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)",
    variant="inplace",
    where="m",
    nondeterministic=True,
)
def _geometric(xp: Any, self: Array, p: float, generator: Any = None) -> Array:
    draws = uniform_array(xp, self.shape, rules.DOUBLE, generator)
    return _fill(xp, self, xp.ceil(xp.log1p(-draws) / math.log1p(-p)))


@op(
    "aten::cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, Generator? generator=None) ->"
    " Tensor(a!)",
    variant="inplace",
    where="m",
    nondeterministic=True,
)
def _cauchy(xp: Any, self: Array, median: float = 0, sigma: float = 1, generator: Any = None) -> Array:
    draws = uniform_array(xp, self.shape, rules.DOUBLE, generator)
    return _fill(xp, self, median + sigma * xp.tan(math.pi * (draws - 0.5)))


@op(
    "aten::log_normal_(Tensor(a!) self, float mean=1., float std=2., *, Generator? generator=None) ->"
    " Tensor(a!)",
    variant="inplace",
    where="m",
    nondeterministic=True,
)
def _log_normal(xp: Any, self: Array, mean: float = 1, std: float = 2, generator: Any = None) -> Array:
    return _fill(xp, self, xp.exp(normal_array(xp, self.shape, self.dtype, generator) * std + mean))


@op("aten::dropout(Tensor input, float p, bool train) -> Tensor", where="f", nondeterministic=True)
def _dropout(xp: Any, input: Array, p: float, train: bool) -> Array:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not train or p == 0:
        return input.copy()
    if p == 1:
        return xp.zeros_like(input)
    kept = uniform_array(xp, input.shape, rules.DOUBLE, None) < 1 - p
    return rules.cast(xp, input * kept / (1 - p), input.dtype)


@op("aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", where="f", nondeterministic=True)
def _feature_dropout(xp: Any, input: Array, p: float, train: bool) -> Array:
    if not train or p == 0 or p == 1:
        return _dropout(xp, input, p, train)
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    whole = _dropout(xp, xp.ones((*input.shape[:2], *(1,) * (input.ndim - 2)), dtype=input.dtype), p, train)
    return input * whole
