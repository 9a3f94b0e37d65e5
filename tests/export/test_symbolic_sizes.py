"""Symbolic shape rules of operator records return the sizes of actual results."""

import re

import pytest

from tests.export.symbolic_sizes import Call, sample
from tests.test_operators import RECORDS
from ts.export.data_dependent_bools import BOOL_OPERATORS
from ts.ops.shape_functions import DataDependentShapeError

PARTS = 4
# Operators that read element values, without a rule that declares it, with reasons.
EXCUSED = {
    "aten::backward": "computes gradients, which an export refuses",
    "aten::backward.TensorList": "computes gradients, which an export refuses",
    "aten::retain_grad": "is about gradients, which an export refuses",
    "aten::one_hot": "as many classes as the largest element says, where nobody says how many",
    "profiler::_record_function_exit": "a number that names a block, which elements tell",
    "aten::cpu": "moves elements; `x.cpu()` is recorded as a conversion",
    "aten::_to_cpu": "moves elements; `x.cpu()` is recorded as a conversion",
}
# Quantized tensors have a scale in addition to elements, which fake tensors lack: programs with quantized
# tensors are not exported.
QUANTIZED = re.compile(r"quantized::|aten::(quantized?_|q_|int_repr|fake_quantize|dequantize|_make_per)")


def needs_elements(record):
    """Return True if a record's result shape depends on element values."""
    return isinstance(record.shape, DataDependentShapeError) and record.shape.rule is None


@pytest.mark.parametrize("part", range(PARTS))
def test_every_record(part):
    wrong = {}
    for record in RECORDS[part::PARTS]:
        if record.variant == "out" or record.key in EXCUSED or QUANTIZED.match(record.key):
            continue
        if record.name in BOOL_OPERATORS:  # exports record other operators instead
            continue
        if (dtype := sample(record)) is None:
            continue
        if needs_elements(record):
            with pytest.raises((RuntimeError, NotImplementedError)):
                Call(record, dtype)
            continue
        try:
            found = Call(record, dtype).differences()
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
        if found:
            wrong[record.key] = found
    assert wrong == {}


# `squeeze` of a size that is 1 in another call only: the program raises an error at a use of the result.
SQUEEZED = re.compile(r"aten::squeeze(_copy)?(\.|$)")


# A pseudo-inverse of an empty matrix has no batch dimensions, whatever the tolerances (as in PyTorch).
OF_NOTHING = {"aten::linalg_pinv.rcond_tensor"}


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_other_sizes_than_the_example(part):
    """Symbolic shapes are correct for other sizes than the example's."""
    wrong = {}
    for record in RECORDS[part::PARTS]:
        if record.variant == "out" or record.key in EXCUSED or record.name in BOOL_OPERATORS:
            continue
        if QUANTIZED.match(record.key) or SQUEEZED.match(record.key) or record.key in OF_NOTHING:
            continue
        if needs_elements(record) or (dtype := sample(record)) is None:
            continue
        if found := Call(record, dtype).differences_elsewhere():
            wrong[record.key] = found
    assert wrong == {}
