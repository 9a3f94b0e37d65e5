"""Every CUDA source that the backend can generate is compiled by NVRTC, which needs no GPU."""

import re

import pytest

from tests import nvrtc
from ts.backends.cuda import fused, sources
from ts.ops import registry

pytestmark = pytest.mark.skipif(nvrtc.available() is not None, reason=str(nvrtc.available()))
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
WALKS = (fused.PACKED, fused.GATHERED, fused.REPEATED, fused.ELEMENT)


def compiled_together(specs):
    """How many kernels come out of these, as one unit: the compiler's start takes longer than a kernel."""
    assert len(set(specs)) == len(specs)
    bodies = [fused.source(spec).removeprefix(sources.PREAMBLE) for spec in specs]
    assert not any("struct pack" in body for body in bodies)
    renamed = (re.sub(rf"\b(rows|{fused.NAME})\b", rf"\1_{k}", body) for k, body in enumerate(bodies))
    return nvrtc.compiled(sources.PREAMBLE + "".join(renamed), sources.OPTIONS).count(".entry")


def launched():
    """The records that are launched by themselves."""
    return [r for r in registry.records() if sources.arity(r)]


def spec_of(record, inputs, compute, rank=1, width=4, index="int"):
    """A kernel of one row."""
    words = {"Scalar?": "None", "str": "tanh"}
    kinds = [p.split()[0] for p in record.schema_text.partition("(")[2].replace("*, ", "").split(", ")]
    given = [fused.Word(words[kind]) if kind in words else x for kind, x in zip(kinds, inputs)]
    if sources.mask(record) >= 0:
        given[sources.mask(record)] = fused.Array("bool", inputs[0].walk)
    result = "bool" if record.promotion == "bool" else compute
    row = fused.Row(record.cuda, tuple(range(len(given))), compute, result)
    return fused.Spec(tuple(given), (row,), (len(given),), rank, width, index)


@pytest.mark.parametrize("compute", sources.CHARACTERS)
def test_every_record(compute):
    """Each record's kernel, on arrays and with a number or a word as the last operand."""
    specs = {}  # aliases have the same
    for record in launched():
        if sources.fits(record, compute):
            arity = sources.arity(record)
            specs[spec_of(record, [fused.Array(compute, fused.PACKED)] * arity, compute)] = record
            if arity > 1:
                arrays = [fused.Array(compute, fused.GATHERED)] * (arity - 1)
                specs[spec_of(record, [*arrays, fused.Number("float64")], compute, 2, 1)] = record
    assert len(specs) > (100 if compute in sources.FLOATS else 10)
    assert compiled_together(specs) == len(specs)


@pytest.mark.parametrize("given", INTEGERS)
def test_integers_are_computed_in_floats(given):
    """What promotes integers to floats loads them as they are."""
    records = [r for r in launched() if r.promotion == "float"]
    specs = {spec_of(r, [fused.Array(given, fused.PACKED)] * sources.arity(r), "float32"): r for r in records}
    assert compiled_together(specs) == len(specs) > 30


@pytest.mark.parametrize("rank", (1, 2, 3, 8))
def test_every_walk(rank):
    """Mixed dtypes, all ways over the elements, numbers and words, several results."""
    specs = []
    for width, index in ((1, "long long"), (2, "int"), (8, "int")):
        for walks in (WALKS, WALKS[::-1]):
            dtypes = ("float16", "bfloat16", "float32", "float64")
            if rank == 1:  # what repeats an element along the only dimension has one
                walks = [fused.ELEMENT if walk == fused.REPEATED else walk for walk in walks]
            inputs = (*map(fused.Array, dtypes, walks), fused.Number("float64"), fused.Number("int64"), fused.Word("none"))
            rows = (
                fused.Row("a + b * c", (0, 1, 2), "float32", "float32"),
                fused.Row("gelu(a, b)", (7, 6), "float32", "float32"),
                fused.Row("a > b", (8, 4), "float32", "bool"),
                fused.Row("a ? b : c", (9, 3, 5), "float64", "float64"),
                fused.Row("a - 1", (0,), "float16", "float16"),
            )
            specs.append(fused.Spec(inputs, rows, (7, 9, 10, 11), rank, width, index))
    assert compiled_together(specs) == len(specs)


def test_random_numbers():
    """The generator's kernels."""
    assert nvrtc.compiled(sources.random()).count(".entry") == len(sources.DRAWS)


def test_a_wrong_source_is_refused():
    """The compiler looks at what it is given."""
    with pytest.raises(nvrtc.SourceError, match="nonsense"):
        row = fused.Row("nonsense(a)", (0,), "float32", "float32")
        nvrtc.compiled(fused.source(fused.Spec((fused.Array("float32", fused.PACKED),), (row,), (1,), 1, 4, "int")))
