"""Every CUDA source that the backend can generate is compiled by NVRTC, which needs no GPU."""

import re

import pytest

from tests import nvrtc
from ts.backends.cuda import sources
from ts.ops import registry

pytestmark = pytest.mark.skipif(nvrtc.available() is not None, reason=str(nvrtc.available()))
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")


def together(kernels):
    """Sources as one unit: the compiler's start takes longer than a kernel."""
    bodies = [code.removeprefix(sources.PREAMBLE) for _, code in kernels]
    assert all(len(body) < len(code) for body, (_, code) in zip(bodies, kernels))
    return sources.PREAMBLE + "".join(
        body.replace(name, f"{name}_{k}") for k, (body, (name, _)) in enumerate(zip(bodies, kernels))
    )


def launched():
    """The records that are launched by themselves."""
    return [r for r in registry.records() if sources.arity(r)]


@pytest.mark.parametrize("compute", sources.FLOATS)
def test_pointwise_kernels(compute):
    """Each record's kernel, dense and with strides, with a tensor and with a number as the second operand."""
    kernels = []
    for record in launched():
        if sources.fits(record, compute):
            arity = sources.arity(record)
            kernels += [sources.of_record(record, [compute] * arity, compute, rank) for rank in (0, 2)]
            if arity == 2:
                kernels.append(sources.of_record(record, [compute, ""], compute, 0))
    assert len(kernels) > 300
    ptx = nvrtc.compiled(together(kernels))
    assert ptx.count(".entry") == len(kernels)


@pytest.mark.parametrize("given", INTEGERS)
def test_integers_are_computed_in_floats(given):
    """What promotes integers to floats loads them as they are."""
    kernels = [
        sources.of_record(r, [given] * sources.arity(r), "float32", 0)
        for r in launched()
        if r.promotion == "float"
    ]
    assert nvrtc.compiled(together(kernels)).count(".entry") == len(kernels) > 50


@pytest.mark.parametrize("rank", range(sources.MOST_DIMENSIONS + 1))
def test_every_number_of_dimensions(rank):
    """Mixed dtypes and all ranks."""
    code = sources.pointwise(
        "k", "a + b * c", ["float16", "bfloat16", "float32"], "float32", "float32", rank=rank
    )
    assert nvrtc.compiled(code).count(".entry") == 1


def test_expressions_of_three_operands():
    """Expressions that wait for fusion, with options as further numbers, are CUDA C++ too."""
    waiting = {r.cuda for r in registry.records() if r.cuda and r.promotion is None}
    assert "a ? b : c" in waiting
    for n, expression in enumerate(sorted(waiting)):
        plain = re.sub(r"\balpha\b", "2.0f", expression)
        nvrtc.compiled(sources.pointwise(f"k{n}", plain, ["float32"] * 3, "float32", "float32", rank=0))


def test_random_numbers():
    """The generator's kernels."""
    assert nvrtc.compiled(sources.random()).count(".entry") == len(sources.DRAWS)


def test_a_wrong_source_is_refused():
    """The compiler looks at what it is given."""
    with pytest.raises(nvrtc.SourceError, match="nonsense"):
        nvrtc.compiled(sources.pointwise("k", "nonsense(a)", ["float32"], "float32", "float32", rank=0))
