"""Tensor subclasses with `__torch_dispatch__` compared with PyTorch: results, dispatched operators, errors."""

import pytest

torch = pytest.importorskip("torch")
import ts  # noqa: E402
from tests import tensor_subclasses  # noqa: E402

OURS, THEIRS = [], []
RUN, REJECTED = tensor_subclasses.programs(ts, OURS)
RUN_THERE, TORCH_REJECTED = tensor_subclasses.programs(torch, THEIRS)
# Programs for which derivative formulas, or the number of `detach` calls, differ from PyTorch's.
OTHER_OPERATORS = {"function gradient", "quantized print", "double backward", "quantized module"}


def normalized_repr(value):
    return repr(value).replace("torch.", "").replace("ts.", "")


@pytest.mark.parametrize("name", list(RUN))
def test_results(name):
    OURS.clear()
    THEIRS.clear()
    tensor_subclasses.classes(torch, THEIRS)  # pickles refer to these classes
    table, _ = tensor_subclasses.programs(torch, THEIRS)
    expected = normalized_repr(table[name]())
    table, _ = tensor_subclasses.programs(ts, OURS)
    assert normalized_repr(table[name]()) == expected
    if name not in OTHER_OPERATORS:
        assert OURS == THEIRS


@pytest.mark.parametrize("name", list(REJECTED))
def test_rejected_calls(name):
    with pytest.raises(Exception) as there:
        TORCH_REJECTED[name]()
    with pytest.raises(type(there.value)) as here:
        REJECTED[name]()
    assert str(here.value).splitlines()[0] == str(there.value).splitlines()[0]
