"""Configuration of row epilogues (reduction epilogues), operators in a fused kernel that read its whole rows.

Input: an epilogue, the dtype and shape of the value that it reads, and its other arguments. Output: an
`EpilogueConfig`. NotFusibleError states why an operator must run separately.

An epilogue can be fused if it reads along the last dimensions and its operator record has a row expression
(`OperatorRecord.cuda_rows`). An operator outside of a group runs as a group of one epilogue, so its results
have the same bits.

Rows longer than ROW_CHUNK_ELEMENTS are reduced in chunks if the expression can be split. A second kernel
combines the results of the chunks. Example:

    softmax(h, -1)    for h of shape (32, 100): 32 rows of 100 elements
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import cupy
import numpy as np

from .. import get
from . import kernel_sources, pointwise_codegen, reduction_codegen, row_reduction_codegen

ROW_CHUNK_ELEMENTS: Final = 1 << 14
MAX_WARP_ROW_ELEMENTS: Final = 1 << 10  # longer rows are reduced by a block instead of a warp
MAX_SMALL_BLOCK_ROW_ELEMENTS: Final = 1 << 13  # longer rows are reduced by MAX_BLOCK_THREADS threads
MAX_BLOCK_THREADS: Final = 1 << 10
# Maximal row length of a reduction that cannot be split among blocks, if there are fewer than MIN_LONG_ROWS
# rows.
MAX_SINGLE_BLOCK_ROW_ELEMENTS: Final = 1 << 17
MIN_LONG_ROWS: Final = 32
MAX_SHARED_MEMORY_BYTES: Final = 44 << 10  # limit for a block, below CUDA's default limit of 48 KiB


class NotFusibleError(Exception):
    """Raised with the reason why operators cannot run in one fused kernel on given inputs."""


@dataclass(frozen=True)
class EpilogueConfig:
    """A row epilogue for given inputs: expression, rows, dtypes, and result shape."""

    expression: str
    source: int
    rows: int
    length: int
    compute: np.dtype[Any]
    result: np.dtype[Any]
    shape: tuple[int, ...]
    # (name in the row expression, description of the kernel parameter, number of the group input)
    arguments: tuple[tuple[str, pointwise_codegen.KernelInput, int], ...]

    @property
    def is_chunked(self) -> bool:
        """True if rows are reduced in chunks by several thread blocks (two-stage reduction)."""
        return (
            self.length > ROW_CHUNK_ELEMENTS
            and reduction_codegen.split_reduction(self.expression) is not None
        )

    def can_share_kernel(self, other: EpilogueConfig) -> bool:
        """Return whether both epilogues can run in one kernel: their rows are equal in number and length."""
        return (self.rows, self.length, self.is_chunked) == (other.rows, other.length, other.is_chunked)

    def codegen_epilogue(
        self, expression: str, source: int, result: np.dtype[Any]
    ) -> row_reduction_codegen.RowEpilogue:
        """Return the epilogue for the code generator, with the given expression, source and result dtype."""
        arguments = tuple((name, argument) for name, argument, _ in self.arguments)
        return row_reduction_codegen.RowEpilogue(
            expression, source, self.compute.name, result.name, arguments
        )

    @property
    def kernel_arguments(self) -> list[tuple[int, Any]]:
        """Return the kernel arguments: (index of the input, NumPy type if it is a number, else None)."""
        kinds = [
            (v, argument)
            for _, argument, v in self.arguments
            if not isinstance(argument, pointwise_codegen.StringArgument)
        ]
        return [
            (v, getattr(np, argument.dtype) if isinstance(argument, pointwise_codegen.Number) else None)
            for v, argument in kinds
        ]


def configure_epilogue(
    record: Any, operands: Sequence[int], operand: Any, inputs: Sequence[Any]
) -> EpilogueConfig:
    """Return the configuration of an epilogue that reads `operand`, or raise NotFusibleError."""
    names = [argument.name for argument in record.schema.arguments[1:]]
    arguments = {name: inputs[v] for name, v in zip(names, operands[1:], strict=True)}
    try:
        axes = _reduced_dims(arguments, operand.ndim)
        first = operand.ndim - len(axes)
        if axes != list(range(first, operand.ndim)):
            raise NotFusibleError("it reduces dimensions other than the last ones")
        length, rows = prod(operand.shape[first:]), prod(operand.shape[:first])
        expression = _row_expression(record, length, arguments)
        result = _meta_result(record, operand, arguments.values())
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        raise NotFusibleError("its operator raises an error") from error
    _check_dtypes(expression, operand.dtype, result.dtype)
    if prod(result.shape) != (
        rows * length if reduction_codegen.parse_row_expression(expression).is_elementwise else rows
    ):
        raise NotFusibleError("its result has a different shape")
    if (
        length > MAX_SINGLE_BLOCK_ROW_ELEMENTS
        and rows < MIN_LONG_ROWS
        and reduction_codegen.split_reduction(expression) is None
    ):
        raise NotFusibleError("its rows are too few and too long")
    compute_dtype = np.dtype(np.float32) if result.dtype.name in kernel_sources.HALF_FLOATS else result.dtype
    _check_columns(
        [x for x in arguments.values() if isinstance(x, cupy.ndarray)], operand.dtype, compute_dtype
    )
    used = tuple(
        (name, _kernel_argument(inputs[v], operand.shape[first:]), v)
        for name, v in zip(names, operands[1:], strict=True)
        if reduction_codegen.contains_name(name, expression)
    )
    return EpilogueConfig(
        expression, operands[0], rows, length, compute_dtype, result.dtype, tuple(result.shape), used
    )


def _row_expression(record: Any, length: int, arguments: dict[str, Any]) -> str:
    if not length:
        raise NotFusibleError("its rows have no elements")
    expression = record.cuda_rows if not callable(record.cuda_rows) else record.cuda_rows(length, **arguments)
    if expression is None:
        raise NotFusibleError("it has no row expression for these arguments")
    return str(expression)


def _meta_result(record: Any, operand: Any, others: Iterable[Any]) -> Any:
    """Return the operator's result on the meta device, or raise the operator's error."""
    meta = get("meta")
    arguments = [meta.empty(x.shape, x.dtype) if isinstance(x, cupy.ndarray) else x for x in others]
    return record.kernel(meta.xp, meta.empty(operand.shape, operand.dtype), *arguments)


def _reduced_dims(arguments: dict[str, Any], ndim: int) -> list[int]:
    """Return the sorted dimensions that `normalized_shape` or `dim` selects, or all if neither does."""
    if "normalized_shape" in arguments:
        return list(range(ndim - len(arguments["normalized_shape"]), ndim))
    dim = arguments.get("dim")
    dims = [dim] if isinstance(dim, int) else dim
    return sorted({d % ndim for d in dims}) if dims and ndim else list(range(ndim))


def _check_dtypes(expression: str, operand: np.dtype[Any], result: np.dtype[Any]) -> None:
    is_floating = result.name in kernel_sources.FLOATS and operand.name in kernel_sources.FLOATS
    is_integer = (
        reduction_codegen.is_integer_exact(expression) and result.kind in "iu" and operand.kind in "iub"
    )
    if not (is_floating or is_integer):
        raise NotFusibleError("it has no row expression for these dtypes")


def _kernel_argument(x: Any, row: tuple[int, ...]) -> pointwise_codegen.KernelInput:
    """Return the description of an operator argument for the kernel, or raise NotFusibleError."""
    if x is None:
        return pointwise_codegen.StringArgument("None")
    if isinstance(x, (bool, int, float)) and abs(x) < 1 << 62:
        return pointwise_codegen.Number("float64" if isinstance(x, float) else "int64")
    if isinstance(x, cupy.ndarray) and tuple(x.shape) == row and x.flags.c_contiguous:
        return pointwise_codegen.Array(x.dtype.name, pointwise_codegen.PACKED)
    raise NotFusibleError("it has an argument that is neither a number nor a row")


def _check_columns(arrays: Sequence[Any], row_dtype: np.dtype[Any], compute_dtype: np.dtype[Any]) -> None:
    """Raise NotFusibleError unless all arrays have `row_dtype`, or all arrays have `compute_dtype`."""
    if any(x.dtype != row_dtype for x in arrays) and any(x.dtype != compute_dtype for x in arrays):
        raise NotFusibleError("it reads rows of a different dtype")


# ---------------------------------------------------------------------------------------- launch


@dataclass
class RowLaunch:
    """Launch configuration of a row kernel.

    It has the spec, the grid size, the bytes of shared memory, and the count arguments.
    """

    spec: row_reduction_codegen.RowKernelSpec
    blocks: int
    shared: int
    counts: list[int]


def configure_launch(elements: pointwise_codegen.KernelSpec, configs: Sequence[EpilogueConfig]) -> RowLaunch:
    """Return the launch configuration of a kernel for pointwise operators and the epilogues `configs`.

    If rows are reduced in chunks, the kernel computes one result per chunk.
    """
    rows, length = configs[0].rows, configs[0].length
    if not configs[0].is_chunked:
        epilogues = [x.codegen_epilogue(x.expression, x.source, x.result) for x in configs]
        return _row_launch(elements, epilogues, rows, length, 1, length)
    epilogues = [
        x.codegen_epilogue(
            (reduction_codegen.split_reduction(x.expression) or ("", ""))[0], x.source, x.compute
        )
        for x in configs
    ]
    return _row_launch(
        elements, epilogues, rows, length, -(-length // ROW_CHUNK_ELEMENTS), ROW_CHUNK_ELEMENTS
    )


def configure_chunk_launch(epilogue: EpilogueConfig, index: str) -> RowLaunch:
    """Return the launch configuration of a kernel that combines the chunk results of each row."""
    chunks_per_row = -(-epilogue.length // ROW_CHUNK_ELEMENTS)
    chunk_results = pointwise_codegen.Array(epilogue.compute.name, pointwise_codegen.PACKED)
    combining = epilogue.codegen_epilogue(
        (reduction_codegen.split_reduction(epilogue.expression) or ("", ""))[1], 0, epilogue.result
    )
    launch = _row_launch(
        pointwise_codegen.KernelSpec((chunk_results,), (), (), 1, 1, index),
        [combining],
        epilogue.rows,
        chunks_per_row,
        1,
        chunks_per_row,
    )
    launch.counts[-1] = epilogue.length
    return launch


def _threads_per_row(piece: int) -> int:
    """Return the number of threads assigned to a row (or row chunk) of `piece` elements."""
    if piece > MAX_WARP_ROW_ELEMENTS:
        return (
            row_reduction_codegen.MIN_BLOCK_THREADS
            if piece <= MAX_SMALL_BLOCK_ROW_ELEMENTS
            else MAX_BLOCK_THREADS
        )
    quads = -(-piece // row_reduction_codegen.ELEMENTS_PER_LOAD)
    return min(reduction_codegen.WARP_THREADS, 1 << (quads - 1).bit_length())


def _row_launch(
    elements: pointwise_codegen.KernelSpec,
    epilogues: Sequence[row_reduction_codegen.RowEpilogue],
    rows: int,
    length: int,
    chunks_per_row: int,
    piece: int,
) -> RowLaunch:
    threads = _threads_per_row(piece)
    needs_cache = max(end.pass_count() for end in epilogues) > 1
    spec = row_reduction_codegen.RowKernelSpec(elements, tuple(epilogues), threads, is_cached=False)
    rows_per_block = spec.block // threads
    shared = (
        rows_per_block
        * piece
        * sum(map(row_reduction_codegen.cached_size, map(elements.dtype, spec.cached_values())))
    )
    if needs_cache and shared <= MAX_SHARED_MEMORY_BYTES:
        spec = row_reduction_codegen.RowKernelSpec(elements, tuple(epilogues), threads, is_cached=True)
    counts = [rows * chunks_per_row, length, chunks_per_row, piece, length]
    return RowLaunch(
        spec, -(-rows * chunks_per_row // rows_per_block), shared if spec.is_cached else 0, counts
    )
