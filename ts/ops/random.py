"""Random numbers: PyTorch's streams on the CPU, bit for bit where PyTorch's are defined by integers.

In: a Generator (None is the default one) and a shape; out: samples.

    randint             one draw (two when the range needs 32 bits or more) modulo the range
    randperm            a Fisher-Yates walk from the front

What takes no generator by its schema has a twin that does (`rand.generator`), declared with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ts import dtypes
from ts.ops import rules
from ts.ops.generator import Generator, manual_seed, source
from ts.ops.registry import op, write

Array = rules.Array


def uniform_array(
    xp: Any, shape: Sequence[int], dtype: rules.DType, generator: Any, low: float = 0, high: float = 1
) -> Array:
    """Uniform samples in [low, high) of a real or complex floating dtype."""
    n = math.prod(rules.check_sizes(shape))
    if dtype.kind == "c":
        part = source(xp, generator).uniform(2 * n, dtype == rules.CDOUBLE)
        return xp.asarray(part.view(dtype).reshape(shape) * (high - low) + low)
    if rules.CATEGORY_OF[dtype] != rules.FLOATING:
        rules.refuse("check_uniform_bounds", dtype)
    samples = source(xp, generator).uniform(n, dtype == rules.DOUBLE)
    if (low, high) != (0, 1):
        samples = samples * samples.dtype.type(high - low) + samples.dtype.type(low)
    if dtype in (rules.HALF, rules.BFLOAT16):
        samples = samples.astype(dtype)
        samples[samples == dtype.type(high)] = low  # rounded up to the end, which is not in the range
    return xp.asarray(samples.reshape(shape))


def normal_array(xp: Any, shape: Sequence[int], dtype: rules.DType, generator: Any) -> Array:
    """Standard normal samples; complex ones have variance 1/2 in each part."""
    n = math.prod(rules.check_sizes(shape))
    if dtype.kind == "c":
        part = source(xp, generator).normal(2 * n, dtype == rules.CDOUBLE).astype(rules.real_dtype(dtype))
        return xp.asarray((part * rules.real_dtype(dtype).type(math.sqrt(0.5))).view(dtype).reshape(shape))
    if rules.CATEGORY_OF[dtype] != rules.FLOATING:
        rules.refuse("normal_kernel_cpu", dtype)
    return xp.asarray(source(xp, generator).normal(n, dtype == rules.DOUBLE).astype(dtype).reshape(shape))


def integer_array(
    xp: Any, low: int, high: int, shape: Sequence[int], dtype: rules.DType, generator: Any
) -> Array:
    """Integers in [low, high)."""
    if dtype == rules.BOOL:
        for name, bound in (("from", low), ("to - 1", high - 1)):
            if bound not in (0, 1):
                raise RuntimeError(f"{name} is out of bounds for bool")
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    n, span = math.prod(rules.check_sizes(shape)), high - low
    stream = source(xp, generator)
    words = stream.draw64(n) if span >= 1 << 28 else stream.draw32(n)
    values = (words % np.uint64(span)).astype(np.int64) + low
    return xp.asarray(rules.cast(xp, values, dtype).reshape(shape))


# ---------------------------------------------------------------------------------------- creation


_OPTIONS = "Layout? layout=None, Device? device=None, bool? pin_memory=None"
_LIKE_OPTIONS = f"{_OPTIONS}, MemoryFormat? memory_format=None"
_IN_PLACE: dict[str, Any] = {"variant": "inplace", "where": "m", "nondeterministic": True}
_CREATION: dict[str, Any] = {"where": "f", "nondeterministic": True, "generator": "generator"}
_LOW_CREATION = _CREATION | {"generator": "low_generator"}
_LOW_LIKE_CREATION = _CREATION | {"generator": "low_generator_dtype"}


@op(f"aten::rand(SymInt[] size, *, ScalarType? dtype=None, {_OPTIONS}) -> Tensor", **_CREATION)
def _rand(xp: Any, size: Sequence[int], dtype: int | None = None, *_: Any, generator: Any = None) -> Array:
    return uniform_array(xp, size, rules.dtype_from(dtype), generator)


@op(f"aten::randn(SymInt[] size, *, ScalarType? dtype=None, {_OPTIONS}) -> Tensor", **_CREATION)
def _randn(xp: Any, size: Sequence[int], dtype: int | None = None, *_: Any, generator: Any = None) -> Array:
    return normal_array(xp, size, rules.dtype_from(dtype), generator)


@op(f"aten::randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, {_OPTIONS}) -> Tensor", **_CREATION)
def _randint(
    xp: Any, high: int, size: Sequence[int], dtype: int | None = 4, *_: Any, generator: Any = None
) -> Array:
    return integer_array(xp, 0, high, size, rules.dtype_from(dtype, rules.INT64), generator)


@op(
    "aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, "
    f"{_OPTIONS}) -> Tensor",
    **_LOW_CREATION,
)
def _randint_low(
    xp: Any, low: int, high: int, size: Sequence[int], dtype: int | None = 4, *_: Any, generator: Any = None
) -> Array:
    return integer_array(xp, low, high, size, rules.dtype_from(dtype, rules.INT64), generator)


@op(f"aten::randperm(SymInt n, *, ScalarType? dtype=4, {_OPTIONS}) -> Tensor", **_CREATION)
def _randperm(xp: Any, n: int, dtype: int | None = 4, *_: Any, generator: Any = None) -> Array:
    rules.check_sizes([n])
    order = source(xp, generator).permutation(n)
    return xp.asarray(order.astype(rules.dtype_from(dtype, rules.INT64)))


@op(f"aten::rand_like(Tensor self, *, ScalarType? dtype=None, {_LIKE_OPTIONS}) -> Tensor", **_CREATION)
def _rand_like(xp: Any, self: Array, dtype: int | None = None, *_: Any, generator: Any = None) -> Array:
    return uniform_array(xp, self.shape, rules.dtype_from(dtype, self.dtype), generator)


@op(f"aten::randn_like(Tensor self, *, ScalarType? dtype=None, {_LIKE_OPTIONS}) -> Tensor", **_CREATION)
def _randn_like(xp: Any, self: Array, dtype: int | None = None, *_: Any, generator: Any = None) -> Array:
    return normal_array(xp, self.shape, rules.dtype_from(dtype, self.dtype), generator)


@op(
    f"aten::randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, {_LIKE_OPTIONS}) -> Tensor",
    **_CREATION,
)
def _randint_like(
    xp: Any, self: Array, high: int, dtype: int | None = None, *_: Any, generator: Any = None
) -> Array:
    return integer_array(xp, 0, high, self.shape, rules.dtype_from(dtype, self.dtype), generator)


@op(
    "aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, "
    f"{_LIKE_OPTIONS}) -> Tensor",
    **_LOW_LIKE_CREATION,
)
def _randint_like_low(
    xp: Any, self: Array, low: int, high: int, dtype: int | None = None, *_: Any, generator: Any = None
) -> Array:
    return integer_array(xp, low, high, self.shape, rules.dtype_from(dtype, self.dtype), generator)


# ---------------------------------------------------------------------------------------- samples


def _fill(xp: Any, self: Array, values: Array) -> Array:
    self[...] = rules.cast(xp, values, self.dtype)
    return self


@op("aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", out="out", nondeterministic=True)
def _bernoulli(xp: Any, self: Array, generator: Any = None) -> Array:
    _check_probability(xp, self)
    return (uniform_array(xp, self.shape, _draw_dtype(self), generator) < self).astype(self.dtype)


@op("aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", nondeterministic=True)
@op(
    "aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
    nondeterministic=True,
)
def _bernoulli_p(xp: Any, self: Array, p: Any, generator: Any = None) -> Array:
    _check_probability(xp, p)
    return (uniform_array(xp, self.shape, _draw_dtype(p), generator) < p).astype(self.dtype)


def _draw_dtype(p: Any) -> rules.DType:
    """In what the draws are made that are held against `p`: one word each, but for numbers and doubles."""
    return rules.DOUBLE if isinstance(p, (int, float)) or p.dtype == rules.DOUBLE else rules.FLOAT


@op(
    "aten::bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
    **_IN_PLACE,
)
@op(
    "aten::bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
    **_IN_PLACE,
)
def _bernoulli_in_place(xp: Any, self: Array, p: Any = 0.5, generator: Any = None) -> Array:
    return _fill(xp, self, _bernoulli_p(xp, self, p, generator))


def _check_probability(xp: Any, p: Any) -> None:
    if isinstance(p, (int, float)):
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    elif not bool(xp.all((p >= 0) & (p <= 1))):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")


@op(
    "aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? "
    "generator=None) -> Tensor",
    out="out",
    out_refused="multinomial expects Long tensor out, got: {got}",
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
    if self.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
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
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    target = rules.dtype_from(dtype)
    return rules.cast(xp, normal_array(xp, size, target, generator) * std + mean, target)


@op(
    "aten::normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)",
    **_IN_PLACE,
)
def _normal_in_place(xp: Any, self: Array, mean: float = 0, std: float = 1, generator: Any = None) -> Array:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    return _fill(xp, self, normal_array(xp, self.shape, self.dtype, generator) * std + mean)


@op(
    "aten::uniform_(Tensor(a!) self, float from=0., float to=1., *, Generator? generator=None) -> Tensor(a!)",
    **_IN_PLACE,
)
def _uniform(xp: Any, self: Array, from_: float = 0, to: float = 1, generator: Any = None) -> Array:
    if from_ > to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={from_:g} > to={to:g}"
        )
    if self.dtype.kind != "c" and rules.category(self) == rules.FLOATING:
        for name, bound in (("from", from_), ("to", to)):
            if abs(bound) > dtypes.finfo(dtypes.from_numpy_dtype(self.dtype)).max:
                raise RuntimeError(f"{name} is out of bounds for {rules.NAME_OF[self.dtype].lower()}")
    return _fill(xp, self, uniform_array(xp, self.shape, self.dtype, generator, from_, to))


@op(
    "aten::random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
    **_IN_PLACE,
)
def _random_from(xp: Any, self: Array, from_: int, to: int | None, generator: Any = None) -> Array:
    return _fill(
        xp, self, integer_array(xp, from_, (1 << 62) if to is None else to, self.shape, self.dtype, generator)
    )


@op(
    "aten::random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)",
    **_IN_PLACE,
)
def _random_to(xp: Any, self: Array, to: int, generator: Any = None) -> Array:
    return _random_from(xp, self, 0, to, generator)


@op("aten::random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", **_IN_PLACE)
def _random(xp: Any, self: Array, generator: Any = None) -> Array:
    """Every number of the dtype that is not negative and that a float can hold exactly."""
    n, stream, dtype = int(self.size), source(xp, generator), self.dtype
    if dtype.kind == "c":
        rules.refuse("random_kernel_cpu", dtype)
    if rules.category(self) == rules.FLOATING:
        exact = {rules.DOUBLE: 53, rules.FLOAT: 24, rules.HALF: 11, rules.BFLOAT16: 8}[dtype]
        words = stream.draw64(n) if dtype == rules.DOUBLE else stream.draw32(n)
        values = words % np.uint64((1 << exact) + 1)
    elif dtype == rules.BOOL:
        values = stream.draw32(n) & np.uint64(1)
    else:
        words = stream.draw64(n) if dtype == rules.INT64 else stream.draw32(n)
        values = words % np.uint64(int(np.iinfo(dtype).max) + 1)
    return _fill(xp, self, xp.asarray(values.astype(dtype).reshape(self.shape)))


@op(
    "aten::exponential_(Tensor(a!) self, float lambd=1., *, Generator? generator=None) -> Tensor(a!)",
    **_IN_PLACE,
)
def _exponential(xp: Any, self: Array, lambd: float = 1, generator: Any = None) -> Array:
    _check_continuous(self, "Exponential", rules.NAME_OF[self.dtype])
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    return _fill(xp, self, -xp.log1p(-uniform_array(xp, self.shape, rules.DOUBLE, generator)) / lambd)


def _check_continuous(self: Array, distribution: str, dtype: str) -> None:
    if rules.category(self) != rules.FLOATING:
        raise RuntimeError(
            f"{distribution} distribution is a continuous probability distribution. "
            f"dtype must be a floating point but you specified {dtype}"
        )


@op(
    "aten::geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)",
    **_IN_PLACE,
)
def _geometric(xp: Any, self: Array, p: float, generator: Any = None) -> Array:
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if self.dtype.kind in "bc":
        rules.refuse("geometric_cpu", self.dtype)
    draws = uniform_array(xp, self.shape, rules.DOUBLE, generator)
    return _fill(xp, self, xp.ceil(xp.log(draws) / math.log1p(-p)))


@op(
    "aten::cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, Generator? generator=None) ->"
    " Tensor(a!)",
    **_IN_PLACE,
)
def _cauchy(xp: Any, self: Array, median: float = 0, sigma: float = 1, generator: Any = None) -> Array:
    names = {rules.INT64: "long int", rules.BOOL: "bool"}
    _check_continuous(self, "Cauchy", names.get(self.dtype) or str(self.dtype).replace("32", ""))
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    draws = uniform_array(xp, self.shape, rules.DOUBLE, generator)
    return _fill(xp, self, median + sigma * xp.tan(math.pi * (draws - 0.5)))


@op(
    "aten::log_normal_(Tensor(a!) self, float mean=1., float std=2., *, Generator? generator=None) ->"
    " Tensor(a!)",
    **_IN_PLACE,
)
def _log_normal(xp: Any, self: Array, mean: float = 1, std: float = 2, generator: Any = None) -> Array:
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if rules.category(self) != rules.FLOATING or self.dtype.kind == "c":
        rules.refuse("log_normal_cpu", self.dtype)
    draws = xp.asarray(source(xp, generator).single_normals(int(self.size))).reshape(self.shape)
    return _fill(xp, self, xp.exp(draws * std + mean))


# ---------------------------------------------------------------------------------------- generators


@op("aten::Generator(*, Device? device=None, int? seed=None) -> Generator", where="", nondeterministic=True)
def _generator(xp: Any, device: Any = None, seed: int | None = None) -> Generator:
    made = Generator("cpu" if device is None else device)
    return made if seed is None else made.manual_seed(seed)


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
    return self.initial_seed()


# ---------------------------------------------------------------------------------------- dropout


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


@op("aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", where="f", nondeterministic=True)
def _alpha_dropout(xp: Any, input: Array, p: float, train: bool) -> Array:
    return _to_the_limit(xp, input, input.shape, p, train)


@op(
    "aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _feature_alpha_dropout(xp: Any, input: Array, p: float, train: bool) -> Array:
    if train and input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return _to_the_limit(xp, input, (*input.shape[:2], *(1,) * (input.ndim - 2)), p, train)


_SELU_LIMIT = -1.7580993408473766


def _to_the_limit(xp: Any, input: Array, shape: Sequence[int], p: float, train: bool) -> Array:
    """What is dropped becomes SELU's limit; then everything is scaled and moved to the old moments."""
    if not train or p == 0 or p == 1:
        return _dropout(xp, input, p, train)
    kept = uniform_array(xp, shape, rules.DOUBLE, None) < 1 - p
    scale = 1 / math.sqrt((_SELU_LIMIT * _SELU_LIMIT * p + 1) * (1 - p))
    moved = xp.where(kept, input, _SELU_LIMIT) - _SELU_LIMIT * p
    return rules.cast(xp, moved * scale, input.dtype)


def _inplace_dropout(name: str, compute: Callable[..., Array]) -> None:
    """The form that overwrites its input; its argument has another name than that of the function."""

    @op(
        f"aten::{name}_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
        variant="inplace",
        where="f",
        nondeterministic=True,
    )
    def kernel(xp: Any, self: Array, p: float, train: bool) -> Array:
        return write(xp, self, compute(xp, self, p, train))


_inplace_dropout("dropout", _dropout)
_inplace_dropout("feature_dropout", _feature_dropout)
_inplace_dropout("alpha_dropout", _alpha_dropout)
_inplace_dropout("feature_alpha_dropout", _feature_alpha_dropout)
