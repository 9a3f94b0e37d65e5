"""Sampling operators (inverse CDF, rejection sampling, multinomial sampling) for samples of distributions.

The operators draw samples in memory order. Each line shows operators and their method:

    x.exponential_(2.0)                  continuous: a sample is computed in float64 from one uniform number
    poisson, binomial, _standard_gamma   rejection sampling
    multinomial                          without replacement: indices of the largest weight / exponential
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ts import dtypes
from ts.ops import common
from ts.ops.generator import on_host, source
from ts.ops.out_variants import COPIED_OUT, SILENT, write_out
from ts.ops.random import (
    C_NAMES,
    EXACT_BITS,
    check_integer,
    fill,
    fill_integers,
    fill_normal,
    fill_uniform,
    integer_samples,
    memory_order,
    round_inwards,
)
from ts.ops.registry import op

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array = common.Array
_IN_PLACE: dict[str, Any] = {"variant": "inplace", "where": "m", "nondeterministic": True}
_GENERATOR = "*, Generator? generator=None"


_INIT: dict[str, Any] = {"variant": "inplace", "where": "", "overlap": 2}


def in_place(schema: str) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Declare an in-place fill method, which raises RuntimeError for tensors with overlapping elements."""

    def declare(compute: Callable[..., Array]) -> Callable[..., Array]:
        def kernel(xp: Any, self: Array, *args: Any) -> Array:
            if any(step == 0 and n > 1 for step, n in zip(self.strides, self.shape, strict=True)):
                raise RuntimeError(
                    "unsupported operation: more than one element of the written-to tensor refers to a "
                    "single memory location. Please clone() the tensor before performing the operation."
                )
            return compute(xp, self, *args)

        op(schema, family="sampling", **_IN_PLACE)(kernel)
        return compute

    return declare


# ------------------------------------------------------------------------------------- Bernoulli distribution


def bernoulli_array(xp: Any, self: Array, p: Any, generator: Any) -> Array:
    """Fill `self` with Bernoulli samples of probability `p`, a number or an array of the same shape."""
    if self.dtype not in C_NAMES and math.prod(self.shape):
        common.raise_unsupported_dtype("bernoulli_scalar_cpu_", self.dtype)
    if xp.shapes_only:
        return self
    stream = source(xp, generator)
    if isinstance(p, (int, float)):
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        return fill(xp, self, lambda n: stream.doubles(n) < p)
    if common.CATEGORY_OF[p.dtype] != common.FLOATING:
        common.raise_unsupported_dtype("bernoulli_tensor_cpu_p_", p.dtype)
    if not bool(xp.all((p >= 0) & (p <= 1))):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  ")
    chance = _in_memory_order(xp, self, p)
    draw = stream.doubles if p.dtype == common.DOUBLE else stream.floats
    return fill(xp, self, lambda n: draw(n) < chance)


def _in_memory_order(xp: Any, self: Array, x: Array) -> Array:
    """Return the elements of `x`, broadcast and flattened in the memory order of `self`."""
    flat = xp.broadcast_to(x, self.shape).transpose(memory_order(self)).reshape(-1)
    return flat.astype(common.opmath(flat.dtype))


@op(f"aten::bernoulli(Tensor self, {_GENERATOR}) -> Tensor", nondeterministic=True, order="- out")
def _bernoulli(xp: Any, self: Array, generator: Any = None) -> Array:
    if common.CATEGORY_OF[self.dtype] != common.FLOATING:
        common.raise_unsupported_dtype("bernoulli_tensor_cpu_p_", self.dtype)
    return bernoulli_array(xp, xp.empty(self.shape, dtype=self.dtype), self, generator)


@op(
    f"aten::bernoulli.out(Tensor self, {_GENERATOR}, Tensor(a!) out) -> Tensor(a!)",
    variant="out",
    where="f",
    nondeterministic=True,
)
def _bernoulli_into(xp: Any, self: Array, generator: Any, out: Array) -> Array:
    """Write Bernoulli samples of probabilities `self` into `out` of any dtype."""
    if common.CATEGORY_OF[self.dtype] != common.FLOATING:
        common.raise_unsupported_dtype("bernoulli_tensor_cpu_p_", self.dtype)
    return write_out(
        xp, out, bernoulli_array(xp, xp.empty(self.shape, dtype=out.dtype), self, generator), SILENT
    )


@op(f"aten::bernoulli.p(Tensor self, float p, {_GENERATOR}) -> Tensor", nondeterministic=True)
def _bernoulli_p(xp: Any, self: Array, p: float, generator: Any = None) -> Array:
    return bernoulli_array(xp, xp.empty(self.shape, dtype=self.dtype), p, generator)


@in_place(f"aten::bernoulli_.Tensor(Tensor(a!) self, Tensor p, {_GENERATOR}) -> Tensor(a!)")
def _bernoulli_tensor(xp: Any, self: Array, p: Array, generator: Any = None) -> Array:
    if _broadcast_or_none(p.shape, self.shape) != tuple(self.shape):
        bad = next(
            (i for i in range(1, p.ndim + 1) if i <= self.ndim and p.shape[-i] not in (1, self.shape[-i])), 1
        )
        length = self.shape[-bad] if self.ndim else 1
        raise RuntimeError(
            f"The expanded size of the tensor ({length}) must match the existing size ({p.shape[-bad]}) at "
            f"non-singleton dimension {self.ndim - bad}.  Target sizes: {list(self.shape)}.  "
            f"Tensor sizes: {list(p.shape)}"
        )
    return bernoulli_array(xp, self, p, generator)


def _broadcast_or_none(a: Sequence[int], b: Sequence[int]) -> common.Shape | None:
    try:
        return common.broadcast_shapes(a, b)
    except RuntimeError:
        return None


@in_place(f"aten::bernoulli_.float(Tensor(a!) self, float p=0.5, {_GENERATOR}) -> Tensor(a!)")
def _bernoulli_number(xp: Any, self: Array, p: float = 0.5, generator: Any = None) -> Array:
    return bernoulli_array(xp, self, p, generator)


# --------------------------------------------------------------- uniform distributions of floats and integers


@in_place(f"aten::uniform_(Tensor(a!) self, float from=0., float to=1., {_GENERATOR}) -> Tensor(a!)")
def _uniform(xp: Any, self: Array, from_: float = 0, to: float = 1, generator: Any = None) -> Array:
    if self.dtype.kind == "f" or self.dtype in common.HALF_DTYPES:
        largest = dtypes.finfo(dtypes.from_numpy_dtype(self.dtype)).max
        for name, bound in (("from", from_), ("to", to)):
            if not abs(bound) <= largest:
                raise RuntimeError(f"{name} is out of bounds for {C_NAMES[self.dtype]}")
        if from_ > to:
            raise RuntimeError(
                f"uniform_ expects to return a [from, to) range, but found from={from_:g} > to={to:g}"
            )
        if to - from_ > largest:
            raise RuntimeError(
                f"uniform_ expects to-from <= std::numeric_limits<{common.NAME_OF[self.dtype]}>::max(), but "
                f"found to={to:g} and from={from_:g} which result in to-from to exceed the limit"
            )
    return fill_uniform(xp, self, generator, from_, to)


@in_place(f"aten::random_.from(Tensor(a!) self, int from, int? to, {_GENERATOR}) -> Tensor(a!)")
def _random_from(xp: Any, self: Array, from_: int, to: int | None, generator: Any = None) -> Array:
    if to is not None:
        return fill_integers(xp, self, generator, from_, to)
    low, span = _range_from(from_, self.dtype)
    stream = source(xp, generator)
    return fill(xp, self, lambda n: integer_samples(stream, n, low, span))


def _range_from(low: int, dtype: common.DType) -> tuple[int, int]:
    """Return the first integer >= `low` that `dtype` represents, and the number of integers in the range.

    The range begins at the first integer.

    For the full int64 range, return (0, 2**64), because samples wrap modulo 2**64.
    """
    if low == -(1 << 63):
        if dtype not in (common.INT64, common.DOUBLE, common.FLOAT) and not dtypes.is_bfloat16(dtype):
            raise RuntimeError(
                "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16"
            )
        return 0, 1 << 64
    if dtype in EXACT_BITS:
        largest = 1 << EXACT_BITS[dtype]
        low = round_inwards(low, 1, dtype)
        if low >= largest:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to "
                f"dtype, but got from={low} > to_inc={largest}"
            )
    else:
        largest = 1 if dtype == common.BOOL else int(np.iinfo(dtype).max)
    check_integer(low, "from", dtype)
    return low, largest - low + 1


@in_place(f"aten::random_.to(Tensor(a!) self, int to, {_GENERATOR}) -> Tensor(a!)")
def _random_to(xp: Any, self: Array, to: int, generator: Any = None) -> Array:
    return fill_integers(xp, self, generator, 0, to)


@in_place(f"aten::random_(Tensor(a!) self, {_GENERATOR}) -> Tensor(a!)")
def _random(xp: Any, self: Array, generator: Any = None) -> Array:
    """Fill `self` with uniform integers from 0 to n.

    n is the largest number such that the dtype of `self` represents all integers from 0 to n.
    """
    stream, dtype = source(xp, generator), self.dtype
    if dtype.kind == "c" and math.prod(self.shape):
        common.raise_unsupported_dtype("random_kernel_cpu", dtype)

    def draw(n: int) -> Array:
        words = stream.double_words(n) if dtype in (common.DOUBLE, common.INT64) else stream.words(n)
        if dtype in EXACT_BITS:
            span = (1 << EXACT_BITS[dtype]) + 1
        else:
            span = 2 if dtype == common.BOOL else int(np.iinfo(dtype).max) + 1
        return words % words.dtype.type(span)

    return fill(xp, self, draw)


# ----------------------------------------------------------------------------------- continuous distributions


def _check_continuous(self: Array, distribution: str, dtype: str) -> None:
    if common.category(self) != common.FLOATING:
        raise RuntimeError(
            f"{distribution} distribution is a continuous probability distribution. "
            f"dtype must be a floating point but you specified {dtype}"
        )


def exponential_array(xp: Any, self: Array, lambd: float, generator: Any) -> Array:
    """Fill a floating array with exponential samples."""
    stream = source(xp, generator)
    return fill(xp, self, lambda n: -xp.log1p(-stream.doubles(n)) / lambd)


@in_place(f"aten::exponential_(Tensor(a!) self, float lambd=1., {_GENERATOR}) -> Tensor(a!)")
def _exponential(xp: Any, self: Array, lambd: float = 1, generator: Any = None) -> Array:
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    if math.prod(self.shape):
        _check_continuous(self, "Exponential", common.NAME_OF[self.dtype])
    return exponential_array(xp, self, lambd, generator)


@in_place(f"aten::geometric_(Tensor(a!) self, float p, {_GENERATOR}) -> Tensor(a!)")
def _geometric(xp: Any, self: Array, p: float, generator: Any = None) -> Array:
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if self.dtype.kind in "bc" and math.prod(self.shape):
        common.raise_unsupported_dtype("geometric_cpu", self.dtype)
    stream = source(xp, generator)
    return fill(xp, self, lambda n: xp.ceil(xp.log(stream.doubles(n)) / math.log1p(-p)))


@in_place(f"aten::cauchy_(Tensor(a!) self, float median=0., float sigma=1., {_GENERATOR}) -> Tensor(a!)")
def _cauchy(xp: Any, self: Array, median: float = 0, sigma: float = 1, generator: Any = None) -> Array:
    _check_continuous(self, "Cauchy", C_NAMES.get(self.dtype, common.NAME_OF[self.dtype]))
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    stream = source(xp, generator)
    return fill(xp, self, lambda n: median + sigma * xp.tan(math.pi * (stream.doubles(n) - 0.5)))


@in_place(f"aten::log_normal_(Tensor(a!) self, float mean=1., float std=2., {_GENERATOR}) -> Tensor(a!)")
def _log_normal(xp: Any, self: Array, mean: float = 1, std: float = 2, generator: Any = None) -> Array:
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if math.prod(self.shape) and (common.category(self) != common.FLOATING or self.dtype.kind == "c"):
        common.raise_unsupported_dtype("log_normal_cpu", self.dtype)
    stream = source(xp, generator)
    return fill(xp, self, lambda n: xp.exp(stream.normals(n) * std + mean))


# --------------------------------------------------------------------------------------- normal distributions


@in_place(f"aten::normal_(Tensor(a!) self, float mean=0., float std=1., {_GENERATOR}) -> Tensor(a!)")
def _normal_in_place(xp: Any, self: Array, mean: float = 0, std: float = 1, generator: Any = None) -> Array:
    _check_deviation(std)
    return fill_normal(xp, self, generator, mean, std)


def _check_deviation(std: float) -> None:
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")


def _check_deviations(xp: Any, std: Array) -> None:
    if std.dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if common.is_any_true(xp, ~(std >= 0)):
        raise RuntimeError("normal expects all elements of std >= 0.0")


_TENSORS: dict[str, Any] = {"where": "f", "nondeterministic": True}


@op(
    f"aten::normal.Tensor_float(Tensor mean, float std=1., {_GENERATOR}) -> Tensor",
    out="Tensor_float_out",
    order="Tensor_float Tensor_float_out float_Tensor_out float_Tensor Tensor_Tensor Tensor_Tensor_out",
    **_TENSORS,
)
def _normal_tensor_float(xp: Any, mean: Array, std: float = 1, generator: Any = None) -> Array:
    _check_deviation(std)
    noise = fill_normal(xp, xp.empty(mean.shape, dtype=mean.dtype), generator, 0, std)
    return common.cast(xp, noise + mean, mean.dtype)


@op(
    f"aten::normal.float_Tensor(float mean, Tensor std, {_GENERATOR}) -> Tensor",
    out="float_Tensor_out",
    **_TENSORS,
)
def _normal_float_tensor(xp: Any, mean: float, std: Array, generator: Any = None) -> Array:
    _check_deviations(xp, std)
    return _scale_and_shift(xp, xp.empty(std.shape, dtype=std.dtype), mean, std, generator)


@op(
    f"aten::normal.Tensor_Tensor(Tensor mean, Tensor std, {_GENERATOR}) -> Tensor",
    out="Tensor_Tensor_out",
    **_TENSORS,
)
def _normal_tensors(xp: Any, mean: Array, std: Array, generator: Any = None) -> Array:
    _check_deviations(xp, std)
    shape = common.broadcast_shapes(mean.shape, std.shape)
    return _scale_and_shift(xp, xp.empty(shape, dtype=mean.dtype), mean, std, generator)


def _scale_and_shift(xp: Any, output: Array, mean: Any, std: Array, generator: Any) -> Array:
    """Return standard normal numbers * `std` + `mean`. The product and the sum are rounded to the dtype."""
    dtype = output.dtype
    scaled = common.cast(xp, fill_normal(xp, output, generator) * common.cast(xp, std, dtype), dtype)
    return common.cast(xp, scaled + common.cast(xp, mean, dtype), dtype)


@op(
    f"aten::normal.float_float(float mean, float std, SymInt[] size, {_GENERATOR}, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    **_TENSORS,
)
def _normal_floats(
    xp: Any,
    mean: float,
    std: float,
    size: Sequence[int],
    generator: Any = None,
    dtype: int | None = None,
    *_: Any,
) -> Array:
    output = xp.empty(common.check_sizes(size), dtype=common.dtype_from(dtype))
    return _normal_in_place(xp, output, mean, std, generator)


@op(
    f"aten::normal.float_float_out(float mean, float std, SymInt[] size, {_GENERATOR}, Tensor(a!) out) -> "
    "Tensor(a!)",
    variant="out",
    **_TENSORS,
)
def _normal_floats_out(
    xp: Any, mean: float, std: float, size: Sequence[int], generator: Any, out: Array
) -> Array:
    samples = xp.empty(common.check_sizes(size), dtype=out.dtype)
    return write_out(xp, out, _normal_in_place(xp, samples, mean, std, generator), SILENT)


# --------------------------------------------------------------- discrete and rejection-sampled distributions


def _fill_from_host(xp: Any, output: Array, draw: Callable[..., NDArray[Any]], *parameters: Array) -> Array:
    """Fill `output` in memory order with the numbers that `draw` returns for float64 parameters."""
    if xp.shapes_only:
        return output
    wide = [xp.to_host(_in_memory_order(xp, output, p)).astype(np.float64) for p in parameters]
    return fill(xp, output, lambda n: draw(*wide))


@op("aten::poisson(Tensor self, Generator? generator=None) -> Tensor", **_TENSORS, **COPIED_OUT)
def _poisson(xp: Any, self: Array, generator: Any = None) -> Array:
    if common.category(self) != common.FLOATING:
        common.raise_unsupported_dtype("poisson_cpu", self.dtype)
    if common.is_any_true(xp, ~(self >= 0)):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    output = xp.empty(self.shape, dtype=self.dtype)
    return _fill_from_host(xp, output, on_host(source(xp, generator)).poisson, self)


@op(
    "aten::binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", **_TENSORS, **COPIED_OUT
)
def _binomial(xp: Any, count: Array, prob: Array, generator: Any = None) -> Array:
    for name, x in (("count", count), ("prob", prob)):
        if common.category(x) != common.FLOATING:
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {common.NAME_OF[x.dtype]}"
            )
    if count.dtype != prob.dtype:
        raise RuntimeError(
            f"Found dtype {common.NAME_OF[prob.dtype]} but expected {common.NAME_OF[count.dtype]}"
        )
    if count.dtype.itemsize == 2:
        common.raise_unsupported_dtype("binomial_cpu", count.dtype)
    output = xp.empty(common.broadcast_shapes(count.shape, prob.shape), dtype=count.dtype)
    return _fill_from_host(xp, output, on_host(source(xp, generator)).binomial, count, prob)


@op("aten::_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", **_TENSORS, **COPIED_OUT)
def _standard_gamma(xp: Any, self: Array, generator: Any = None) -> Array:
    if self.dtype not in (common.FLOAT, common.DOUBLE):
        common.raise_unsupported_dtype("gamma_cpu", self.dtype)
    tiny = np.finfo(self.dtype).tiny
    stream = on_host(source(xp, generator))
    output = xp.empty(self.shape, dtype=self.dtype)
    return _fill_from_host(xp, output, lambda a: np.maximum(stream.gamma(a), tiny), self)


@op("aten::_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor", **_TENSORS, **COPIED_OUT)
def _sample_dirichlet(xp: Any, self: Array, generator: Any = None) -> Array:
    if self.dtype not in (common.FLOAT, common.DOUBLE):
        common.raise_unsupported_dtype("dirichlet", self.dtype)
    info = np.finfo(self.dtype)
    drawn = _fill_from_host(
        xp, xp.empty(self.shape, dtype=common.DOUBLE), on_host(source(xp, generator)).gamma, self
    )
    # For small parameters, all gamma samples of a row may be 0. The lower bound avoids the quotient 0 / 0
    # below.
    drawn = xp.maximum(drawn, np.finfo(common.DOUBLE).tiny)
    shares = drawn / xp.sum(drawn, axis=-1, keepdims=True) if self.ndim else drawn / drawn
    return common.cast(xp, xp.clip(shares, info.tiny, 1 - info.epsneg), self.dtype)


# ------------------------------------------------------------------------ fill operators that `nn.init` calls


@op("aten::_no_grad_fill_(Tensor(a!) tensor, float val) -> Tensor(a!)", **_INIT)
def _no_grad_fill(xp: Any, tensor: Array, val: float) -> Array:
    tensor[...] = common.cast_checked(xp, val, tensor.dtype)
    return tensor


@op("aten::_no_grad_zero_(Tensor(a!) tensor) -> Tensor(a!)", **_INIT)
def _no_grad_zero(xp: Any, tensor: Array) -> Array:
    tensor[...] = 0
    return tensor


@op(
    "aten::_no_grad_uniform_(Tensor(a!) tensor, float a, float b, Generator? generator=None) -> Tensor(a!)",
    nondeterministic=True,
    **_INIT,
)
def _no_grad_uniform(xp: Any, tensor: Array, a: float, b: float, generator: Any = None) -> Array:
    return _uniform(xp, tensor, a, b, generator)


@op(
    "aten::_no_grad_normal_(Tensor(a!) tensor, float mean, float std, Generator? generator=None) -> "
    "Tensor(a!)",
    nondeterministic=True,
    **_INIT,
)
def _no_grad_normal(xp: Any, tensor: Array, mean: float, std: float, generator: Any = None) -> Array:
    return _normal_in_place(xp, tensor, mean, std, generator)


# ---------------------------------------------------------------------------------------- multinomial


@op(
    f"aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, {_GENERATOR}) -> Tensor",
    out="out",
    out_dtype_error="multinomial expects Long tensor out, got: {got}",
    nondeterministic=True,
    layout="contiguous",
)
def _multinomial(
    xp: Any, self: Array, num_samples: int, replacement: bool = False, generator: Any = None
) -> Array:
    if self.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if common.category(self) != common.FLOATING:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {common.NAME_OF[self.dtype]}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > self.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if self.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    shape = (*self.shape[:-1], num_samples)
    if xp.shapes_only or 0 in self.shape:
        return xp.empty(shape, dtype=common.INT64)
    weights = xp.atleast_2d(self)
    if not bool(xp.all(xp.isfinite(weights) & (weights >= 0))):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not bool(xp.all(xp.sum(weights.astype(common.DOUBLE), -1) > 0)):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    pick = _with_replacement if replacement and num_samples > 1 else _without_replacement
    return xp.asarray(pick(xp, weights, num_samples, generator)).reshape(shape)


def _without_replacement(xp: Any, weights: Array, count: int, generator: Any) -> Array:
    """Sample without replacement by the largest quotients weight / exponential sample (Gumbel-max trick)."""
    times = exponential_array(xp, xp.empty(weights.shape, dtype=weights.dtype), 1, generator)
    rates = common.cast(xp, weights / times, weights.dtype)
    if count == 1:
        return xp.argmax(rates, -1)
    return xp.argsort(-rates, -1, kind="stable")[:, :count]


def _with_replacement(xp: Any, weights: Array, count: int, generator: Any) -> Array:
    """Sample with replacement by binary search in the cumulative weights (inverse transform sampling)."""
    work = weights.astype(common.opmath(weights.dtype))
    bounds = xp.cumsum(work, -1, dtype=work.dtype)
    bounds = (bounds / bounds[:, -1:]).astype(common.DOUBLE)
    draws = source(xp, generator).doubles(len(bounds) * count).reshape(-1, count)
    return xp.stack([xp.searchsorted(b, u, side="left") for b, u in zip(bounds, draws, strict=True)])
