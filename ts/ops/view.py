"""View operators, whose results share memory with their argument if strides allow.

Input: an array, and a shape, dimensions or a range. Output: a NumPy view. For a shape that requires a copy,
`reshape` copies and `view` raises an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts._core.tensor import size_guards, storage
from ts.ops import common
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import ITEM

Array = common.Array
_NARROW_DTYPE_ERROR = (
    "Expected self.dtype() == output.dtype() to be true, but got false.  (Could this error message be "
    "improved?  If so, please report an enhancement request to PyTorch.)"
)


def view_kernel(xp: Any, self: Array, size: Sequence[int]) -> Array:
    """Return a view of shape `size`. Raise PyTorch's error if the shape needs a copy."""
    shape = common.infer_size(size, self.size)
    if self.flags.c_contiguous:
        return self.reshape(shape)
    try:
        return self.reshape(shape, copy=False)
    except (ValueError, AttributeError, TypeError):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension "
            "spans across two contiguous subspaces). Use .reshape(...) instead."
        ) from None


@op("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", loop="view")
def _view(xp: Any, self: Array, size: Sequence[int]) -> Array:
    return view_kernel(xp, self, size)


@op("aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", where="m", detaches_view=True)
def _view_dtype(xp: Any, self: Array, dtype: int) -> Array:
    target = common.dtype_from(dtype)
    if self.ndim == 0 and target.itemsize != self.dtype.itemsize:
        raise RuntimeError(
            f"self.dim() cannot be 0 to view {common.NAME_OF[self.dtype]} as {common.NAME_OF[target]} "
            f"(different element sizes)"
        )
    return storage.strided(self, *_reinterpreted_layout(self, target), storage.offset(self), target)


def _reinterpreted_layout(self: Array, target: common.DType) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides after reinterpreting the bytes as dtype `target`."""
    have, want = self.dtype.itemsize, target.itemsize
    if have == want:
        return self.shape, self.strides
    purpose = f"to view {common.NAME_OF[self.dtype]} as {common.NAME_OF[target]} (different element sizes)"
    if self.strides[-1] != have and self.shape[-1] != 1 and self.size:
        raise RuntimeError(f"self.stride(-1) must be 1 {purpose}, but got {self.strides[-1] // have}")
    ratio = want // have
    if want > have:
        if self.shape[-1] % ratio:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {ratio} {purpose}, but got {self.shape[-1]}"
            )
        if storage.offset(self) % want:
            raise RuntimeError(
                f"self.storage_offset() must be divisible by {ratio} {purpose}, but got "
                f"{storage.offset(self) // have}"
            )
        for i, step in enumerate(self.strides[:-1]):
            if step % want:
                raise RuntimeError(
                    f"self.stride({i}) must be divisible by {ratio} {purpose}, but got {step // have}"
                )
    return (*self.shape[:-1], self.shape[-1] * have // want), (*self.strides[:-1], want)


@op(
    "aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
    loop="reshape",
    sparse="view_ops.raise_reshape_unsupported",
    view_if_possible=True,
)
def _reshape(xp: Any, self: Array, shape: Sequence[int]) -> Array:
    return self.reshape(common.infer_size(shape, self.size))


@op("aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", where="m")
@op("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", where="m", view_if_possible=True)
def _view_as(xp: Any, self: Array, other: Array) -> Array:
    return self.reshape(common.infer_size(other.shape, self.size))


def _check_addressable(shape: Sequence[int], itemsize: int) -> None:
    """Raise a RuntimeError if a shape has more elements or bytes than a NumPy array can have."""
    if any(type(n) is not int for n in shape) or 0 in shape:
        return
    count = math.prod(shape)
    if count >= 1 << 63:
        raise RuntimeError("numel: integer multiplication overflow")
    if count * itemsize >= 1 << 63:
        raise RuntimeError(
            f"expand: {count} elements of {itemsize} bytes are more than a NumPy array can have, which are "
            "2**63 - 1 bytes"
        )


def expand_kernel(xp: Any, self: Array, size: Sequence[int]) -> Array:
    """Expand size-1 dimensions and add leading dimensions without a copy.

    Size -1 keeps the size of a dimension.
    """
    sizes = list(size_guards.shape(size))
    extra = len(sizes) - self.ndim
    if extra < 0:
        raise RuntimeError(
            f"expand(torch.{common.NAME_OF[self.dtype]}Tensor{{{list(self.shape)}}}, size={sizes}): the "
            f"number of sizes provided ({len(sizes)}) must be greater or equal to the number of dimensions "
            f"in the tensor ({self.ndim})"
        )
    shape: list[Any] = []
    for i, n in reversed(list(enumerate(sizes))):  # PyTorch reports the last dimension that does not match
        have = self.shape[i - extra] if i >= extra else 1
        if size_guards.is_provably_equal(n, -1):
            if i < extra:
                raise RuntimeError(
                    f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing "
                    f"dimension {i}"
                )
            n = have
        if not size_guards.known_one(have) and not size_guards.equal(have, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
                f"non-singleton dimension {i}.  Target sizes: {sizes}.  Tensor sizes: {list(self.shape)}"
            )
        shape.insert(0, n)
    if any(n < 0 for n in shape):
        raise RuntimeError(f"numel: integer multiplication overflow. The sizes {sizes} are negative")
    _check_addressable(shape, self.dtype.itemsize)
    return storage.with_strides(self, tuple(shape), _expanded_strides(self, shape))


def _expanded_strides(self: Array, shape: Sequence[Any]) -> tuple[Any, ...]:
    """Return the strides of a view of `self` that is expanded to `shape`.

    A new dimension of size 1 has the stride that `unsqueeze` would give it. As in PyTorch, all strides of an
    expanded 0-dim tensor are zero.
    """
    extra = len(shape) - self.ndim
    if self.ndim == 0:
        return tuple([0] * extra)
    strides: list[Any] = []
    for i in reversed(range(len(shape))):
        if i >= extra:
            is_repeated = size_guards.known_one(self.shape[i - extra]) and not size_guards.known_one(shape[i])
            strides.insert(0, 0 if is_repeated else self.strides[i - extra])
        else:
            strides.insert(0, shape[i + 1] * strides[0] if size_guards.known_one(shape[i]) else 0)
    return tuple(strides)


@op(
    "aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
    where="m",
    loop="expand",
    sparse="view_ops.raise_expand_unsupported",
)
def _expand(xp: Any, self: Array, size: Sequence[int], implicit: bool = False) -> Array:
    return expand_kernel(xp, self, size)


@op("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)")
def _broadcast_to(xp: Any, self: Array, size: Sequence[int]) -> Array:
    return expand_kernel(xp, self, size)


@op("aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", where="m")
def _expand_as(xp: Any, self: Array, other: Array) -> Array:
    return expand_kernel(xp, self, other.shape)


@op("aten::squeeze(Tensor(a) self) -> Tensor(a)", inplace=True, loop="squeeze", rank_by_sizes=True)
def _squeeze(xp: Any, self: Array) -> Array:
    return xp.squeeze(self)


@op(
    "aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", inplace=True, loop="squeeze_dim",
    rank_by_sizes=True, graph_autodiff=True,
)  # fmt: skip
@op("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", inplace=True, rank_by_sizes=True)
def _squeeze_dim(xp: Any, self: Array, dim: int | Sequence[int]) -> Array:
    axes = common.wrap_dims(dim, self.ndim) if not isinstance(dim, Sequence) or dim else ()
    return self.reshape([n for i, n in enumerate(self.shape) if not (i in axes and size_guards.known_one(n))])


@op(
    "aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    inplace=True,
    loop="unsqueeze",
    view_input=True,
    sparse="view_ops.unsqueeze",
    copies_sizes=True,
)
def _unsqueeze(xp: Any, self: Array, dim: int) -> Array:
    return unsqueeze_axis(self, common.wrap_dim(dim, self.ndim + 1))


def unsqueeze_axis(self: Array, axis: int) -> Array:
    """Return a view with a new size-1 dimension at index `axis`.

    The dimension has the same stride as in PyTorch.
    """
    shape, steps = tuple(self.shape), tuple(self.strides)
    step = shape[axis] * steps[axis] if axis < self.ndim else self.dtype.itemsize
    return storage.strided(
        self,
        (*shape[:axis], 1, *shape[axis:]),
        (*steps[:axis], step, *steps[axis:]),
        storage.offset(self),
    )


def flatten_kernel(self: Array, start_dim: int, end_dim: int) -> Array:
    """Merge the dimensions from `start_dim` to `end_dim` (inclusive) into one dimension."""
    start, end = common.wrap_dim(start_dim, self.ndim), common.wrap_dim(end_dim, self.ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if self.ndim == 0:
        return self.reshape(1)
    if start == end:
        return self
    joined = size_guards.product(self.shape[start : end + 1])
    return self.reshape((*self.shape[:start], joined, *self.shape[end + 1 :]))


@op(
    "aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    sparse="view_ops.raise_reshape_unsupported",
    view_if_possible=True,
)
def _flatten(xp: Any, self: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    return flatten_kernel(self, start_dim, end_dim)


@op(
    "aten::ravel(Tensor(a) self) -> Tensor(a)", sparse="view_ops.raise_reshape_unsupported",
    view_if_possible=True,
)  # fmt: skip
def _ravel(xp: Any, self: Array) -> Array:
    return (self if self.flags.c_contiguous else self.copy()).reshape(-1)


@op("aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)")
def _unflatten(xp: Any, self: Array, dim: int, sizes: Sequence[int]) -> Array:
    axis = common.wrap_dim(dim, self.ndim)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    inner = common.infer_size(sizes, self.shape[axis])
    return self.reshape((*self.shape[:axis], *inner, *self.shape[axis + 1 :]))


@op(
    "aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
    loop="select",
    view_input=True,
    sparse="view_ops.select",
    copies_sizes=True,
)
def _select(xp: Any, self: Array, dim: int, index: int) -> Array:
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = common.wrap_dim(dim, self.ndim)
    if not size_guards.within(index, self.shape[axis]):
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {axis}"
        )
    return self[(slice(None),) * axis + (index, ...)]


@op(
    "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
    "step=1) -> Tensor(a)",
    where="",
    loop="slice",
    view_input=True,
    sparse="view_ops.slice_whole",
)
def _slice(
    xp: Any, self: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    if self.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    axis = common.wrap_dim(dim, self.ndim)
    return self[(slice(None),) * axis + (slice(start, end, step),)]


def narrow_kernel(self: Array, dim: int, start: int, length: int) -> Array:
    """Return a view of `length` elements from `start` along `dim`."""
    if self.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if not size_guards.check(length >= 0):
        raise RuntimeError("narrow(): length must be non-negative.")
    axis = common.wrap_dim(dim, self.ndim)
    n = self.shape[axis]
    if not size_guards.check(start <= n) or not size_guards.check(start >= -n):
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start = start + n if start < 0 else start
    if not size_guards.check(start + length <= n):
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return self[(slice(None),) * axis + (slice(start, start + length),)]


@op(
    "aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
    loop="narrow",
    view_input=True,
)
def _narrow(xp: Any, self: Array, dim: int, start: int, length: int) -> Array:
    return narrow_kernel(self, dim, start, length)


@op("aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)", shape=ITEM)
def _narrow_tensor(xp: Any, self: Array, dim: int, start: Array, length: int) -> Array:
    if start.ndim or start.dtype.kind not in "iu":
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return narrow_kernel(self, dim, int(start), length)


@op(
    "aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
    out="out",
    out_dtype_error=_NARROW_DTYPE_ERROR,
    sparse="view_ops.narrow_copy",
)
def _narrow_copy(xp: Any, self: Array, dim: int, start: int, length: int) -> Array:
    return narrow_kernel(self, dim, start, length).copy()


@op("aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)")
@op("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")
@op(
    "aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    same_as="aten::movedim",
)
@op("aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)", same_as="aten::movedim")
def _movedim(xp: Any, self: Array, source: Any, destination: Any) -> Array:
    if self.ndim == 0:
        return self[...]
    sources = [source] if isinstance(source, int) else list(source)
    targets = [destination] if isinstance(destination, int) else list(destination)
    if len(sources) != len(targets):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({sources} dims) should contain the same "
            f"number of dims as destination ({targets} dims)"
        )
    axes = {"source": sources, "destination": targets}
    for parameter, dims in axes.items():
        axes[parameter] = [common.wrap_dim(d, self.ndim) for d in dims]
        if len(set(axes[parameter])) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{parameter}` ({list(dims)})")
    return xp.moveaxis(self, *axes.values())


# ---------------------------------------------------------------------------------------- strided views


@op("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", where="m")
def _unfold(xp: Any, self: Array, dimension: int, size: int, step: int) -> Array:
    axis = common.wrap_dim(dimension, self.ndim)
    n = self.shape[axis] if self.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if self.ndim == 0:
        return self.reshape(1)[:size]
    count = (n - size) // step + 1
    strides = self.strides
    # If there is only one window, its step is not used. The step is limited, because its product with the
    # stride might overflow.
    step = min(step, n) if count == 1 else step
    return storage.strided(
        self,
        (*self.shape[:axis], count, *self.shape[axis + 1 :], size),
        (*strides[:axis], strides[axis] * step, *strides[axis + 1 :], strides[axis]),
        storage.offset(self),
    )


@op("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)")
def diagonal_kernel(xp: Any, self: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """Return a view of the diagonals of dimensions `dim1` and `dim2` as last dimension.

    A positive offset selects a diagonal above the main diagonal.  Raise RuntimeError if both dimensions are
    equal.
    """
    a, b = common.wrap_dim(dim1, self.ndim), common.wrap_dim(dim2, self.ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    length = size_guards.minimum(self.shape[a] - max(0, -offset), self.shape[b] - max(0, offset))
    if size_guards.larger(length, 0) is not length:
        length, byte_offset = 0, 0
    else:
        byte_offset = max(0, -offset) * self.strides[a] + max(0, offset) * self.strides[b]
    rest = [i for i in range(self.ndim) if i not in (a, b)]
    shape = (*[self.shape[i] for i in rest], length)
    steps = (*[self.strides[i] for i in rest], self.strides[a] + self.strides[b])
    return storage.strided(self, shape, steps, storage.offset(self) + byte_offset)


@op("aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)")
def _linalg_diagonal(xp: Any, A: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    return diagonal_kernel(xp, A, offset, dim1, dim2)


@op("aten::real(Tensor(a) self) -> Tensor(a)")
def _real(xp: Any, self: Array) -> Array:
    return _real_or_imaginary(self, 0) if common.is_complex(self.dtype) else self


def _real_or_imaginary(x: Array, index: int) -> Array:
    """Return a view of the real (0) or imaginary (1) parts."""
    if x.dtype.kind == "c":
        return x.imag if index else x.real
    real_dtype = common.real_dtype(x.dtype)  # of a complex dtype of `ml_dtypes`
    return storage.strided(x, x.shape, x.strides, storage.offset(x) + index * real_dtype.itemsize, real_dtype)


@op("aten::imag(Tensor(a) self) -> Tensor(a)")
def _imag(xp: Any, self: Array) -> Array:
    if not common.is_complex(self.dtype):
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _real_or_imaginary(self, 1)


@op("aten::view_as_real(Tensor(a) self) -> Tensor(a)", where="f")
def _view_as_real(xp: Any, self: Array) -> Array:
    if not common.is_complex(self.dtype):
        raise RuntimeError("view_as_real is only supported for complex tensors")
    real_dtype = common.real_dtype(self.dtype)
    return storage.strided(
        self, (*self.shape, 2), (*self.strides, real_dtype.itemsize), storage.offset(self), real_dtype
    )


@op(
    "aten::view_as_complex(Tensor(a) self) -> Tensor(a)",
    where="f",
    dtype_errors={
        "bicn": "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
        "scalar type: {dtype}"
    },
    autocast={"cpu": "float32"},
)
def _view_as_complex(xp: Any, self: Array) -> Array:
    if self.ndim == 0 or not size_guards.equal(self.shape[-1], 2):
        raise RuntimeError("Tensor must have a last dimension of size 2")
    item, byte_offset = self.dtype.itemsize, storage.offset(self)
    if self.size and self.strides[-1] != item:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(step % (2 * item) for step, n in zip(self.strides[:-1], self.shape, strict=False)):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if byte_offset % (2 * item):
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return storage.strided(
        self, self.shape[:-1], self.strides[:-1], byte_offset, common.complex_dtype(self.dtype)
    )


@op("aten::conj(Tensor(a) self) -> Tensor(a)", sparse="conversions.conjugate", conjugates=True)
def _conj(xp: Any, self: Array) -> Array:
    return xp.conj(self) if common.is_complex(self.dtype) else self


@op("aten::_conj(Tensor(a) self) -> Tensor(a)", conjugates=True)
@op("aten::_conj_copy(Tensor self) -> Tensor", **COPIED_OUT)
def _conj_of_complex(xp: Any, self: Array) -> Array:
    if not common.is_complex(self.dtype):
        raise RuntimeError(f"Expected a complex tensor, but got one of {common.NAME_OF[self.dtype]}")
    return xp.conj(self)


@op("aten::_neg_view(Tensor(a) self) -> Tensor(a)")
@op("aten::_neg_view_copy(Tensor self) -> Tensor", layout="contiguous", **COPIED_OUT)
@shared_fields(dtype_errors={"b": "neg_cpu"})
def _neg_view(xp: Any, self: Array) -> Array:
    """Return a negated copy. PyTorch returns a view with a negation flag, which `ts` does not support."""
    return xp.negative(self)


@op("aten::positive(Tensor(a) self) -> Tensor(a)", sparse="conversions.identity")
def _positive(xp: Any, self: Array) -> Array:
    if self.dtype == common.BOOL:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@op("aten::alias(Tensor(a) self) -> Tensor(a)", where="f", sparse="conversions.identity")
def _alias(xp: Any, self: Array) -> Array:
    return self[...]  # a view, so that the operator returns a new tensor object


@op("aten::resolve_conj(Tensor(a) self) -> Tensor(a)", sparse="conversions.identity", conjugates=True)
@op("aten::resolve_neg(Tensor(a) self) -> Tensor(a)", sparse="conversions.identity")
@op("aten::lift_fresh(Tensor(a) self) -> Tensor(a)", where="f")
@op("aten::lift(Tensor self) -> Tensor", where="", **COPIED_OUT)
def _identity(xp: Any, self: Array) -> Array:
    return self


@op("aten::_fw_primal(Tensor(a) self, int level) -> Tensor(a)", where="")
def _fw_primal(xp: Any, self: Array, level: int) -> Array:
    """Return a view of `self`. The tangent needs no removal, because arrays have no tangents."""
    return self[...]
