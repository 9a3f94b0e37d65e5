"""`ts.LongTensor` and similar types as annotations mean `Tensor`, and warn."""

import pytest

import ts
from ts.errors import CompilationError

SOURCE = "def f(x: ts.{}) -> ts.{}:\n    return x\n"


def test_strings():
    with pytest.warns(UserWarning, match="dtype constraints are not enforced"):
        unit = ts.jit.CompilationUnit(SOURCE.format("LongTensor", "FloatTensor"))
    assert str(unit.f.schema) == "f(Tensor x) -> Tensor"
    assert unit.f(ts.ones(2)).tolist() == [1.0, 1.0]


def test_live_functions():
    def f(x: ts.DoubleTensor) -> ts.Tensor:
        return x

    with pytest.warns(UserWarning, match="dtype constraints are not enforced"):
        assert str(ts.jit.script(f).schema) == "f(Tensor x) -> Tensor"


def test_types_of_other_devices():
    with pytest.raises(CompilationError, match=r"Unknown type name .ts\.cuda\.LongTensor."):
        ts.jit.CompilationUnit(SOURCE.format("cuda.LongTensor", "Tensor"))
