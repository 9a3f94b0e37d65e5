"""Code generator for the CUDA source of a fused pointwise kernel.

Input: a `KernelSpec`, which is hashable. Output: a translation unit with the kernel `ts_fused`. For x *
sigmoid(y) with two float32 arrays of equal strides, the input is:

    KernelSpec(
        inputs=(Array("float32", PACKED), Array("float32", PACKED)),
        ops=(
            ExpressionOp("1 / (1 + exp(-a))", (1,), "float32", "float32"),
            ExpressionOp("a * b", (0, 2), "float32", "float32"),
        ),
        outputs=(3,), rank=1, width=4, index="int",
    )

The inputs have the first value numbers, and then each operation has the next number. For each result, a
thread computes `width` neighboring elements of the last dimension, called a pack. A thread accesses an input
in one of these ways:

    ELEMENT     one element, loaded once          PACKED     `width` neighboring elements in one load
    REPEATED    one element for all of a pack     GATHERED   each element at a separate address

The arguments of the kernel are, in this order:

    the inputs, except string arguments
    the results
    the number of packs, or for one dimension the number of elements
    the lengths of all dimensions except the first, with the length of the last dimension in packs
    the strides of each strided input, in elements
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from .kernel_sources import C_TYPES, HALF_FLOATS, LETTERS, PREAMBLE, value_type

NAME: Final = "ts_fused"
ELEMENT: Final = "element"
PACKED: Final = "packed"
REPEATED: Final = "repeated"
GATHERED: Final = "gathered"


@dataclass(frozen=True)
class Array:
    """An input array, and how it is read (ELEMENT, PACKED, REPEATED or GATHERED)."""

    dtype: str
    access: str


@dataclass(frozen=True)
class Number:
    """A number passed by value, as float64 or int64."""

    dtype: str


@dataclass(frozen=True)
class StringArgument:
    """A string or None as argument. Its C++ type selects the overload of the called function."""

    text: str


KernelInput = Array | Number | StringArgument


@dataclass(frozen=True)
class ExpressionOp:
    """One operation: an expression of values, its compute dtype, and its result dtype."""

    expression: str
    operands: tuple[int, ...]
    compute: str
    result: str


@dataclass(frozen=True)
class KernelSpec:
    """Description of a pointwise kernel. Equal descriptions have equal sources."""

    inputs: tuple[KernelInput, ...]
    ops: tuple[ExpressionOp, ...]
    outputs: tuple[int, ...]
    rank: int  # number of dimensions, at least 1
    width: int
    index: str  # C++ type of indices: int or long long

    def dtype(self, value: int) -> str:
        """Return the dtype of an input or of an operation's result."""
        first = len(self.inputs)
        if value >= first:
            return self.ops[value - first].result
        argument = self.inputs[value]
        assert not isinstance(argument, StringArgument)
        return argument.dtype


def generate_source(spec: KernelSpec) -> str:
    """Return the CUDA source of the pointwise kernel that `spec` describes (a grid-stride loop)."""
    parameters = ", ".join([*array_parameters(spec), f"const {spec.index} n", *geometry_parameters(spec)])
    return f"""{PREAMBLE}
namespace ts {{
{ops_function(spec, spec.outputs)}
}}
extern "C" __global__ void {NAME}({parameters}) {{
    const {spec.index} step = ({spec.index})blockDim.x * gridDim.x;
    const {spec.index} first = ({spec.index})blockIdx.x * blockDim.x + threadIdx.x;
    {join_lines(uniform_declarations(spec), 4)}
    for ({spec.index} i = first; i < {f"n / {spec.width}" if spec.rank == 1 else "n"}; i += step) {{
        {join_lines(coordinate_lines(spec), 8)}
        {join_lines(load_lines(spec), 8)}
        {join_lines(pack_declarations(spec), 8)}
        for (int k = 0; k < {spec.width}; ++k) {{
            {join_lines(_body_lines(spec, packed=True), 12)}
        }}
        {join_lines(store_lines(spec), 8)}
    }}
    {join_lines(_tail_lines(spec), 4)}
}}
"""


def strided_inputs(spec: KernelSpec) -> Iterator[tuple[int, Array]]:
    """Yield the inputs that are read with strides, as (value number, input)."""
    for v, argument in enumerate(spec.inputs):
        if isinstance(argument, Array) and argument.access != ELEMENT:
            yield v, argument


def strided_dims(spec: KernelSpec, argument: Array) -> range:
    """Return the dimensions of an input whose strides are kernel arguments."""
    return range(spec.rank if argument.access == GATHERED else spec.rank - 1)


def join_lines(source_lines: Iterable[str], indent: int) -> str:
    """Join source lines, with `indent` blanks before each line except the first."""
    return ("\n" + " " * indent).join(source_lines)


def ops_function(spec: KernelSpec, results: Sequence[int]) -> str:
    """Return the device function that computes the values `results` from one element of each input."""
    return f"""__device__ inline void rows({", ".join(_op_parameters(spec, results))}) {{
    {join_lines(_op_lines(spec, results), 4)}
}}"""


def _op_parameters(spec: KernelSpec, results: Sequence[int]) -> Iterator[str]:
    for v, argument in enumerate(spec.inputs):
        if isinstance(argument, StringArgument):
            yield f"const word_{argument.text} v{v}"
        else:
            yield f"const {value_type(argument.dtype)} v{v}"
    yield from (f"{value_type(spec.dtype(v))} &r{v}" for v in results)


def _op_lines(spec: KernelSpec, results: Sequence[int]) -> Iterator[str]:
    for v, op in enumerate(spec.ops, len(spec.inputs)):
        yield f"{value_type(op.result)} v{v};"
        yield "{"
        for letter, operand in zip(LETTERS, op.operands, strict=False):
            argument = spec.inputs[operand] if operand < len(spec.inputs) else None
            kind = f"word_{argument.text}" if isinstance(argument, StringArgument) else value_type(op.compute)
            value = f"({kind})v{operand}"
            is_element = not isinstance(argument, StringArgument | Number)
            if is_element and op.compute in HALF_FLOATS and spec.dtype(operand) != op.compute:
                value = f"rounded<{C_TYPES[op.compute]}>::of({value})"
            yield f"    const {kind} {letter} = {value};"
        yield f"    v{v} = rounded<{C_TYPES[op.result]}>::of({op.expression});"
        yield "}"
    yield from (f"r{v} = v{v};" for v in results)


def array_parameters(spec: KernelSpec) -> Iterator[str]:
    """Yield the declarations of the input and result parameters."""
    for v, argument in enumerate(spec.inputs):
        if isinstance(argument, Array):
            yield f"const {C_TYPES[argument.dtype]} *x{v}"
        elif isinstance(argument, Number):
            yield f"const {C_TYPES[argument.dtype]} x{v}"
    yield from (f"{C_TYPES[spec.dtype(v)]} *y{v}" for v in spec.outputs)


def geometry_parameters(spec: KernelSpec) -> Iterator[str]:
    """Yield the declarations of the lengths (except the first) and strides."""
    yield from (f"const {spec.index} n{d}" for d in range(1, spec.rank))
    for v, argument in strided_inputs(spec):
        yield from (f"const {spec.index} s{v}_{d}" for d in strided_dims(spec, argument))


def uniform_declarations(spec: KernelSpec) -> Iterator[str]:
    """Yield the declarations of values that all threads share: single elements, numbers, string arguments."""
    for v, argument in enumerate(spec.inputs):
        if isinstance(argument, StringArgument):
            yield f"const ts::word_{argument.text} e{v} = {{}};"
        elif isinstance(argument, Number):
            yield f"const {C_TYPES[argument.dtype]} e{v} = x{v};"
        elif argument.access == ELEMENT:
            yield f"const {value_type(argument.dtype)} e{v} = loaded(*x{v});"


def coordinate_lines(spec: KernelSpec) -> Iterator[str]:
    """Yield the statements that compute the coordinates of pack i. The last dimension varies fastest."""
    if spec.rank == 1:
        yield f"const {spec.index} i0 = i;"
        return
    yield f"{spec.index} rest = i;"
    for d in range(spec.rank - 1, 0, -1):
        yield f"const {spec.index} i{d} = rest % n{d}; rest /= n{d};"
    yield f"const {spec.index} i0 = rest;"


def load_lines(spec: KernelSpec) -> Iterator[str]:
    """Yield the loads of the i-th pack of each strided input."""
    last = spec.rank - 1
    for v, argument in strided_inputs(spec):
        offsets = [f"i{d} * s{v}_{d}" for d in range(last)]
        if argument.access == GATHERED:
            offsets.append(f"i{last} * {spec.width} * s{v}_{last}")
        elif argument.access == PACKED:
            offsets.append(f"i{last} * {spec.width}")
        address = f"x{v} + {' + '.join(offsets) or '0'}"
        if argument.access == PACKED:
            pack = f"pack<{C_TYPES[argument.dtype]}, {spec.width}>"
            yield f"const {pack} p{v} = *(const {pack} *)({address});"
        elif argument.access == REPEATED:
            yield f"const {value_type(argument.dtype)} e{v} = loaded(*({address}));"
        else:
            yield f"const {C_TYPES[argument.dtype]} *const g{v} = {address};"


def pack_declarations(spec: KernelSpec) -> Iterator[str]:
    """Yield the declarations of the packs that collect the results."""
    yield from (f"pack<{C_TYPES[spec.dtype(v)]}, {spec.width}> q{v};" for v in spec.outputs)


def store_lines(spec: KernelSpec) -> Iterator[str]:
    """Yield the stores of the i-th pack of each result."""
    for v in spec.outputs:
        yield f"*(pack<{C_TYPES[spec.dtype(v)]}, {spec.width}> *)(y{v} + i * {spec.width}) = q{v};"


def compute_lines(spec: KernelSpec, results: Sequence[int], packed: bool = True) -> Iterator[str]:
    """Yield the statements that compute `results`: for element k of a pack if `packed`, else element i."""
    last = spec.rank - 1
    operands = []
    for v, x in enumerate(spec.inputs):
        access = x.access if isinstance(x, Array) else ELEMENT
        if access in (ELEMENT, REPEATED):
            operands.append(f"e{v}")
        elif access == PACKED:
            operands.append(f"loaded(p{v}.at[k])" if packed else f"loaded(x{v}[i])")
        else:
            operands.append(f"loaded(g{v}[k * s{v}_{last}])" if packed else f"loaded(x{v}[i * s{v}_{last}])")
    yield from (f"{value_type(spec.dtype(v))} r{v};" for v in results)
    yield f"ts::rows({', '.join([*operands, *(f'r{v}' for v in results)])});"


def _body_lines(spec: KernelSpec, packed: bool) -> Iterator[str]:
    """Yield the computation and the stores of all results of an element."""
    yield from compute_lines(spec, spec.outputs, packed)
    for v in spec.outputs:
        yield f"store(&q{v}.at[k], r{v});" if packed else f"store(y{v} + i, r{v});"


def _tail_lines(spec: KernelSpec) -> Iterator[str]:
    """Yield the loop over the elements after the last whole pack of a 1-d array (tail or remainder loop)."""
    if spec.rank == 1 and spec.width > 1:
        yield f"for ({spec.index} i = n / {spec.width} * {spec.width} + first; i < n; i += step) {{"
        yield from (f"    {line}" for line in _body_lines(spec, packed=False))
        yield "}"
