"""Lower bounds of operator run times, checked by `ts.limits(seconds=...)` before an operator starts.

The function `rule_of` returns the rule of an operator, or None for operators without cost. A rule computes
nanoseconds from the arguments of a call. For example, `rule_of(matmul_record)(x, y)` returns 2.7e8 for two
matrices of 3000 x 3000.

By default, the operator family determines the unit (elements, results or multiplications) and the time per
unit. The record field `work` contains another rate or rule. Costs do not include allocations, because the
memory limit bounds them.

A kernel that loops in Python checks the deadline itself, by `for t in steps(range(n))`. If the cost per
element depends on the values, `xp.in_pieces(function, x, y)` calls the kernel for array sections.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ts import devices, dtypes
from ts._core.dispatch.signature import arity
from ts._core.tensor.tensor import Tensor
from ts._core.thread import deadline
from ts._core.value.lists import List
from ts.backends.cpu import thread_pool

if TYPE_CHECKING:
    from ts.ops.operator_record import OperatorRecord

Measure = Callable[..., float]
T = TypeVar("T")

_READ: Final = {dtypes.bool_: 0.02, dtypes.float16: 30, dtypes.bfloat16: 30}
_MASKS: Final = (dtypes.bool_, dtypes.uint8)
# Nanoseconds that `steps` charges before each iteration. `ts.limits` reads the clock after a charge of this
# size.
_CLOCK_INTERVAL_NS: Final = 100_000.0


def steps(items: Iterable[T]) -> Iterator[T]:
    """Yield `items`. Before each item, check the time limit of `ts.limits`."""
    for item in items:
        deadline.charge(_CLOCK_INTERVAL_NS)
        yield item


def rule_of(record: OperatorRecord) -> Measure | None:
    """Return the function that computes the cost of a call, in nanoseconds, from its arguments.

    Return None for operators without cost.
    """
    if record.variant == "out" and record.base is not None:
        rule, count = rule_of(record.base), arity(record.base.schema_text)[2]
        return None if rule is None else lambda *args: rule(*args[:count])
    if record.base is not None:
        return rule_of(record.base)
    if callable(record.work):
        return record.work
    if record.family in _FREE or not _makes_tensor(record):
        return None
    measure, rate, threaded = _FAMILIES.get(record.family, _OTHERS)
    if record.work is not None:
        rate = record.work
    return of(measure, rate / thread_pool.count() if threaded else rate)


def _makes_tensor(record: OperatorRecord) -> bool:
    """Return whether the operator computes elements. Views (`-> Tensor(a)`) and metadata queries do not."""
    returns = record.schema_text.rpartition(" -> ")[2]
    if record.family in _KNOWN:
        return re.search(r"Tensor(?!\()", returns) is not None
    return "Tensor(" not in returns or "!" in returns


# ---------------------------------------------------------------- units of cost


def tensors(args: Iterable[Any]) -> list[Tensor]:
    """Return the tensors in arguments, including those in lists."""
    result: list[Tensor] = []
    for x in args:
        if isinstance(x, Tensor):
            result.append(x)
        elif isinstance(x, List | list) and len(x) and isinstance(x[0], Tensor | None):
            result += [y for y in x if isinstance(y, Tensor)]
    return result


def sizes(args: Iterable[Any]) -> list[int]:
    """Return the first list of integers among the arguments, else []."""
    int_lists = (list(x) for x in args if isinstance(x, List | list) and len(x) and isinstance(x[0], int))
    return next(int_lists, [])


def elements(*args: Any) -> float:
    """Return the total element count of the tensors, including expanded elements."""
    return sum([x.numel() for x in tensors(args)])


def moved_bytes(*args: Any) -> float:
    """Return the total size of the elements of the argument tensors, in bytes."""
    return float(sum([x.numel() * x.element_size() for x in tensors(args)]))


def read(*args: Any) -> float:
    """Return the number of bytes that a reduction reads.

    For the dtypes in `_READ`, return the number of elements times a weight. Bools have a low weight, because
    their reduction may stop early. 16-bit floats have a high weight, because their loops are slow.
    """
    return float(sum([x.numel() * _READ.get(x.dtype, x.element_size()) for x in tensors(args)]))


def broadcast(*args: Any) -> float:
    """Return the size in bytes of a result with the broadcast shape of the argument tensors."""
    operands = tensors(args)
    ndim = max([x.ndim for x in operands], default=0)
    width = max([x.element_size() for x in operands if x.ndim == ndim], default=1)
    return _together([x.shape for x in operands]) * width


def _together(shapes: Sequence[Sequence[int]]) -> int:
    """Return the number of elements of the broadcast of `shapes`."""
    ndim = max(map(len, shapes), default=0)
    return math.prod([max([s[-i] for s in shapes if len(s) >= i]) for i in range(1, ndim + 1)])


def new_tensor_elements(*args: Any) -> float:
    """Return the number of elements of the tensor that a constructor creates.

    This is the product of the size argument. Without a size argument, it is the number of elements of the
    tensor arguments. Return 0 for the meta device.
    """
    if any(isinstance(x, devices.device) and x.type == "meta" for x in args):
        return 0
    shape = sizes(args)
    return math.prod(shape) if shape else elements(*args)


def resized_elements(x: Tensor, *args: Any) -> float:
    """Return the number of elements of a tensor whose last sizes differ from those of `x`.

    The first list argument contains these sizes.
    """
    new_sizes = sizes(args)
    return math.prod([*x.shape[: x.ndim - len(new_sizes)], *new_sizes])


def fewest(*args: Any) -> float:
    """Return the number of elements of the smallest tensor argument, such as the indices of a lookup."""
    return min([x.numel() for x in tensors(args)], default=0)


def search_nonzero(x: Tensor) -> float:
    """Return the cost of `nonzero` in nanoseconds.

    The kernel of `nonzero` first counts the nonzero elements, and then collects their indices.
    """
    return x.numel() * (0.1 if x.dtype in _MASKS else 1.5)


def named_rows(x: Tensor, dim: int, index: Tensor, *rest: Any) -> float:
    """Return the number of elements of the slices of `x` that `index` selects along `dim`."""
    return index.numel() * (x.numel() // max(x.shape[dim], 1) if -x.ndim <= dim < x.ndim else 1)


def indexed_bytes(x: Tensor, indices: Any, *rest: Any) -> float:
    """Return the byte size of an advanced indexing result: `x[i, :, j]`."""
    index_tensors = [y for y in indices if y is not None and y.dtype not in _MASKS]
    if len(index_tensors) < sum(y is not None for y in indices):
        return 0  # lower bound: an index is a mask, whose elements determine the size of the result
    unindexed_sizes = [n for d, n in enumerate(x.shape) if d >= len(indices) or indices[d] is None]
    shapes = [y.shape for y in index_tensors]
    return float(_together(shapes) * math.prod(unindexed_sizes) * x.element_size())


def looked_up(weight: Tensor, indices: Tensor, *rest: Any) -> float:
    """Return the number of elements of the rows of `weight` that `indices` selects."""
    return indices.numel() * (weight.shape[-1] if weight.ndim else 1)


def repeated_elements(x: Tensor, repeats: Any, *rest: Any) -> float:
    """Return the number of elements of `x.repeat(repeats)`."""
    return float(x.numel() * math.prod(list(repeats) if isinstance(repeats, List | list) else [repeats]))


def square_matrix_elements(x: Tensor, *rest: Any) -> float:
    """Return the number of elements of the result if each row of n elements becomes an n x n matrix."""
    return x.numel() * (x.shape[-1] if x.ndim else 1)


def sorted_elements(*args: Any) -> float:
    """Return the approximate number of comparisons for sorting the first argument."""
    n = elements(*args)
    return n * math.log2(n + 2)


def multiplications(*args: Any) -> float:
    """Return the number of multiplications in the (batched) matrix product of the last two tensors."""
    x, y, *_ = [*tensors(args)[-2:], None]
    if x is None or y is None or y.ndim == 0 or x.ndim == 0:
        return elements(*args)
    columns = y.shape[-1] if y.ndim > 1 else 1
    rows = x.shape[-2] if x.ndim > 1 else 1
    return max(x.numel() * columns, y.numel() * rows)


def products(*args: Any) -> float:
    """Return the nanoseconds of a matrix product.

    If an operand is a vector, return at least the time to read both operands.
    """
    operands = tensors(args)[-2:]
    if not operands:
        return 0
    reading = 0.0
    if any(x.ndim == 1 for x in operands):
        count = elements(*operands)
        reading = count * (_UNCACHED_READ_NS if count > _CACHE_ELEMENTS else _CACHED_READ_NS)
        if operands[-1].dtype in _READ:  # 16-bit floats are converted to 32 bits first
            reading *= 4
    return max(multiply(operands[-1]) * multiplications(*args), reading)


def multiply(x: Tensor) -> float:
    """Return the time of one multiplication in a matrix product with the dtype of `x`, in nanoseconds.

    Products of integers are slow and use a single thread.
    """
    if not x.is_floating_point() and not x.is_complex():
        return 0.25
    return float(_MULTIPLY_NS * max(x.element_size() / 4, 1) / thread_pool.count())


def cubes(*args: Any) -> float:
    """Return the cost of matrix decompositions: rows * columns * min(rows, columns) * batch."""
    return sum([x.numel() * min(x.shape[-2:]) if x.ndim > 1 else x.numel() for x in tensors(args)])


def windows(x: Tensor, weight: Tensor, *rest: Any) -> float:
    """Return a lower bound of the number of multiplications in a convolution.

    It is (elements of the input) * (elements of the kernel) / (product of the strides).
    """
    taps = math.prod(weight.shape[2:]) * min(weight.shape[:2], default=1)
    return x.numel() * max(taps, 1) / max(math.prod(sizes(rest)), 1)


def heads(query: Tensor, *rest: Any) -> float:
    """Return the number of multiplications in attention: query @ key, and scores @ value."""
    others = tensors(rest[:3])
    return 2 * query.numel() * (others[0].shape[-2] if others and others[0].ndim > 1 else 1)


# ------------------------------------------------------------ cost rules for single operators, in nanoseconds


def of(measure: Measure, rate: float) -> Measure:
    """Return a cost rule: `rate` nanoseconds per unit counted by `measure`."""
    return lambda *args: rate * measure(*args)


def linear(x: Tensor, weight: Tensor, *rest: Any) -> float:
    """Return the cost of `x @ weight.T`."""
    return multiply(weight) * x.numel() * (weight.shape[0] if weight.ndim > 1 else 1)


def pairs(x: Tensor, *rest: Any) -> float:
    """Return the number of operations for the distances between all pairs of rows.

    A pair has one row of `x`, and one row of the second tensor or, if there is only one tensor, of `x`.
    """
    other = rest[0] if rest and isinstance(rest[0], Tensor) else x
    return 2 * x.numel() * (other.shape[-2] if other.ndim > 1 else 1)


def chain(matrices: Any) -> float:
    """Return a lower bound of a matrix chain product's cost."""
    operands = tensors([matrices])
    return sum(map(linear, operands, operands[1:])) / 2


def power(x: Tensor, n: int, *rest: Any) -> float:
    """Return the cost of a matrix power by repeated squaring."""
    return multiply(x) * cubes(x) * math.floor(math.log2(abs(n) or 1))


def matrix_norm(x: Tensor, ord: Any = None, *rest: Any) -> float:
    """Return the cost of a matrix norm.

    Orders 2, -2 and "nuc" cost more, because they need singular values.
    """
    return x.numel() * (0.1 * min(x.shape, default=0) if ord in (2, -2, "nuc") else 0.3)


def contraction(x: Tensor, y: Tensor, dims_x: Any, dims_y: Any, *rest: Any) -> float:
    """Return the cost of `tensordot`."""
    common = math.prod([y.shape[d] for d in dims_y]) or 1
    return multiply(x) * x.numel() * y.numel() / common


def einsum(equation: str, operands: Any, *rest: Any) -> float:
    """Return the cost of `einsum`.

    Each contraction of two operands costs the product of the sizes of all its indices. For a single operand,
    the cost is proportional to the number of elements.
    """
    tensor_operands = tensors([operands])
    input_subscripts, arrow, output_subscripts = equation.replace(" ", "").partition("->")
    names = input_subscripts.split(",")
    if len(tensor_operands) < 2 or [len(n) for n in names] != [x.ndim for x in tensor_operands]:
        return 0.1 * elements(operands)
    if not arrow:
        output_subscripts = "".join(
            name for name in set(input_subscripts) if input_subscripts.count(name) == 1
        )
    left = [
        dict(zip(subscripts, x.shape, strict=True))
        for subscripts, x in zip(names, tensor_operands, strict=True)
    ]
    products = 0
    for pair in _path(f"{input_subscripts}->{output_subscripts}", tensor_operands):
        size: dict[str, int] = {}
        for operand in [left.pop(at) for at in sorted(pair, reverse=True)]:
            size |= {name: max(n, size.get(name, 1)) for name, n in operand.items()}
        products += math.prod(size.values())
        left.append({name: n for name, n in size.items() if name in set(output_subscripts).union(*left)})
    return max(multiply(tensor_operands[0]) * products, 0.05 * max(x.numel() for x in tensor_operands))


def _path(equation: str, operands: Sequence[Tensor]) -> list[tuple[int, ...]]:
    """Return the pairs of operands that `einsum` contracts, in order, or [] if it rejects the operands."""
    if len(operands) == 2:
        return [(0, 1)]
    blanks = [np.broadcast_to(np.float32(0), x.shape) for x in operands]
    try:
        return list(np.einsum_path(equation, *blanks, optimize=True)[0][1:])
    except ValueError:
        return []


def bilinear(x: Tensor, y: Tensor, weight: Tensor, *rest: Any) -> float:
    """Return the cost of x[i] weight[o, i, j] y[j]."""
    return multiply(x) * x.numel() * math.prod(weight.shape[::2])


# ---------------------------------------------------------------- costs of operator families

_FREE: Final = {"view", "transpose", "reshape", "script_only_ops", "assert_ops"}
# Families in which some operators compute elements and others return views (see `_makes_tensor`)
_KNOWN: Final = {"to", "dtype", "storage_ops"}
_MULTIPLY_NS: Final = 0.01  # time of one multiplication of 32-bit elements in a matrix product
_CACHE_ELEMENTS: Final = 4_000_000  # number of elements that fit in the cache
_CACHED_READ_NS: Final = 0.02  # time to read an element from the cache
_UNCACHED_READ_NS: Final = 0.1

# family -> (function that returns the number of units, nanoseconds per unit on one thread, True if the kernel
# uses several threads)
_FAMILIES: Final[dict[str, tuple[Measure, float, bool]]] = {
    "unary": (moved_bytes, 0.03, False),
    "activation": (moved_bytes, 0.05, False),
    "pointwise": (broadcast, 0.03, False),
    "ternary": (broadcast, 0.03, False),
    "polynomial": (broadcast, 0.5, False),
    "reduce": (read, 0.025, False),
    "vector_norm": (read, 0.025, False),
    "scan": (moved_bytes, 0.06, False),
    "sort": (sorted_elements, 0.12, False),
    "unique": (sorted_elements, 0.12, False),
    "index": (fewest, 0.02, False),
    "unsafe_index": (fewest, 0.02, False),
    "scatter": (fewest, 2.0, False),
    "embedding": (fewest, 0.5, False),
    "factories": (new_tensor_elements, 0.015, False),
    "random": (new_tensor_elements, 3.5, False),
    "sampling": (new_tensor_elements, 2.0, False),
    "copy_variants": (moved_bytes, 0.025, False),
    "to": (moved_bytes, 0.025, False),
    "dtype": (moved_bytes, 0.025, False),
    "storage_ops": (moved_bytes, 0.025, False),
    "rearrange": (moved_bytes, 0.03, False),
    "pad": (moved_bytes, 0.06, False),
    "pooling": (elements, 0.15, True),
    "normalization": (moved_bytes, 0.06, False),
    "upsample": (resized_elements, 0.3, False),
    "interpolate": (elements, 0.3, False),
    "batch_norm": (moved_bytes, 0.06, False),
    "loss": (elements, 0.7, False),
    "classification_loss": (elements, 0.5, False),
    "finite_differences": (elements, 0.9, False),
    "distance": (elements, 0.7, False),
    "rnn": (elements, 0.5, False),
    "lstm_layer": (elements, 0.5, False),
    "fft": (elements, 0.8, False),
    "matmul": (products, 1.0, False),
    "mixed_dtype_matmul": (products, 1.0, False),
    "conv": (windows, _MULTIPLY_NS, True),
    "attention": (heads, _MULTIPLY_NS, True),
    "factorizations": (cubes, 0.06, False),
    "solvers": (cubes, 0.06, False),
    "matrix_norm": (cubes, 0.06, False),
    "lu": (cubes, 0.06, False),
    "linalg_helpers": (cubes, 0.06, False),
    "householder": (cubes, 0.06, False),
    "pseudo_inverse": (cubes, 0.2, False),
    "covariance": (cubes, 0.015, False),
    "least_squares": (cubes, 0.06, False),
}
_OTHERS: Final = (moved_bytes, 0.03, False)
