"""Rows of operators as one CUDA kernel: its text.

In: a `Spec`, all of hashable parts.  Out: a complete translation unit with the kernel `ts_fused`.

    x * sigmoid(y)    of two float32 arrays that lie alike:

    Spec(
        inputs=(Array("float32", PACKED), Array("float32", PACKED)),
        rows=(
            Row("1 / (1 + exp(-a))", (1,), "float32", "float32"),
            Row("a * b", (0, 2), "float32", "float32"),
        ),
        outputs=(3,), rank=1, width=4, index="int",
    )

Values are numbered as in a group's program: the inputs, then the result of each row.  A thread computes
`width` neighbours of the last dimension at once, of all results.  How it walks over an input is part of the
text, lengths and strides (in elements) are arguments: what has other lengths, but is walked over alike, has
the same kernel.

    ELEMENT     one element, loaded once          PACKED     `width` neighbours in one load
    REPEATED    one element for all of a pack     GATHERED   each element by its own strides

The arguments are the inputs (words have none), the results, the number of packs (of elements in one
dimension), the lengths but the first, the last in packs, and the strides of each input that has some.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from .sources import C_TYPES, LETTERS, PREAMBLE, SHORT, value_type

NAME: Final = "ts_fused"
ELEMENT: Final = "element"
PACKED: Final = "packed"
REPEATED: Final = "repeated"
GATHERED: Final = "gathered"


@dataclass(frozen=True)
class Array:
    """An input with elements."""

    dtype: str
    walk: str


@dataclass(frozen=True)
class Number:
    """An input by value: float64 or int64."""

    dtype: str


@dataclass(frozen=True)
class Word:
    """None, or a text that a function is chosen by."""

    text: str


@dataclass(frozen=True)
class Row:
    """An expression over values, the dtype that it is computed in, and that of its result."""

    expression: str
    operands: tuple[int, ...]
    compute: str
    result: str


@dataclass(frozen=True)
class Spec:
    """All that the text of a kernel depends on."""

    inputs: tuple[Array | Number | Word, ...]
    rows: tuple[Row, ...]
    outputs: tuple[int, ...]
    rank: int  # at least 1
    width: int
    index: str  # what places are counted in: int or long long

    def dtype(self, value: int) -> str:
        """That of an input or of a row's result."""
        first = len(self.inputs)
        if value >= first:
            return self.rows[value - first].result
        given = self.inputs[value]
        assert not isinstance(given, Word)
        return given.dtype


def source(spec: Spec) -> str:
    """The text of the kernel."""
    taken = ", ".join([*parameters(spec), f"const {spec.index} n", *walk_parameters(spec)])
    return f"""{PREAMBLE}
namespace ts {{
{rows(spec, spec.outputs)}
}}
extern "C" __global__ void {NAME}({taken}) {{
    const {spec.index} step = ({spec.index})blockDim.x * gridDim.x;
    const {spec.index} first = ({spec.index})blockIdx.x * blockDim.x + threadIdx.x;
    {lines(elements(spec), 4)}
    for ({spec.index} i = first; i < {f"n / {spec.width}" if spec.rank == 1 else "n"}; i += step) {{
        {lines(coordinates(spec), 8)}
        {lines(loads(spec), 8)}
        {lines(packs(spec), 8)}
        for (int k = 0; k < {spec.width}; ++k) {{
            {lines(_body(spec, packed=True), 12)}
        }}
        {lines(stores(spec), 8)}
    }}
    {lines(_tail(spec), 4)}
}}
"""


def walked(spec: Spec) -> Iterator[tuple[int, Array]]:
    """The inputs that have strides."""
    for v, given in enumerate(spec.inputs):
        if isinstance(given, Array) and given.walk != ELEMENT:
            yield v, given


def strides_of(spec: Spec, given: Array) -> range:
    """The dimensions of an input whose strides are arguments."""
    return range(spec.rank if given.walk == GATHERED else spec.rank - 1)


def lines(found: Iterable[str], indent: int) -> str:
    """Lines of text behind an indent."""
    return ("\n" + " " * indent).join(found)


def rows(spec: Spec, given: Sequence[int]) -> str:
    """The function `rows`: from an element of each input to the values that are `given`."""
    return f"""__device__ inline void rows({", ".join(_row_parameters(spec, given))}) {{
    {lines(_row_lines(spec, given), 4)}
}}"""


def _row_parameters(spec: Spec, given: Sequence[int]) -> Iterator[str]:
    for v, read in enumerate(spec.inputs):
        if isinstance(read, Word):
            yield f"const word_{read.text} v{v}"
        else:
            yield f"const {value_type(read.dtype)} v{v}"
    yield from (f"{value_type(spec.dtype(v))} &r{v}" for v in given)


def _row_lines(spec: Spec, given: Sequence[int]) -> Iterator[str]:
    for v, row in enumerate(spec.rows, len(spec.inputs)):
        yield f"{value_type(row.result)} v{v};"
        yield "{"
        for letter, operand in zip(LETTERS, row.operands, strict=False):
            read = spec.inputs[operand] if operand < len(spec.inputs) else None
            kind = f"word_{read.text}" if isinstance(read, Word) else value_type(row.compute)
            value = f"({kind})v{operand}"
            is_element = not isinstance(read, Word | Number)
            if is_element and row.compute in SHORT and spec.dtype(operand) != row.compute:
                value = f"rounded<{C_TYPES[row.compute]}>::of({value})"
            yield f"    const {kind} {letter} = {value};"
        yield f"    v{v} = rounded<{C_TYPES[row.result]}>::of({row.expression});"
        yield "}"
    yield from (f"r{v} = v{v};" for v in given)


def parameters(spec: Spec) -> Iterator[str]:
    """The inputs and the results."""
    for v, given in enumerate(spec.inputs):
        if isinstance(given, Array):
            yield f"const {C_TYPES[given.dtype]} *x{v}"
        elif isinstance(given, Number):
            yield f"const {C_TYPES[given.dtype]} x{v}"
    yield from (f"{C_TYPES[spec.dtype(v)]} *y{v}" for v in spec.outputs)


def walk_parameters(spec: Spec) -> Iterator[str]:
    """The lengths but the first, and strides."""
    yield from (f"const {spec.index} n{d}" for d in range(1, spec.rank))
    for v, given in walked(spec):
        yield from (f"const {spec.index} s{v}_{d}" for d in strides_of(spec, given))


def elements(spec: Spec) -> Iterator[str]:
    """What is the same for all: elements, numbers, words."""
    for v, given in enumerate(spec.inputs):
        if isinstance(given, Word):
            yield f"const ts::word_{given.text} e{v} = {{}};"
        elif isinstance(given, Number):
            yield f"const {C_TYPES[given.dtype]} e{v} = x{v};"
        elif given.walk == ELEMENT:
            yield f"const {value_type(given.dtype)} e{v} = loaded(*x{v});"


def coordinates(spec: Spec) -> Iterator[str]:
    """The place of the i-th pack in each dimension, the last fastest."""
    if spec.rank == 1:
        yield f"const {spec.index} i0 = i;"
        return
    yield f"{spec.index} rest = i;"
    for d in range(spec.rank - 1, 0, -1):
        yield f"const {spec.index} i{d} = rest % n{d}; rest /= n{d};"
    yield f"const {spec.index} i0 = rest;"


def loads(spec: Spec) -> Iterator[str]:
    """What the i-th pack has of each input."""
    last = spec.rank - 1
    for v, given in walked(spec):
        place = [f"i{d} * s{v}_{d}" for d in range(last)]
        if given.walk == GATHERED:
            place.append(f"i{last} * {spec.width} * s{v}_{last}")
        elif given.walk == PACKED:
            place.append(f"i{last} * {spec.width}")
        at = f"x{v} + {' + '.join(place) or '0'}"
        if given.walk == PACKED:
            pack = f"pack<{C_TYPES[given.dtype]}, {spec.width}>"
            yield f"const {pack} p{v} = *(const {pack} *)({at});"
        elif given.walk == REPEATED:
            yield f"const {value_type(given.dtype)} e{v} = loaded(*({at}));"
        else:
            yield f"const {C_TYPES[given.dtype]} *const g{v} = {at};"


def packs(spec: Spec) -> Iterator[str]:
    """Where a pack of each result is collected."""
    yield from (f"pack<{C_TYPES[spec.dtype(v)]}, {spec.width}> q{v};" for v in spec.outputs)


def stores(spec: Spec) -> Iterator[str]:
    """The i-th packs of the results."""
    for v in spec.outputs:
        yield f"*(pack<{C_TYPES[spec.dtype(v)]}, {spec.width}> *)(y{v} + i * {spec.width}) = q{v};"


def computed(spec: Spec, given: Sequence[int], packed: bool = True) -> Iterator[str]:
    """The values `given` of the k-th elements of a pack, or of the i-th of all."""
    last = spec.rank - 1
    read = []
    for v, x in enumerate(spec.inputs):
        walk = x.walk if isinstance(x, Array) else ELEMENT
        if walk in (ELEMENT, REPEATED):
            read.append(f"e{v}")
        elif walk == PACKED:
            read.append(f"loaded(p{v}.at[k])" if packed else f"loaded(x{v}[i])")
        else:
            read.append(f"loaded(g{v}[k * s{v}_{last}])" if packed else f"loaded(x{v}[i * s{v}_{last}])")
    yield from (f"{value_type(spec.dtype(v))} r{v};" for v in given)
    yield f"ts::rows({', '.join([*read, *(f'r{v}' for v in given)])});"


def _body(spec: Spec, packed: bool) -> Iterator[str]:
    """The k-th elements of a pack, or the i-th of all, to the results."""
    yield from computed(spec, spec.outputs, packed)
    for v in spec.outputs:
        yield f"store(&q{v}.at[k], r{v});" if packed else f"store(y{v} + i, r{v});"


def _tail(spec: Spec) -> Iterator[str]:
    """What is left of one dimension behind the last whole pack."""
    if spec.rank == 1 and spec.width > 1:
        yield f"for ({spec.index} i = n / {spec.width} * {spec.width} + first; i < n; i += step) {{"
        yield from (f"    {line}" for line in _body(spec, packed=False))
        yield "}"
