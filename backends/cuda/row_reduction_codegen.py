"""Code generator for the CUDA source of a reduction kernel: fused operators, then reductions over rows.

Input: a `RowKernelSpec`. Output: a translation unit with the kernel `ts_fused`. For softmax(x * y, -1) with
two float32 arrays of equal strides, the input is:

    RowKernelSpec(
        elements=KernelSpec(
            inputs=(*2 * (Array("float32", PACKED),), *2 * (StringArgument("None"),)),
            ops=(ExpressionOp("a * b", (0, 1), "float32", "float32"),),
            outputs=(), rank=1, width=4, index="int",
        ),
        epilogues=(RowEpilogue("m = largest(a); exp(a - m) / sum(exp(a - m))", 4, "float32", "float32"),),
        threads=32, is_cached=True,
    )

`threads` threads process a row or a chunk of a row. The kernel makes one pass over the row per reduction, and
another pass for results per element. If `is_cached`, shared memory holds the values for later passes.
Otherwise, later passes recompute the values.

The arguments of the kernel are, in this order:

    inputs and results of the elementwise operators, results of epilogues, arguments of epilogues
    count     number of rows or chunks        parts    number of chunks of a row
    length    length of a row                 piece    length of a chunk
    whole     n in the expressions
    lengths and strides of the elements
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from . import pointwise_codegen, reduction_codegen
from .kernel_sources import C_TYPES, HALF_FLOATS, PREAMBLE, value_type
from .pointwise_codegen import NAME, Array, Number, StringArgument, join_lines

ELEMENTS_PER_LOAD: Final = 4  # number of elements that a thread loads at a time
MIN_BLOCK_THREADS: Final = 256
COUNT_PARAMETERS: Final = ("count", "length", "parts", "piece", "whole")


@dataclass(frozen=True)
class RowEpilogue:
    """Reduction of each row of a value: expression, dtypes, and the other arguments of the operator."""

    expression: str
    source: int  # number of the group's value whose rows are reduced
    compute: str
    result: str
    arguments: tuple[tuple[str, Array | Number | StringArgument], ...] = ()

    def parsed(self) -> reduction_codegen.ParsedReduction:
        """Return the parsed row expression."""
        return reduction_codegen.parse_row_expression(self.expression)

    def pass_count(self) -> int:
        """Return the number of passes over a row."""
        parsed = self.parsed()
        return len(parsed.reductions) + parsed.is_elementwise


@dataclass(frozen=True)
class RowKernelSpec:
    """Description of a kernel with row reductions. Equal descriptions have equal sources."""

    elements: pointwise_codegen.KernelSpec
    epilogues: tuple[RowEpilogue, ...]
    threads: int  # number of threads per row
    is_cached: bool

    @property
    def block(self) -> int:
        """Number of threads per thread block."""
        return max(self.threads, MIN_BLOCK_THREADS)

    def cached_values(self) -> list[int]:
        """Return the numbers of the values that epilogues read, the widest dtype first."""
        sources = dict.fromkeys(epilogue.source for epilogue in self.epilogues)
        return sorted(sources, key=lambda v: -cached_size(self.elements.dtype(v)))


def cached_size(dtype: str) -> int:
    """Return the size in bytes of a cached value."""
    return 4 if dtype in HALF_FLOATS else np.dtype(dtype).itemsize


def generate_source(spec: RowKernelSpec) -> str:
    """Return the CUDA source of the row kernel that `spec` describes."""
    index, rows_per_block = spec.elements.index, spec.block // spec.threads
    parameters = [*pointwise_codegen.array_parameters(spec.elements), *_epilogue_parameters(spec)]
    parameters += [
        *(f"const {index} {name}" for name in COUNT_PARAMETERS),
        *pointwise_codegen.geometry_parameters(spec.elements),
    ]
    return f"""{PREAMBLE}{reduction_codegen.REDUCTION_PREAMBLE}
namespace ts {{
{pointwise_codegen.ops_function(spec.elements, (*spec.elements.outputs, *_private_values(spec)))}
{join_lines(_epilogue_structs(spec), 0)}
}}
extern "C" __global__ void __launch_bounds__({spec.block}) {NAME}({", ".join(parameters)}) {{
    const int lane = threadIdx.x % {spec.threads};
    {join_lines(pointwise_codegen.uniform_declarations(spec.elements), 4)}
    {join_lines(_cache_declarations(spec, rows_per_block), 4)}
    const {index} step = ({index})gridDim.x * {rows_per_block};
    for ({index} first = ({index})blockIdx.x * {rows_per_block}; first < count; first += step) {{
        const {index} row = first + threadIdx.x / {spec.threads};
        const {index} before = row % parts * piece, rest_of_row = length - before;
        const {index} start = row / parts * length + before;
        const {index} size = row >= count ? 0 : rest_of_row < piece ? rest_of_row : piece;
        {join_lines(_epilogue_declarations(spec), 8)}
        {join_lines(_passes(spec), 8)}
        {join_lines(_row_stores(spec), 8)}
    }}
}}
"""


def _private_values(spec: RowKernelSpec) -> list[int]:
    """Return the numbers of the values that only epilogues read."""
    return [v for v in spec.cached_values() if v not in spec.elements.outputs]


def _epilogue_parameters(spec: RowKernelSpec) -> Iterator[str]:
    yield from (f"{C_TYPES[epilogue.result]} *z{k}" for k, epilogue in enumerate(spec.epilogues))
    for k, epilogue in enumerate(spec.epilogues):
        for name, argument in epilogue.arguments:
            if isinstance(argument, Array):
                yield f"const {C_TYPES[argument.dtype]} *z{k}_{name}"
            elif isinstance(argument, Number):
                yield f"const {C_TYPES[argument.dtype]} z{k}_{name}"


def _epilogue_structs(spec: RowKernelSpec) -> Iterator[str]:
    for k, epilogue in enumerate(spec.epilogues):
        compute = value_type(epilogue.compute)
        fields = {name: compute for name, argument in epilogue.arguments if isinstance(argument, Number)}
        fields |= {
            name: f"word_{argument.text}"
            for name, argument in epilogue.arguments
            if isinstance(argument, StringArgument)
        }
        columns = {
            name: C_TYPES[argument.dtype]
            for name, argument in epilogue.arguments
            if isinstance(argument, Array)
        }
        yield from reduction_codegen.emit_struct(
            f"epilogue_{k}", epilogue.expression, compute, fields, columns
        )


def _cache_declarations(spec: RowKernelSpec, rows_per_block: int) -> Iterator[str]:
    """Yield the declarations of the shared memory in which a block caches values of its rows."""
    if not spec.is_cached:
        return
    yield "extern __shared__ double memory[];"
    at = "(char *)memory"
    for v in spec.cached_values():
        kind = value_type(spec.elements.dtype(v))
        yield f"{kind} *const cached_{v} = ({kind} *)({at}) + threadIdx.x / {spec.threads} * piece;"
        at += f" + sizeof({kind}) * {rows_per_block} * piece"


def _epilogue_declarations(spec: RowKernelSpec) -> Iterator[str]:
    for k, epilogue in enumerate(spec.epilogues):
        yield f"ts::epilogue_{k} e_{k};"
        yield f"e_{k}.n = ({value_type(epilogue.compute)})whole;"
        for name, argument in epilogue.arguments:
            if isinstance(argument, Array):
                yield f"e_{k}.of_{name} = z{k}_{name};"
            elif isinstance(argument, Number):
                yield f"e_{k}.{name} = ({value_type(epilogue.compute)})z{k}_{name};"


def _passes(spec: RowKernelSpec) -> Iterator[str]:
    """Yield the passes over a row: one per reduction, and one for results per element."""
    index, width = spec.elements.index, spec.elements.width
    for pass_index in range(max(epilogue.pass_count() for epilogue in spec.epilogues)):
        yield "{"
        for k, epilogue, reduction in _reducing(spec, pass_index):
            kind = value_type(epilogue.compute)
            yield f"    {kind} f{k} = ts::{reduction}::identity<{kind}>();"
        step = spec.threads * ELEMENTS_PER_LOAD
        yield f"    for ({index} quad = lane * {ELEMENTS_PER_LOAD}; quad < size; quad += {step})"
        yield f"    for ({index} j = quad; j < quad + {ELEMENTS_PER_LOAD} && j < size; j += {width}) {{"
        yield from (f"        {line}" for line in _pack_lines(spec, pass_index))
        yield "    }"
        for k, _, reduction in _reducing(spec, pass_index):
            value = f"ts::reduce_threads<ts::{reduction}, {spec.threads}>(f{k})"
            yield f"    e_{k}.set_reduction_{pass_index}({value});"
        yield "}"


def _reducing(spec: RowKernelSpec, pass_index: int) -> list[tuple[int, RowEpilogue, str]]:
    """Return (index, epilogue, name of the reduction) for each epilogue with a reduction in the pass."""
    return [
        (k, epilogue, reductions[pass_index])
        for k, epilogue in enumerate(spec.epilogues)
        if pass_index < len(reductions := epilogue.parsed().reductions)
    ]


def _storing(spec: RowKernelSpec, pass_index: int) -> list[tuple[int, RowEpilogue]]:
    """Return (index, epilogue) for each epilogue that stores one result per element in pass `pass_index`."""
    return [
        (k, epilogue)
        for k, epilogue in enumerate(spec.epilogues)
        if pass_index < epilogue.pass_count() and pass_index == len(epilogue.parsed().reductions)
    ]


def _pack_lines(spec: RowKernelSpec, pass_index: int) -> Iterator[str]:
    """Yield the statements of pass `pass_index` for the pack that begins at element j of the row."""
    width, storing = spec.elements.width, _storing(spec, pass_index)
    if pass_index == 0 or not spec.is_cached:
        yield f"const {spec.elements.index} i = (start + j) / {width};"
        yield from pointwise_codegen.coordinate_lines(spec.elements)
        yield from pointwise_codegen.load_lines(spec.elements)
    if pass_index == 0:
        yield from pointwise_codegen.pack_declarations(spec.elements)
    yield from (f"pack<{C_TYPES[epilogue.result]}, {width}> w{k};" for k, epilogue in storing)
    yield f"for (int k = 0; k < {width}; ++k) {{"
    yield from (f"    {line}" for line in _value_lines(spec, pass_index))
    for k, epilogue, reduction in _reducing(spec, pass_index):
        value = f"({value_type(epilogue.compute)})r{epilogue.source}"
        yield f"    f{k} = ts::{reduction}::combine(f{k}, e_{k}.each_{pass_index}({value}));"
    for k, epilogue in storing:
        value = f"({value_type(epilogue.compute)})r{epilogue.source}"
        yield f"    store(&w{k}.at[k], e_{k}.result({value}, before + j + k));"
    yield "}"
    if pass_index == 0:
        yield from pointwise_codegen.store_lines(spec.elements)
    yield from (
        f"*(pack<{C_TYPES[epilogue.result]}, {width}> *)(z{k} + start + j) = w{k};" for k, epilogue in storing
    )


def _value_lines(spec: RowKernelSpec, pass_index: int) -> Iterator[str]:
    """Yield the statements that compute the values that epilogues read, or load them from shared memory."""
    if pass_index > 0 and spec.is_cached:
        read = {epilogue.source for epilogue in spec.epilogues if pass_index < epilogue.pass_count()}
        yield from (
            f"const {value_type(spec.elements.dtype(v))} r{v} = cached_{v}[j + k];" for v in sorted(read)
        )
        return
    yield from pointwise_codegen.compute_lines(
        spec.elements, (*spec.elements.outputs, *_private_values(spec))
    )
    if pass_index == 0:
        yield from (f"store(&q{v}.at[k], r{v});" for v in spec.elements.outputs)
        if spec.is_cached:
            yield from (f"cached_{v}[j + k] = r{v};" for v in spec.cached_values())


def _row_stores(spec: RowKernelSpec) -> Iterator[str]:
    """Yield the statements that store the results with one value per row."""
    for k, epilogue in enumerate(spec.epilogues):
        if not epilogue.parsed().is_elementwise:
            yield f"if (lane == 0 && row < count) store(z{k} + row, e_{k}.result(0, 0));"
