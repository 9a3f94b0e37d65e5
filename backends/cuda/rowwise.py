"""Rows of operators, and what reads whole rows of their results, as one CUDA kernel: its text.

In: a `Spec`.  Out: a complete translation unit with the kernel `ts_fused`.

    softmax(x * y, -1)    of two float32 arrays that lie alike:

    Spec(
        elements=fused.Spec(
            inputs=(Array("float32", PACKED), Array("float32", PACKED), Word("None"), Word("None")),
            rows=(fused.Row("a * b", (0, 1), "float32", "float32"),),
            outputs=(), rank=1, width=4, index="int",
        ),
        ends=(End("m = largest(a); exp(a - m) / sum(exp(a - m))", 4, "float32", "float32"),),
        threads=32, keeps=True,
    )

Elements are computed as in `fused.py`.  `threads` threads take a row, or a part of one: short rows a warp or
some threads of one, long ones a block.  A thread takes QUAD neighbours, then those QUAD * threads on.  It
goes over them once for each fold, and once more for results of elements; what it reads again it keeps in
shared memory, in places of its own (`keeps`), or computes again where that does not fit.

The arguments are those of the elements, the results of ends, what ends take, then `count` (of rows, or of
their parts), `length` (of a row), `parts` (of a row), `piece` (the length of a part), `whole` (what the texts
of ends call n), then the lengths and strides of the elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from . import folds, fused
from .fused import Array, Number, Word, lines
from .sources import C_TYPES, PREAMBLE, SHORT, value_type

QUAD: Final = 4
BLOCK: Final = 256  # threads, where a row takes no more
COUNTS: Final = ("count", "length", "parts", "piece", "whole")


@dataclass(frozen=True)
class End:
    """What is read of each row of a value: a text, the dtypes of its result, what it takes beside the row."""

    text: str
    source: int
    compute: str
    result: str
    taken: tuple[tuple[str, Array | Number | Word], ...] = ()

    def passes(self) -> int:
        """How often it goes over a row."""
        folded = folds.parsed(self.text)
        return len(folded.folds) + folded.by_element


@dataclass(frozen=True)
class Spec:
    """All that the text of a kernel depends on."""

    elements: fused.Spec
    ends: tuple[End, ...]
    threads: int  # of a row
    keeps: bool

    @property
    def block(self) -> int:
        """The threads of a block."""
        return max(self.threads, BLOCK)

    def kept(self) -> list[int]:
        """The values that ends read, the wide ones first."""
        sources = dict.fromkeys(end.source for end in self.ends)
        return sorted(sources, key=lambda v: -size_of(self.elements.dtype(v)))


def size_of(dtype: str) -> int:
    """The bytes of a value that is kept."""
    return 4 if dtype in SHORT else np.dtype(dtype).itemsize


def source(spec: Spec) -> str:
    """The text of the kernel."""
    index, together = spec.elements.index, spec.block // spec.threads
    parameters = [*fused.parameters(spec.elements), *_end_parameters(spec)]
    parameters += [*(f"const {index} {name}" for name in COUNTS), *fused.walk_parameters(spec.elements)]
    return f"""{PREAMBLE}{folds.SOURCE}
namespace ts {{
{fused.rows(spec.elements, (*spec.elements.outputs, *_sources_alone(spec)))}
{lines(_structures(spec), 0)}
}}
extern "C" __global__ void __launch_bounds__({spec.block}) {fused.NAME}({", ".join(parameters)}) {{
    const int lane = threadIdx.x % {spec.threads};
    {lines(fused.elements(spec.elements), 4)}
    {lines(_kept(spec, together), 4)}
    const {index} step = ({index})gridDim.x * {together};
    for ({index} first = ({index})blockIdx.x * {together}; first < count; first += step) {{
        const {index} row = first + threadIdx.x / {spec.threads};
        const {index} before = row % parts * piece, rest_of_row = length - before;
        const {index} start = row / parts * length + before;
        const {index} size = row >= count ? 0 : rest_of_row < piece ? rest_of_row : piece;
        {lines(_declared(spec), 8)}
        {lines(_passes(spec), 8)}
        {lines(_results(spec), 8)}
    }}
}}
"""


def _sources_alone(spec: Spec) -> list[int]:
    """What ends read, and nobody else is given."""
    return [v for v in spec.kept() if v not in spec.elements.outputs]


def _end_parameters(spec: Spec) -> Iterator[str]:
    yield from (f"{C_TYPES[end.result]} *z{k}" for k, end in enumerate(spec.ends))
    for k, end in enumerate(spec.ends):
        for name, given in end.taken:
            if isinstance(given, Array):
                yield f"const {C_TYPES[given.dtype]} *z{k}_{name}"
            elif isinstance(given, Number):
                yield f"const {C_TYPES[given.dtype]} z{k}_{name}"


def _structures(spec: Spec) -> Iterator[str]:
    for k, end in enumerate(spec.ends):
        compute = value_type(end.compute)
        fields = {name: compute for name, given in end.taken if isinstance(given, Number)}
        fields |= {name: f"word_{given.text}" for name, given in end.taken if isinstance(given, Word)}
        columns = {name: C_TYPES[given.dtype] for name, given in end.taken if isinstance(given, Array)}
        yield from folds.structure(f"end_{k}", end.text, compute, fields, columns)


def _kept(spec: Spec, together: int) -> Iterator[str]:
    """The places of this thread's row in shared memory."""
    if not spec.keeps:
        return
    yield "extern __shared__ double memory[];"
    at = "(char *)memory"
    for v in spec.kept():
        kind = value_type(spec.elements.dtype(v))
        yield f"{kind} *const kept_{v} = ({kind} *)({at}) + threadIdx.x / {spec.threads} * piece;"
        at += f" + sizeof({kind}) * {together} * piece"


def _declared(spec: Spec) -> Iterator[str]:
    for k, end in enumerate(spec.ends):
        yield f"ts::end_{k} e_{k};"
        yield f"e_{k}.n = ({value_type(end.compute)})whole;"
        for name, given in end.taken:
            if isinstance(given, Array):
                yield f"e_{k}.of_{name} = z{k}_{name};"
            elif isinstance(given, Number):
                yield f"e_{k}.{name} = ({value_type(end.compute)})z{k}_{name};"


def _passes(spec: Spec) -> Iterator[str]:
    """Once over the row for each fold, and once for results of elements."""
    index, width = spec.elements.index, spec.elements.width
    for turn in range(max(end.passes() for end in spec.ends)):
        yield "{"
        for k, end, fold in _folding(spec, turn):
            kind = value_type(end.compute)
            yield f"    {kind} f{k} = ts::{fold}::none<{kind}>();"
        yield f"    for ({index} quad = lane * {QUAD}; quad < size; quad += {spec.threads * QUAD})"
        yield f"    for ({index} j = quad; j < quad + {QUAD} && j < size; j += {width}) {{"
        yield from (f"        {line}" for line in _pack(spec, turn))
        yield "    }"
        for k, _, fold in _folding(spec, turn):
            yield f"    e_{k}.found_{turn}(ts::of_threads<ts::{fold}, {spec.threads}>(f{k}));"
        yield "}"


def _folding(spec: Spec, turn: int) -> list[tuple[int, End, str]]:
    """The ends that fold the row in a pass, and how."""
    ends = [(k, end, folds.parsed(end.text).folds) for k, end in enumerate(spec.ends)]
    return [(k, end, found[turn]) for k, end, found in ends if turn < len(found)]


def _giving(spec: Spec, turn: int) -> list[tuple[int, End]]:
    """The ends that give results of elements in a pass."""
    return [
        (k, end)
        for k, end in enumerate(spec.ends)
        if turn < end.passes() and turn == len(folds.parsed(end.text).folds)
    ]


def _pack(spec: Spec, turn: int) -> Iterator[str]:
    """What a pass does with the pack of a row that begins at j."""
    width, giving = spec.elements.width, _giving(spec, turn)
    if turn == 0 or not spec.keeps:
        yield f"const {spec.elements.index} i = (start + j) / {width};"
        yield from fused.coordinates(spec.elements)
        yield from fused.loads(spec.elements)
    if turn == 0:
        yield from fused.packs(spec.elements)
    yield from (f"pack<{C_TYPES[end.result]}, {width}> w{k};" for k, end in giving)
    yield f"for (int k = 0; k < {width}; ++k) {{"
    yield from (f"    {line}" for line in _values(spec, turn))
    for k, end, fold in _folding(spec, turn):
        value = f"({value_type(end.compute)})r{end.source}"
        yield f"    f{k} = ts::{fold}::of(f{k}, e_{k}.each_{turn}({value}));"
    for k, end in giving:
        value = f"({value_type(end.compute)})r{end.source}"
        yield f"    store(&w{k}.at[k], e_{k}.result({value}, before + j + k));"
    yield "}"
    if turn == 0:
        yield from fused.stores(spec.elements)
    yield from (f"*(pack<{C_TYPES[end.result]}, {width}> *)(z{k} + start + j) = w{k};" for k, end in giving)


def _values(spec: Spec, turn: int) -> Iterator[str]:
    """What ends read of the k-th elements of a pack: computed, or kept."""
    if turn > 0 and spec.keeps:
        read = {end.source for end in spec.ends if turn < end.passes()}
        yield from (
            f"const {value_type(spec.elements.dtype(v))} r{v} = kept_{v}[j + k];" for v in sorted(read)
        )
        return
    yield from fused.computed(spec.elements, (*spec.elements.outputs, *_sources_alone(spec)))
    if turn == 0:
        yield from (f"store(&q{v}.at[k], r{v});" for v in spec.elements.outputs)
        if spec.keeps:
            yield from (f"kept_{v}[j + k] = r{v};" for v in spec.kept())


def _results(spec: Spec) -> Iterator[str]:
    """Those of rows."""
    for k, end in enumerate(spec.ends):
        if not folds.parsed(end.text).by_element:
            yield f"if (lane == 0 && row < count) store(z{k} + row, e_{k}.result(0, 0));"
