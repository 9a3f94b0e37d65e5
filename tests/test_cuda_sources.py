"""Every CUDA source that the backend can generate is compiled by NVRTC, which needs no GPU."""

import itertools
import re

import pytest

from tests import nvrtc
from tests.shares import some
from ts.backends.cuda import folds, fused, rowwise, sources
from ts.ops import registry

pytestmark = pytest.mark.skipif(nvrtc.available() is not None, reason=str(nvrtc.available()))
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
WALKS = (fused.PACKED, fused.GATHERED, fused.REPEATED, fused.ELEMENT)


def compiled_together(specs):
    """How many kernels come out of these, as one unit: the compiler's start takes longer than a kernel."""
    specs = list(specs)
    assert len(set(specs)) == len(specs)
    head = sources.PREAMBLE if isinstance(specs[0], fused.Spec) else sources.PREAMBLE + folds.SOURCE
    bodies = [(fused if isinstance(spec, fused.Spec) else rowwise).source(spec).removeprefix(head) for spec in specs]
    assert not any("struct pack" in body or "struct sum" in body for body in bodies)
    renamed = (re.sub(rf"\b(rows|end_\d+|{fused.NAME})\b", rf"\1_{k}", body) for k, body in enumerate(bodies))
    return nvrtc.compiled(head + "".join(renamed), sources.OPTIONS).count(".entry")


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


@pytest.mark.parametrize("compute", some("float32", "int64", of=sources.CHARACTERS))
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


@pytest.mark.parametrize("given", some("bool", "int64", of=INTEGERS))
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


KNOWN = {"ord": 3.0, "p": 3.0, "correction": 2, "unbiased": True}  # arguments that decide the text of an end
LAUNCHES = (  # threads of a row, whether it is kept, width, rank, how places are counted
    (1, True, 1, 1, "int"), (32, True, 4, 1, "int"), (256, False, 2, 2, "long long"), (1024, False, 1, 3, "int"),
)  # fmt: skip


def texts_of_ends(dtype):
    """Each with the names of what it takes, and whether that may be None."""
    found = {}
    for record in [r for r in registry.records() if r.cuda_rows is not None]:
        given = record.schema.arguments[1:]
        text = record.cuda_rows
        if not isinstance(text, str):
            text = text(9, **{a.name: KNOWN.get(a.name) for a in given})
        if dtype in sources.FLOATS or folds.is_whole(text):
            taken = [a for a in given if folds.names(a.name, text)]
            found[text] = [(a.name, a.name not in KNOWN and str(a).partition(" ")[0].endswith("?")) for a in taken]
    return found


@pytest.mark.parametrize("dtype", some("bfloat16", "int64", of=("float16", "bfloat16", "float32", "float64", "int64", "int32", "uint8")))
def test_every_end(dtype):
    """Each text for threads and blocks, on rows that are kept or not, with and without what it may take."""
    compute = "float32" if dtype in sources.SHORT else dtype
    specs = set()
    for (text, names), none, launch in itertools.product(texts_of_ends(dtype).items(), (False, True), LAUNCHES):
        threads, keeps, width, rank, index = launch
        row, number = fused.Array(dtype, fused.PACKED), fused.Number("float64")
        some = [(name, row if name in ("weight", "bias") else number, optional) for name, optional in names]
        taken = tuple((name, fused.Word("None") if none and optional else given) for name, given, optional in some)
        added = fused.Row("a + b", (0, 1), dtype, dtype)
        elements = fused.Spec((row, fused.Array(dtype, fused.GATHERED)), (added,), (2,) if threads > 32 else (), rank, width, index)
        ends = tuple(rowwise.End(text, source, compute, dtype, taken) for source in (0, 2))
        specs.add(rowwise.Spec(elements, ends, threads, keeps))
    assert compiled_together(specs) == len(specs) > 10


def test_texts_that_say_nothing():
    """A text has a fold, named numbers before its result, and one fold in a statement."""
    for text in ("a * 2", "m = sum(a)", "sum(a); m", "sum(a) / sum(a * a)", "m = a; sum(a - m)", "sum(sum(a))", "m = largest(a); n = m"):
        with pytest.raises(ValueError):
            folds.parsed(text)
    assert folds.parsed("m = largest(a); exp(a - m) / sum(exp(a - m))").folds == ("largest", "sum")
    assert folds.split("sum(a) / n") == ("sum(a)", "sum(a) / n") and folds.split("a / sum(a)") is None


def test_random_numbers():
    """The generator's kernels."""
    assert nvrtc.compiled(sources.random()).count(".entry") == len(sources.DRAWS)


def test_a_wrong_source_is_refused():
    """The compiler looks at what it is given."""
    with pytest.raises(nvrtc.SourceError, match="nonsense"):
        row = fused.Row("nonsense(a)", (0,), "float32", "float32")
        nvrtc.compiled(fused.source(fused.Spec((fused.Array("float32", fused.PACKED),), (row,), (1,), 1, 4, "int")))
