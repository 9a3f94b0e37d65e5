"""Specialization of fused kernels: dtypes, shapes and memory accesses for given inputs.

Input: an `OperatorGroup`, and inputs. Output: `KernelRequirements`. If the group cannot run as one kernel,
the output is a string with the reason.

In the following example, mul reads values 0 and 1, which are the inputs. add reads the product (value 2) and
value 0:

    specialize(OperatorGroup([(mul, (0, 1)), (add, (2, 0))], (3,)), [x, y])

    x: (32, 100), y: (100,)        iterates over (32, 100), with the strides (100, 1) of x and (0, 1) of y
    x, y: dense, channels last     iterates over one dimension, with a result in channels-last order
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Any, Final, NamedTuple

import cupy
import numpy as np

from ts._core.late_binding import resolve
from ts._core.tensor import strides as layouts

from . import kernel_sources, pointwise_codegen, row_epilogues, row_reduction_codegen
from .row_epilogues import NotFusibleError

Shape = tuple[int, ...]
Record = Any
# Kernel argument: the number of a group input, and for a Python number its NumPy type, for an array None.
Argument = tuple[int, Any]
Layout = tuple[np.dtype[Any], Sequence[int], list[int] | None]  # dtype, shape, order of dimensions in memory
# Python number that an operation reads: the number of the group input, the dtype in which the operation
# computes, and a flag. If the flag is True, the Python number must be in the range of the dtype.
NumberUse = tuple[int, str, bool]

# maximal number of dimensions of a kernel, after adjacent dimensions have been merged
MAX_DIMENSIONS: Final = 8
FLOAT16_MAX: Final = 65504.0
FLOAT32_MAX: Final = 3.4e38
INT32_INDEX_LIMIT: Final = 1 << 30  # limit of offsets that are computed with 32-bit integers
MAX_LOAD_BYTES: Final = 16
MAX_PACK_ELEMENTS: Final = 8
THREADS_PER_BLOCK: Final = 256
MAX_BLOCKS: Final = 1 << 16


class TypedValue(NamedTuple):
    """Dtype and shape of an input array or of an operation's result."""

    dtype: np.dtype[Any]
    shape: Shape

    @property
    def ndim(self) -> int:
        """Number of dimensions of the shape."""
        return len(self.shape)


@dataclass
class KernelRequirements:
    """Kernel, launch geometry, arguments and results that a group needs for given inputs."""

    spec: pointwise_codegen.KernelSpec | row_reduction_codegen.RowKernelSpec
    blocks: int  # number of blocks, or 0 if the results have no elements
    threads: int  # threads per block
    shared: int  # bytes of shared memory per block
    input_arguments: list[Argument]
    results: list[Layout]
    epilogue_arguments: list[Argument]  # kernel arguments that only epilogues read, passed after the results
    geometry: list[Any]  # lengths and strides, in the order of the kernel's parameters
    number_uses: list[NumberUse] = field(default_factory=list)
    result_values: tuple[int, ...] = ()
    # for each epilogue that runs separately: its value number -> the reason
    unfused: dict[int, str] = field(default_factory=dict)
    followups: list[tuple[int, KernelRequirements]] = field(default_factory=list)


@dataclass
class OperatorGroup:
    """Operators over numbered values: inputs, then results of `ops`, then results of `epilogues`."""

    ops: Sequence[tuple[Record, tuple[int, ...]]]
    outputs: Sequence[int]
    epilogues: Sequence[tuple[Record, tuple[int, ...]]] = ()

    def epilogue_arguments(self) -> set[int]:
        """Return the numbers of the group inputs that epilogues read besides the value that they reduce."""
        return {v for _, operands in self.epilogues for v in operands[1:]}


def specialize(group: OperatorGroup, inputs: Sequence[Any]) -> KernelRequirements | str:
    """Return the requirements of running a group as one kernel on `inputs`, or why this is impossible."""
    try:
        return _specialize(group, inputs)
    except NotFusibleError as error:
        return str(error)


def is_number(x: Any) -> bool:
    """Return whether a kernel argument is a Python bool, int or float."""
    return isinstance(x, (bool, int, float))


# ---------------------------------------------------------------------------------------- dtypes


def expression_dtypes(record: Any, operands: Sequence[Any]) -> tuple[np.dtype[Any], np.dtype[Any]] | None:
    """Return the compute and result dtypes of a CUDA expression, or None for unsupported operands."""
    promotion = resolve("type_promotion")
    mask = kernel_sources.mask_operand(record)
    if mask >= 0 and getattr(operands[mask], "dtype", None) != promotion.BOOL:
        return None
    promoted = [x for i, x in enumerate(operands) if i != mask and x is not None and not isinstance(x, str)]
    dtypes = {x.dtype for x in promoted if not is_number(x)}
    numbers = [x for x in promoted if is_number(x)]
    if not dtypes:
        return None
    if record.promotion is None:
        dtype = next(iter(dtypes))
        if len(dtypes) > 1 or any(promotion.category(x) > promotion.CATEGORY_OF[dtype] for x in numbers):
            return None  # the operator's Python kernel must promote the operands or raise an error
    else:
        dtype = promotion.result_type(*promoted)
        if record.promotion == "float":
            dtype = promotion.float_dtype(dtype)
        elif promotion.BOOL in dtypes and "-" in record.cuda:
            return None
    if not kernel_sources.supports_dtype(record, dtype.name):
        return None
    return dtype, promotion.BOOL if record.promotion == "bool" else dtype


def is_representable(value: float, dtype: str, strict: bool) -> bool:
    """Return whether a kernel can convert the number `value` to `dtype`.

    A number beyond the range of a float dtype becomes infinite. This is allowed unless `strict`.
    """
    if dtype in kernel_sources.FLOATS:
        if not strict or abs(value) == float("inf") or value != value:
            return isinstance(value, float) or abs(value) < 1 << 1000
        return abs(value) <= (FLOAT16_MAX if dtype == "float16" else FLOAT32_MAX)
    if dtype == "bool":
        return value in (0, 1)
    info = np.iinfo(dtype)
    return int(info.min) <= value <= int(info.max)


def _typed_ops(
    group_ops: Sequence[tuple[Record, tuple[int, ...]]], inputs: Sequence[Any]
) -> tuple[list[pointwise_codegen.ExpressionOp], list[Any]]:
    """Return the operations with their dtypes, and a list of all values (inputs, then results).

    A value is a `TypedValue` for an array, else a number or a string.
    """
    promotion = resolve("type_promotion")
    values: list[Any] = [
        TypedValue(x.dtype, tuple(x.shape)) if isinstance(x, cupy.ndarray) else x for x in inputs
    ]
    ops = []
    for x in values:
        if isinstance(x, TypedValue):
            if x.dtype.name not in kernel_sources.C_TYPES:
                raise NotFusibleError(f"no CUDA kernel is generated for dtype {x.dtype.name}")
        elif not is_number(x) and str(x) not in kernel_sources.STRING_ARGUMENTS:
            raise NotFusibleError(f"argument {x!r} is not supported in kernel expressions")
    for record, operands in group_ops:
        name = record.key
        if not kernel_sources.arity(record) or len(operands) > kernel_sources.arity(record):
            raise NotFusibleError(f"{name} has no expression")
        operand_values = [values[i] for i in operands]
        if len(operand_values) > 1 and all(x is None for x in operand_values[1:]):
            raise NotFusibleError(f"{name} has only None operands")
        dtypes = expression_dtypes(record, operand_values)
        if dtypes is None:
            raise NotFusibleError(f"{name} has no expression for these dtypes")
        compute, result = dtypes
        try:
            shape = promotion.broadcast_shapes(
                *(x.shape for x in operand_values if isinstance(x, TypedValue))
            )
        except RuntimeError:
            raise NotFusibleError(f"{name} has operands whose shapes do not broadcast") from None
        ops.append(pointwise_codegen.ExpressionOp(record.cuda, operands, compute.name, result.name))
        values.append(TypedValue(result, tuple(shape)))
    return ops, values


# ---------------------------------------------------------------------------------------- accesses


def broadcast_strides(x: Any, shape: Sequence[int]) -> Shape:
    """Return the strides in elements for reading `x` broadcast to `shape`."""
    lead = len(shape) - x.ndim
    steps = [
        0 if n == 1 else stride // x.dtype.itemsize for n, stride in zip(x.shape, x.strides, strict=True)
    ]
    return (*(0,) * lead, *steps)


def merge_dimensions(shape: Sequence[int], strides: Sequence[Shape]) -> tuple[list[int], list[Shape]]:
    """Merge adjacent dimensions that have a single stride in every operand (dimension coalescing).

    In: a shape, and the strides of each operand. Out: both, after merging. In the first example, the second
    operand is broadcast:

    >>> merge_dimensions((2, 3, 4), [(12, 4, 1), (4, 0, 1)])
    ([2, 3, 4], [(12, 4, 1), (4, 0, 1)])
    >>> merge_dimensions((2, 3, 4), [(12, 4, 1), (12, 4, 1)])
    ([24], [(1,), (1,)])
    """
    lengths: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for d, n in enumerate(shape):
        if n == 1:
            continue
        if lengths and all(mine[-1] == each[d] * n for mine, each in zip(steps, strides, strict=True)):
            lengths[-1] *= n
            for mine, each in zip(steps, strides, strict=True):
                mine[-1] = each[d]
            continue
        lengths.append(n)
        for mine, each in zip(steps, strides, strict=True):
            mine.append(each[d])
    return lengths, [tuple(mine) for mine in steps]


def _has_descending_strides(steps: Sequence[int]) -> bool:
    """Return whether nonzero strides descend from outer to inner dimensions."""
    some = [stride for stride in steps if stride]
    return all(one >= other > 0 for one, other in pairwise(some))


def _contiguous_order(x: Any) -> list[int] | None:
    """Return the dimensions from outermost to innermost if the elements have no gaps in memory, else None."""
    order = sorted(range(x.ndim), key=lambda d: (-x.strides[d], d))
    stride = x.dtype.itemsize
    for d in reversed(order):
        if x.shape[d] != 1 and x.strides[d] != stride:
            return None
        stride *= x.shape[d]
    return order


def _plan_accesses(
    arrays: Sequence[Any], shape: Shape, is_single: bool
) -> tuple[list[int], list[Shape], list[int] | None]:
    """Return the lengths of the kernel's dimensions, the strides of each array, and the result order.

    The result order is the dimension order of the results in memory, or None if the results are C-contiguous.
    """
    nonscalar = [x for x in arrays if x.ndim]
    first = nonscalar[0] if nonscalar else None
    if first is not None and all(tuple(x.shape) == shape for x in nonscalar) and 0 not in shape:
        array_strides = [tuple(stride // x.dtype.itemsize for stride in x.strides) for x in nonscalar]
        order = _contiguous_order(first)
        if order is not None and all(steps == array_strides[0] for steps in array_strides):
            if not is_single and layouts.strides_in_order(shape, order) != layouts.of_result(
                shape, array_strides[0]
            ):
                raise NotFusibleError("dimensions of size 1 have different strides in its result")
            merged: list[Shape] = [(1,) if x.ndim else (0,) for x in arrays]
            return [prod(shape)], merged, None if order == sorted(order) else order
    strides = [broadcast_strides(x, shape) for x in arrays]
    if not is_single and not all(map(_has_descending_strides, strides)):
        raise NotFusibleError("its operands have their dimensions in different orders")
    lengths, joined = merge_dimensions(shape, strides)
    if len(lengths) > MAX_DIMENSIONS:
        raise NotFusibleError("it has too many dimensions")
    return (lengths, joined, None) if lengths else ([1], [(0,)] * len(arrays), None)


def _pack_width(lengths: Sequence[int], sizes: Sequence[int]) -> int:
    """Return the number of neighboring elements that a thread loads at once.

    `sizes` are element sizes in bytes.
    """
    width = max(1, min(MAX_PACK_ELEMENTS, MAX_LOAD_BYTES // max(sizes)))
    while len(lengths) > 1 and lengths[-1] % width:
        width //= 2
    return width


def _access_kind(x: Any, steps: Sequence[int], width: int) -> str:
    if not any(steps):
        return pointwise_codegen.ELEMENT
    if steps[-1] == 0:
        return pointwise_codegen.REPEATED
    aligned = x.data.ptr % (width * x.dtype.itemsize) == 0
    if steps[-1] == 1 and aligned and all(stride % width == 0 for stride in steps[:-1]):
        return pointwise_codegen.PACKED
    return pointwise_codegen.GATHERED


# ---------------------------------------------------------------------------------------- requirements


def _specialize(group: OperatorGroup, inputs: Sequence[Any]) -> KernelRequirements:
    separate = group.epilogue_arguments()
    elements = [None if i in separate else x for i, x in enumerate(inputs)]
    ops, values = _typed_ops(group.ops, elements)
    configs, unfused = _configure_epilogues(group, values, inputs)
    if unfused and not group.ops:
        raise NotFusibleError(next(iter(unfused.values())))
    try:
        requirements = _require(group, ops, values, elements, configs)
    except _NonContiguousRowsError:
        if not group.ops:
            raise
        configs, unfused = (
            {},
            {**unfused, **dict.fromkeys(configs, "it reads a value that is not contiguous")},
        )
        requirements = _require(group, ops, values, elements, configs)
    requirements.unfused = unfused
    return requirements


class _NonContiguousRowsError(NotFusibleError):
    """Raised if the rows that an epilogue reads are not contiguous."""


def _configure_epilogues(
    group: OperatorGroup, values: list[Any], inputs: Sequence[Any]
) -> tuple[dict[int, row_epilogues.EpilogueConfig], dict[int, str]]:
    """Return the configurations of fused epilogues, and the reasons why other epilogues are not fused.

    Both are dicts whose keys are value numbers.
    """
    configs: dict[int, row_epilogues.EpilogueConfig] = {}
    unfused: dict[int, str] = {}
    for value, (record, operands) in enumerate(group.epilogues, len(values)):
        try:
            config = row_epilogues.configure_epilogue(record, operands, values[operands[0]], inputs)
        except NotFusibleError as error:
            unfused[value] = str(error)
            continue
        if all(config.can_share_kernel(other) for other in configs.values()):
            configs[value] = config
        else:
            unfused[value] = "another epilogue reads other rows"
    return configs, unfused


def _require(
    group: OperatorGroup,
    ops: list[pointwise_codegen.ExpressionOp],
    values: list[Any],
    inputs: Sequence[Any],
    configs: dict[int, row_epilogues.EpilogueConfig],
) -> KernelRequirements:
    """Return the requirements of the kernel for a group with the fused epilogues `configs`.

    The inputs of the other epilogues become results of the kernel.
    """
    unfused_operands = [
        operands[0]
        for value, (_, operands) in enumerate(group.epilogues, len(values))
        if value not in configs
    ]
    outputs = tuple(dict.fromkeys([*(v for v in group.outputs if v < len(values)), *unfused_operands]))
    computed = [*outputs, *(x.source for x in configs.values())]
    shape = max((values[v].shape for v in computed), key=lambda s: (len(s), prod(s)))
    if any(x.shape != shape for x in (values[v] for v in computed)):
        raise NotFusibleError("its results have different shapes")
    is_single = len(group.ops) == 1 and not group.epilogues
    arrays = {i: x for i, x in enumerate(inputs) if isinstance(x, cupy.ndarray)}
    lengths, steps, order = _plan_accesses(list(arrays.values()), shape, is_single)
    if order is not None and configs:
        raise _NonContiguousRowsError("it reads a value that is not contiguous")
    if order is not None and not is_single and any("contiguous" in record.layout for record, _ in group.ops):
        raise NotFusibleError("its results have a different dimension order")
    size = prod(shape)
    strides = dict(zip(arrays, steps, strict=True))
    neighbours = [
        arrays[i].dtype.itemsize for i, strides_of_input in strides.items() if strides_of_input[-1] == 1
    ]
    width = _pack_width(lengths, [*neighbours, *(values[v].dtype.itemsize for v in computed)])
    max_width = row_reduction_codegen.ELEMENTS_PER_LOAD
    while configs and (width > max_width or next(iter(configs.values())).length % width):
        width //= 2
    max_offset = max(
        [
            size,
            *(
                sum(n * abs(s) for n, s in zip(lengths, strides_of_input, strict=True))
                for strides_of_input in steps
            ),
        ]
    )
    index = "int" if max_offset < INT32_INDEX_LIMIT else "long long"
    uses = _number_uses(group.ops, ops, inputs)
    kernel_inputs, arguments = _kernel_inputs(inputs, strides, width, uses)
    spec = pointwise_codegen.KernelSpec(tuple(kernel_inputs), tuple(ops), outputs, len(lengths), width, index)
    pack_counts = [*lengths[:-1], lengths[-1] // width] if len(lengths) > 1 else lengths
    geometry = list(pack_counts[1:])
    for v, kernel_input in pointwise_codegen.strided_inputs(spec):
        geometry += [strides[v][d] for d in pointwise_codegen.strided_dims(spec, kernel_input)]
    results = [(values[v].dtype, shape, order) for v in outputs]
    if configs:
        requirements = _require_epilogues(
            spec, list(configs.values()), arguments, results, geometry, len(inputs)
        )
    else:
        blocks = -(-size // (width * THREADS_PER_BLOCK))
        requirements = KernelRequirements(
            spec,
            blocks,
            THREADS_PER_BLOCK,
            0,
            arguments,
            results,
            [],
            _typed_counts(spec, [prod(pack_counts), *geometry]),
        )
    requirements.number_uses, requirements.result_values = uses, (*outputs, *configs)
    return requirements


def _number_uses(
    group_ops: Sequence[tuple[Record, tuple[int, ...]]],
    ops: Sequence[pointwise_codegen.ExpressionOp],
    inputs: Sequence[Any],
) -> list[NumberUse]:
    """Return the uses of Python numbers by operations, as (input index, compute dtype, `strict`).

    If `strict`, the number must be in the range of the dtype (`is_representable`).
    """
    return [
        (i, op.compute, record.promotion is None)
        for op, (record, operands) in zip(ops, group_ops, strict=True)
        for i in operands
        if i < len(inputs) and is_number(inputs[i])
    ]


def _kernel_inputs(
    inputs: Sequence[Any], strides: dict[int, Shape], width: int, uses: Sequence[NumberUse]
) -> tuple[list[pointwise_codegen.KernelInput], list[Argument]]:
    """Return descriptions of all inputs for the code generator, and the kernel arguments.

    Strings have a description, but are not kernel arguments.
    """
    kernel_inputs: list[pointwise_codegen.KernelInput] = []
    arguments: list[Argument] = []
    for i, x in enumerate(inputs):
        if i in strides:
            kernel_inputs.append(pointwise_codegen.Array(x.dtype.name, _access_kind(x, strides[i], width)))
            arguments.append((i, None))
        elif is_number(x):
            dtypes = {dtype for used, dtype, _ in uses if used == i}
            is_float = isinstance(x, float) or dtypes <= set(kernel_sources.FLOATS)
            kernel_inputs.append(pointwise_codegen.Number("float64" if is_float else "int64"))
            arguments.append((i, np.float64 if is_float else np.int64))
        else:
            kernel_inputs.append(pointwise_codegen.StringArgument(str(x)))
    return kernel_inputs, arguments


def _require_epilogues(
    spec: pointwise_codegen.KernelSpec,
    configs: Sequence[row_epilogues.EpilogueConfig],
    arguments: list[Argument],
    results: list[Any],
    geometry: Sequence[int],
    inputs: int,
) -> KernelRequirements:
    """Return the requirements of a kernel with epilogues. Each chunked epilogue needs a second kernel."""
    launch = row_epilogues.configure_launch(spec, configs)
    epilogue_arguments = [argument for x in configs for argument in x.kernel_arguments]
    followups = []
    for x in configs:
        if not x.is_chunked:
            results.append((x.result, x.shape, None))
            continue
        followups.append((len(results), _require_chunk_combination(x, spec, inputs)))
        results.append((x.compute, launch.counts[:1], None))
    blocks, threads = launch.blocks, launch.spec.block
    counts = _typed_counts(spec, [*launch.counts, *geometry])
    return KernelRequirements(
        launch.spec,
        blocks,
        threads,
        launch.shared,
        arguments,
        results,
        epilogue_arguments,
        counts,
        followups=followups,
    )


def _require_chunk_combination(
    config: row_epilogues.EpilogueConfig, spec: pointwise_codegen.KernelSpec, inputs: int
) -> KernelRequirements:
    """Return the requirements of a kernel that combines the results of chunks of rows.

    These results are additional inputs of the kernel, after the inputs of the group.
    """
    launch = row_epilogues.configure_chunk_launch(config, spec.index)
    blocks, threads, result = launch.blocks, launch.spec.block, (config.result, config.shape, None)
    counts = _typed_counts(spec, launch.counts)
    return KernelRequirements(
        launch.spec,
        blocks,
        threads,
        launch.shared,
        [(inputs, None)],
        [result],
        config.kernel_arguments,
        counts,
    )


def _typed_counts(spec: pointwise_codegen.KernelSpec, counts: Sequence[int]) -> list[Any]:
    """Return `counts` in the index type of the kernel."""
    return list(map(np.int32 if spec.index == "int" else np.int64, counts))
