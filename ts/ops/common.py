"""Rules shared by operators (broadcasting, type promotion, dimensions, reductions, casts).

Input: arrays of any backend. Output: NumPy dtypes, shapes or wrapped dimensions. Errors are those of PyTorch.

>>> wrap_dim(-1, 3)
2

Promotion has three groups of operands: tensors with dimensions (highest), 0-dim tensors, Python numbers. The
categories of dtypes are bool < int < float < complex. An operand of a lower group changes the result dtype
only if its category is higher. The width of its dtype is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, NoReturn

import numpy as np

from ts import dtypes
from ts._core.tensor import conversions, factories, size_guards

Array = Any  # array class of the backend: numpy.ndarray, cupy.ndarray or MetaArray
DType = np.dtype[Any]
Shape = tuple[int, ...]

BOOL: DType = dtypes.bool_.numpy_dtype
UINT8: DType = dtypes.uint8.numpy_dtype
UINT64: DType = dtypes.uint64.numpy_dtype
INT32: DType = dtypes.int32.numpy_dtype
INT64: DType = dtypes.int64.numpy_dtype
HALF: DType = dtypes.float16.numpy_dtype
FLOAT: DType = dtypes.float32.numpy_dtype
DOUBLE: DType = dtypes.float64.numpy_dtype
CFLOAT: DType = dtypes.complex64.numpy_dtype
CDOUBLE: DType = dtypes.complex128.numpy_dtype

# NumPy dtype -> ScalarType number, name in PyTorch, name in C++, or category
CODE_OF: dict[DType, int] = {}
NAME_OF: dict[DType, str] = {}
CPP_NAME_OF: dict[DType, str] = {}  # error texts of PyTorch's kernels contain these names
CATEGORY_OF: dict[DType, int] = {}
BOOLEAN, INTEGRAL, FLOATING, COMPLEX = range(4)
INT64_MAX = (1 << 63) - 1
HALF_DTYPES: set[DType] = set()  # 16-bit floats: float16, and bfloat16 after its first use


def _enter_dtype(d: dtypes.dtype, numpy_dtype: DType) -> None:
    CODE_OF[numpy_dtype], NAME_OF[numpy_dtype], CATEGORY_OF[numpy_dtype] = d.code, d.type_name, d.category
    CPP_NAME_OF[numpy_dtype] = d.cpp_names[1]
    if d.kernel_set == dtypes.UPCAST:
        HALF_DTYPES.add(numpy_dtype)


dtypes.for_each_dtype(_enter_dtype)


def default_dtype() -> DType:
    """Return the floating dtype that integers are promoted to and that creation functions use."""
    return dtypes.get_default_dtype().numpy_dtype


def dtype_from(code: int | None, default: DType | None = None) -> DType:
    """Return the NumPy dtype for `code`, the ScalarType number of a dtype in PyTorch.

    If `code` is None, return `default`. If both are None, return the default dtype.
    """
    if code is None:
        return default_dtype() if default is None else default
    dtype = dtypes.BY_CODE.get(int(code))
    if dtype is None:
        raise RuntimeError(f"{code} is not the code of a dtype")
    return dtype.numpy_dtype


def category(x: Any) -> int:
    """Return the category (BOOLEAN, INTEGRAL, FLOATING or COMPLEX) of an array, a dtype or a number."""
    if isinstance(x, bool):
        return BOOLEAN
    if isinstance(x, int):
        return INTEGRAL
    if isinstance(x, float):
        return FLOATING
    if isinstance(x, complex):
        return COMPLEX
    return CATEGORY_OF[x if isinstance(x, np.dtype) else x.dtype]


def number_dtype(x: complex) -> DType:
    """Return the dtype of a Python number: int64, bool, or the default floating or complex dtype."""
    kind = category(x)
    if kind == FLOATING:
        return default_dtype()
    if kind == COMPLEX:
        return complex_dtype(default_dtype())
    return INT64 if kind == INTEGRAL else BOOL


def is_complex(dtype: DType) -> bool:
    """Return whether a dtype is complex. This includes dtypes of `ml_dtypes`, whose NumPy kind is not "c"."""
    return CATEGORY_OF[dtype] == COMPLEX


def complex_dtype(dtype: DType) -> DType:
    """Return the complex dtype whose parts have dtype `dtype`, or `dtype` itself if it is complex.

    For integers and bools, return the default complex dtype.
    """
    return dtypes.from_numpy_dtype(float_dtype(dtype)).to_complex().numpy_dtype


def real_dtype(dtype: DType) -> DType:
    """Return the dtype of the real and imaginary parts of `dtype`, or `dtype` itself if it is not complex."""
    return dtypes.from_numpy_dtype(dtype).to_real().numpy_dtype


def float_dtype(dtype: DType) -> DType:
    """Return `dtype` if it is floating or complex, else the default dtype."""
    return dtype if CATEGORY_OF[dtype] >= FLOATING else default_dtype()


_promoted: dict[tuple[DType, DType], DType] = {}


def promote_types(a: DType, b: DType) -> DType:
    """Return the dtype to which PyTorch promotes two dtypes."""
    if a == b:
        return a
    promoted = _promoted.get((a, b))
    if promoted is None:
        common = dtypes.promote(dtypes.from_numpy_dtype(a), dtypes.from_numpy_dtype(b))
        promoted = _promoted[a, b] = _promoted[b, a] = common.numpy_dtype
    return promoted


def _combine(high: DType | None, low: DType | None) -> DType | None:
    """Promote the dtype `high` of one group of operands and the dtype `low` of a lower group.

    The module docstring defines the groups.
    """
    if high is None or low is None:
        return high or low
    kh, kl = CATEGORY_OF[high], CATEGORY_OF[low]
    if kh >= kl:
        return high
    if kh == FLOATING:
        return complex_dtype(high)
    return promote_types(high, low)


def result_type(*operands: Any) -> DType:
    """Return the dtype of `operands` (arrays and Python numbers) after type promotion."""
    dim: DType | None = None
    zero: DType | None = None
    scalar: DType | None = None
    for x in operands:
        if x is None:
            continue
        if isinstance(x, (int, float, complex)):
            d = number_dtype(x)
            scalar = d if scalar is None else promote_types(scalar, d)
        elif x.ndim:
            dim = x.dtype if dim is None else promote_types(dim, x.dtype)
        else:
            zero = x.dtype if zero is None else promote_types(zero, x.dtype)
    result = _combine(dim, _combine(zero, scalar))
    assert result is not None, "result_type needs an operand"
    return result


def can_cast(source: DType, target: DType) -> bool:
    """Return whether a result of dtype `source` may be written to a tensor of dtype `target`.

    In-place operators and `out=` arguments write such results. A cast to a lower category, such as from float
    to int, is not allowed.
    """
    a, b = CATEGORY_OF[source], CATEGORY_OF[target]
    if a == COMPLEX:
        return b == COMPLEX
    if a == FLOATING:
        return b >= FLOATING
    return b != BOOLEAN or a == BOOLEAN


def check_cast(source: DType, target: DType) -> None:
    """Raise RuntimeError if in-place and `out=` writes may not cast `source` to `target`."""
    if not can_cast(source, target):
        raise RuntimeError(
            f"result type {NAME_OF[source]} can't be cast to the desired output type {NAME_OF[target]}"
        )


def cast(xp: Any, x: Any, dtype: DType) -> Array:
    """Cast `x` (array or number) to an array of `dtype`.

    Integers wrap and fractions are truncated, as in C.
    """
    if isinstance(x, (int, float, complex)):
        if isinstance(x, complex) and CATEGORY_OF[dtype] != COMPLEX:
            x = x.real
        if isinstance(x, int) and not -(1 << 63) <= x < 1 << 63:
            x = x & 0xFFFFFFFFFFFFFFFF
        array = np.asarray(x)
        narrow = dtypes.is_narrow(dtype)
        return xp.asarray(conversions.cast_elements(array, dtype) if narrow else array.astype(dtype))
    if x.dtype == dtype:
        return x
    return conversions.cast_elements(x, dtype)


def cast_checked(xp: Any, x: Any, dtype: DType) -> Array:
    """Cast like `cast`, but raise RuntimeError for a number outside of the dtype's range."""
    return cast(xp, check_number(x, dtype), dtype)


def check_factor(dtype: DType, factor: Any, name: str) -> None:
    """Raise RuntimeError if a factor (`alpha`, `beta`) has a higher category than `dtype`."""
    if isinstance(factor, bool) and dtype != BOOL:
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if isinstance(factor, float | complex) and CATEGORY_OF[dtype] < FLOATING:
        raise RuntimeError(
            f"For integral input tensors, argument {name} must not be a floating point number."
        )
    if isinstance(factor, complex) and CATEGORY_OF[dtype] != COMPLEX:
        raise RuntimeError(f"For non-complex input tensors, argument {name} must not be a complex number.")


def check_number(x: Any, dtype: DType) -> Any:
    """Return `x` unchanged. Raise RuntimeError if `x` is a Python number that `dtype` cannot represent."""
    if not isinstance(x, (int, float, complex)):
        return x
    floating = CATEGORY_OF[dtype] >= FLOATING
    if dtype.itemsize == 1 and floating:
        return factories.checked_number(x, dtypes.from_numpy_dtype(dtype))
    if not isinstance(x, complex) and (0 <= x <= 127 or (floating and -60000 <= x <= 60000)):
        return x  # in the range of every dtype, or of every floating dtype of 2 or more bytes
    return factories.checked_number(x, dtypes.from_numpy_dtype(dtype))


def opmath(dtype: DType) -> DType:
    """Return the computation dtype: float32 for 16-bit floats."""
    return FLOAT if dtype in HALF_DTYPES else dtype


def accumulate_dtype(dtype: DType) -> DType:
    """Return the result dtype of a sum or product: int64 for integers and bools, else `dtype`."""
    return INT64 if CATEGORY_OF[dtype] <= INTEGRAL else dtype


def dtype_message(template: str, expected: DType, actual: DType) -> str:
    """Insert dtype names into `template`.

    {want} and {got} are PyTorch's names of `expected` and `actual`, {want_cpp} and {got_cpp} their C++ names.
    """
    return template.format(
        want=NAME_OF[expected],
        got=NAME_OF[actual],
        want_cpp=CPP_NAME_OF[expected],
        got_cpp=CPP_NAME_OF[actual],
    )


_LEGACY_DTYPES: Final = frozenset(
    d.numpy_dtype
    for d in (
        dtypes.float32, dtypes.float64, dtypes.float16, dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32,
        dtypes.int64,
    )
)  # fmt: skip


def legacy_type_name(x: Array) -> str:
    """Return PyTorch's name of the tensor type in some error messages, such as `torch.FloatTensor`.

    The names of bool, bfloat16 and complex tensors have another form, such as `CPUBoolType`.
    """
    name = NAME_OF[x.dtype]
    has_class = x.dtype in _LEGACY_DTYPES
    return f"torch.{name}Tensor" if has_class else f"CPU{name}Type"


def raise_unsupported_dtype(name: str, dtype: DType) -> NoReturn:
    """Raise PyTorch's error for an operator without a kernel for `dtype`."""
    raise NotImplementedError(f"\"{name}\" not implemented for '{NAME_OF[dtype]}'")


def check_factorised(name: str, *operands: Array) -> None:
    """Raise NotImplementedError if LAPACK has no routine for the dtype of an operand.

    These dtypes are all except 32-bit and 64-bit floats and their complex dtypes. `name` is PyTorch's name of
    the kernel.
    """
    for x in operands:
        if x.dtype not in (FLOAT, DOUBLE, CFLOAT, CDOUBLE):
            raise_unsupported_dtype(name, x.dtype)


# -------------------------------------------------------------------------------------- shapes and dimensions


def broadcast_shapes(*shapes: Sequence[int]) -> Shape:
    """Return the shape after broadcasting, or raise PyTorch's error, which names the mismatched dimension."""
    if not shapes:
        return ()
    result = tuple(shapes[0])
    for shape in shapes[1:]:
        result = _broadcast2(result, tuple(shape))
    return result


def _broadcast2(a: Shape, b: Shape) -> Shape:
    if all(type(n) is int for n in a) and (a == b or not b):
        return a
    n = max(len(a), len(b))
    wide_a, wide_b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    for i, (x, y) in reversed(list(enumerate(zip(wide_a, wide_b, strict=True)))):
        if not (x is y or size_guards.known_one(x) or size_guards.known_one(y) or size_guards.equal(x, y)):
            raise RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton "
                f"dimension {i}"
            )
    return tuple(y if size_guards.known_one(x) else x for x, y in zip(wide_a, wide_b, strict=True))


def shape_of(x: Any) -> Shape:
    """Return the shape of an array, () for numbers."""
    return () if isinstance(x, (int, float, complex)) else tuple(x.shape)


def wrap_dim(dim: int, ndim: int) -> int:
    """Return `dim` as a nonnegative index. A 0-dim tensor is treated as 1-dim."""
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim + n if dim < 0 else dim


def wrap_dims(dims: int | Iterable[int] | None, ndim: int) -> tuple[int, ...]:
    """Return distinct nonnegative reduction dimensions. None and [] mean all dimensions."""
    if dims is None:
        return tuple(range(ndim))
    if isinstance(dims, int):
        dims = (dims,)
    wrapped = [wrap_dim(d, ndim) for d in dims]
    if not wrapped:
        return tuple(range(ndim))
    for i, d in enumerate(wrapped):
        if d in wrapped[:i]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return tuple(wrapped) if ndim else ()


def reduced_shape(shape: Sequence[int], dims: Sequence[int], keepdim: bool) -> Shape:
    """Return `shape` without the dimensions `dims`. If `keepdim`, keep these dimensions with size 1."""
    if keepdim:
        return tuple(1 if i in dims else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in dims)


def check_sizes(shape: Sequence[int]) -> Shape:
    """Return `shape` as a tuple of sizes, or raise RuntimeError for a negative size."""
    lengths = size_guards.shape(shape)
    if any(n < 0 for n in lengths):
        bad = next(n for n in lengths if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {bad}: {list(lengths)}")
    return lengths


def check_storage(shape: Sequence[int], dtype: DType) -> None:
    """Raise RuntimeError on integer overflow of the storage size in bytes (int64)."""
    if math.prod(shape) * dtype.itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")


def diagonal_within(diagonal: int, rows: int, columns: int) -> int:
    """Clamp a diagonal offset to the range from -rows to columns. The diagonals at both limits are empty."""
    return max(-rows, min(diagonal, columns))


def infer_size(size: Sequence[int], numel: int) -> Shape:
    """Return `size` with -1 replaced by the size with which a tensor has `numel` elements."""
    shape = list(size_guards.shape(size))
    unknown = [i for i, n in enumerate(shape) if size_guards.is_provably_equal(n, -1)]
    if len(unknown) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if any(n < -1 for n in shape):
        at = next(i for i, n in enumerate(shape) if n < -1)
        raise RuntimeError(f"invalid shape dimension {shape[at]} at index {at} of shape {shape}")
    for n in shape:
        size_guards.check_length(n)
    size_product = size_guards.product(n for i, n in enumerate(shape) if i not in unknown)
    if unknown:
        if size_guards.known_zero(size_product) and size_guards.known_zero(numel):
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {shape} because the unspecified dimension "
                f"size -1 can be any value and is ambiguous"
            )
        if not (size_guards.hinted(size_product) and size_guards.hinted(numel)):
            _require_multiple(numel, size_product)
            shape[unknown[0]] = numel // size_product
            size_product = numel
        elif not size_guards.known_zero(size_product) and size_guards.equal(
            numel // size_product * size_product, numel
        ):
            shape[unknown[0]] = numel // size_product
            size_product = numel
    if not size_guards.equal(size_product, numel):
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {numel}")
    return tuple(shape)


def _require_multiple(numel: Any, size_product: Any) -> None:
    """Record the constraint that `numel` is a multiple of `size_product`, the product of the given sizes.

    The function is for symbolic sizes: it cannot check the constraint if one of the numbers is
    data-dependent.
    """
    if size_guards.known_one(size_product) or size_guards.is_provably_equal(numel, size_product):
        return
    if size_guards.is_symbol(size_product):
        size_guards.require(size_product != 0)
    size_guards.require(numel % size_product == 0)
    product = size_product * (numel // size_product)
    size_guards.require_noted(numel == product if size_guards.is_symbol(numel) else product == numel)


def extremes(xp: Any, x: Array) -> tuple[int, int] | None:
    """Return (minimum, maximum) of an index array, or None if it is empty or on the meta device."""
    return None if xp.shapes_only or not x.size else (int(x.min()), int(x.max()))


def index_bounds(xp: Any, index: Array, low: int, high: int) -> tuple[int, int] | None:
    """Return (minimum, maximum) of an index array for which the caller checks `low <= index < high`.

    Return None if there is nothing to check, or if the device checks the indices (`xp.check_indices`).
    """
    if xp.check_indices is None:
        return extremes(xp, index)
    xp.check_indices(index, low, high)
    return None


def copy_indices(index: Array) -> Array:
    """Return a copy of indices, counts or a mask. The caller validates the copy and then uses it.

    Another thread could change the original between validation and use (TOCTOU, time-of-check race).
    """
    return index.copy()


def mask_among_indices(self: Any, indices: Sequence[Any], *_: Any) -> Any:
    """Return the index tensor of dtype bool or uint8 in `indices`.

    Return None if `indices` contains no such tensor, or more than one.
    """
    masks = [x for x in indices if x is not None and x.dtype in (dtypes.bool_, dtypes.uint8)]
    return masks[0] if len(masks) == 1 else None


def is_any_true(xp: Any, mask: Array) -> bool:
    """Return whether any mask element is true. Return False for arrays without data (meta device)."""
    return not xp.shapes_only and bool(xp.any(mask))


def number_in(xp: Any, x: Array) -> Any:
    """Return a 0-dim array's value. On the meta device, return zero in the array's dtype category."""
    return (False, 0, 0.0, 0j)[category(x)] if xp.shapes_only else x.item()
