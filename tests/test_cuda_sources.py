"""Every CUDA source that the backend can generate is compiled by NVRTC, which needs no GPU."""

import itertools
import re

import pytest

from tests import nvrtc
from tests.sharding import some
from ts.backends.cuda import kernel_sources, pointwise_codegen, reduction_codegen, row_reduction_codegen
from ts.ops import registry

pytestmark = pytest.mark.skipif(nvrtc.available() is not None, reason=str(nvrtc.available()))
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
ACCESSES = (pointwise_codegen.PACKED, pointwise_codegen.GATHERED, pointwise_codegen.REPEATED, pointwise_codegen.ELEMENT)


def compiled_together(specs):
    """Compile kernel sources as one unit and return the number of kernels, because the compiler's start is
    slower than a kernel."""
    specs = list(specs)
    assert len(set(specs)) == len(specs)
    head = kernel_sources.PREAMBLE if isinstance(specs[0], pointwise_codegen.KernelSpec) else kernel_sources.PREAMBLE + reduction_codegen.REDUCTION_PREAMBLE
    bodies = [(pointwise_codegen if isinstance(spec, pointwise_codegen.KernelSpec) else row_reduction_codegen).generate_source(spec).removeprefix(head) for spec in specs]
    assert not any("struct pack" in body or "struct sum" in body for body in bodies)
    renamed = (re.sub(rf"\b(rows|epilogue_\d+|{pointwise_codegen.NAME})\b", rf"\1_{k}", body) for k, body in enumerate(bodies))
    return nvrtc.compiled(head + "".join(renamed), kernel_sources.OPTIONS).count(".entry")


def launched():
    """Return the records with kernels of their own."""
    return [r for r in registry.records() if kernel_sources.arity(r)]


def spec_of(record, inputs, compute, rank=1, width=4, index="int"):
    """Return the kernel specification of a record."""
    words = {"Scalar?": "None", "str": "tanh"}
    kinds = [p.split()[0] for p in record.schema_text.partition("(")[2].replace("*, ", "").split(", ")]
    given = [pointwise_codegen.StringArgument(words[kind]) if kind in words else x for kind, x in zip(kinds, inputs)]
    if kernel_sources.mask_operand(record) >= 0:
        given[kernel_sources.mask_operand(record)] = pointwise_codegen.Array("bool", inputs[0].access)
    result = "bool" if record.promotion == "bool" else compute
    row = pointwise_codegen.ExpressionOp(record.cuda, tuple(range(len(given))), compute, result)
    return pointwise_codegen.KernelSpec(tuple(given), (row,), (len(given),), rank, width, index)


@pytest.mark.parametrize("compute", some("float32", "int64", of=kernel_sources.CHARACTERS))
def test_every_record(compute):
    """The kernel of each record compiles for arrays and with a scalar or string as last operand."""
    specs = {}  # aliases have equal specifications
    for record in launched():
        if kernel_sources.supports_dtype(record, compute):
            arity = kernel_sources.arity(record)
            specs[spec_of(record, [pointwise_codegen.Array(compute, pointwise_codegen.PACKED)] * arity, compute)] = record
            if arity > 1:
                arrays = [pointwise_codegen.Array(compute, pointwise_codegen.GATHERED)] * (arity - 1)
                specs[spec_of(record, [*arrays, pointwise_codegen.Number("float64")], compute, 2, 1)] = record
    assert len(specs) > (100 if compute in kernel_sources.FLOATS else 10)
    assert compiled_together(specs) == len(specs)


@pytest.mark.parametrize("given", some("bool", "int64", of=INTEGERS))
def test_integers_are_computed_in_floats(given):
    """Operators that promote integers to floats load the integers in their own dtype."""
    records = [r for r in launched() if r.promotion == "float"]
    specs = {spec_of(r, [pointwise_codegen.Array(given, pointwise_codegen.PACKED)] * kernel_sources.arity(r), "float32"): r for r in records}
    assert compiled_together(specs) == len(specs) > 30


@pytest.mark.parametrize("rank", (1, 2, 3, 8))
def test_all_access_patterns(rank):
    """Kernels compile for mixed dtypes, all access patterns, scalars and strings, and several results."""
    specs = []
    for width, index in ((1, "long long"), (2, "int"), (8, "int")):
        for accesses in (ACCESSES, ACCESSES[::-1]):
            dtypes = ("float16", "bfloat16", "float32", "float64")
            if rank == 1:  # along a single dimension, a repeated operand has one element
                accesses = [pointwise_codegen.ELEMENT if access == pointwise_codegen.REPEATED else access for access in accesses]
            inputs = (*map(pointwise_codegen.Array, dtypes, accesses), pointwise_codegen.Number("float64"), pointwise_codegen.Number("int64"), pointwise_codegen.StringArgument("none"))
            rows = (
                pointwise_codegen.ExpressionOp("a + b * c", (0, 1, 2), "float32", "float32"),
                pointwise_codegen.ExpressionOp("gelu(a, b)", (7, 6), "float32", "float32"),
                pointwise_codegen.ExpressionOp("a > b", (8, 4), "float32", "bool"),
                pointwise_codegen.ExpressionOp("a ? b : c", (9, 3, 5), "float64", "float64"),
                pointwise_codegen.ExpressionOp("a - 1", (0,), "float16", "float16"),
            )
            specs.append(pointwise_codegen.KernelSpec(inputs, rows, (7, 9, 10, 11), rank, width, index))
    assert compiled_together(specs) == len(specs)


ARGUMENT_VALUES = {"ord": 3.0, "p": 3.0, "correction": 2, "unbiased": True}  # arguments whose values are part of an epilogue's source
LAUNCHES = (  # threads per row, whether the row is cached, vector width, rank, index type
    (1, True, 1, 1, "int"), (32, True, 4, 1, "int"), (256, False, 2, 2, "long long"), (1024, False, 1, 3, "int"),
)  # fmt: skip


def row_expressions(dtype):
    """Return row expressions with the names of their arguments and a flag for optional arguments."""
    results = {}
    for record in [r for r in registry.records() if r.cuda_rows is not None]:
        given = record.schema.arguments[1:]
        text = record.cuda_rows
        if not isinstance(text, str):
            text = text(9, **{a.name: ARGUMENT_VALUES.get(a.name) for a in given})
        if dtype in kernel_sources.FLOATS or reduction_codegen.is_integer_exact(text):
            used_arguments = [a for a in given if reduction_codegen.contains_name(a.name, text)]
            results[text] = [(a.name, a.name not in ARGUMENT_VALUES and str(a).partition(" ")[0].endswith("?")) for a in used_arguments]
    return results


@pytest.mark.parametrize("dtype", some("bfloat16", "int64", of=("float16", "bfloat16", "float32", "float64", "int64", "int32", "uint8")))
def test_every_row_expression(dtype):
    """Each row expression compiles for threads and blocks, for cached and uncached rows, with and without
    optional arguments."""
    compute = "float32" if dtype in kernel_sources.HALF_FLOATS else dtype
    specs = set()
    for (text, names), none, launch in itertools.product(row_expressions(dtype).items(), (False, True), LAUNCHES):
        threads, caches_row, width, rank, index = launch
        row, number = pointwise_codegen.Array(dtype, pointwise_codegen.PACKED), pointwise_codegen.Number("float64")
        given_values = [(name, row if name in ("weight", "bias") else number, optional) for name, optional in names]
        selected = tuple((name, pointwise_codegen.StringArgument("None") if none and optional else given) for name, given, optional in given_values)
        added = pointwise_codegen.ExpressionOp("a + b", (0, 1), dtype, dtype)
        elements = pointwise_codegen.KernelSpec((row, pointwise_codegen.Array(dtype, pointwise_codegen.GATHERED)), (added,), (2,) if threads > 32 else (), rank, width, index)
        ends = tuple(row_reduction_codegen.RowEpilogue(text, source, compute, dtype, selected) for source in (0, 2))
        specs.add(row_reduction_codegen.RowKernelSpec(elements, ends, threads, caches_row))
    assert compiled_together(specs) == len(specs) > 10


def test_malformed_row_expressions():
    """A row expression needs a reduction, definitions before uses, and one reduction per statement."""
    for text in ("a * 2", "m = sum(a)", "sum(a); m", "sum(a) / sum(a * a)", "m = a; sum(a - m)", "sum(sum(a))", "m = largest(a); n = m"):
        with pytest.raises(ValueError):
            reduction_codegen.parse_row_expression(text)
    assert reduction_codegen.parse_row_expression("m = largest(a); exp(a - m) / sum(exp(a - m))").reductions == ("largest", "sum")
    assert reduction_codegen.split_reduction("sum(a) / n") == ("sum(a)", "sum(a) / n") and reduction_codegen.split_reduction("a / sum(a)") is None


def test_random_numbers():
    """The kernels of the random generator compile."""
    assert nvrtc.compiled(kernel_sources.random_kernels()).count(".entry") == len(kernel_sources.RANDOM_KERNELS)


def test_invalid_source_is_rejected():
    """The compiler rejects an invalid expression."""
    with pytest.raises(nvrtc.SourceError, match="nonsense"):
        row = pointwise_codegen.ExpressionOp("nonsense(a)", (0,), "float32", "float32")
        nvrtc.compiled(pointwise_codegen.generate_source(pointwise_codegen.KernelSpec((pointwise_codegen.Array("float32", pointwise_codegen.PACKED),), (row,), (1,), 1, 4, "int")))
