"""Functions of complex numbers in scripts: signs of zeros and infinite parts of arguments are respected."""

import cmath
import io
import math

import pytest

import ts

INF = math.inf


@ts.jit.script
def functions(x: complex):
    return [cmath.acosh(x), cmath.asinh(x), cmath.atanh(x), cmath.acos(x), cmath.asin(x), cmath.atan(x), cmath.log(x)]


@pytest.mark.parametrize("x", [complex(-0.0, 2.0), complex(0.0, -2.0), complex(-2.0, -0.0), complex(-INF, INF), complex(INF, 2.0)])
def test_special_arguments(x):
    """Results equal Python's, including signs of zeros."""
    expected = [f(x) for f in (cmath.acosh, cmath.asinh, cmath.atanh, cmath.acos, cmath.asin, cmath.atan, cmath.log)]
    for actual, wanted in zip(functions(x), expected, strict=True):
        for part, other in ((actual.real, wanted.real), (actual.imag, wanted.imag)):
            assert part == pytest.approx(other, nan_ok=True) and math.copysign(1, part) == math.copysign(1, other)


def test_infinite_parts_in_archives():
    """A complex attribute keeps infinite parts and negative zeros in an archive."""

    class Holder(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.value = complex(2.0, INF)
            self.other = complex(-INF, -0.0)

        def forward(self, x: float):
            return self.value, self.other

    file = io.BytesIO()
    ts.jit.save(ts.jit.script(Holder()), file)
    file.seek(0)
    first, second = ts.jit.load(file)(1.0)
    assert (first.real, first.imag) == (2.0, INF) and second.real == -INF and math.copysign(1, second.imag) == -1


@pytest.mark.parametrize("name", ["abs_", "absolute_"])
def test_abs_in_place_rejects_complex_tensors(name):
    for x in (ts.tensor([3 + 4j]), ts.tensor([[3 + 4j, 1j]]).t()):
        before = x.tolist()
        with pytest.raises(RuntimeError, match=r"In-place abs is not supported for complex tensors\."):
            getattr(x, name)()
        scripted = ts.jit.CompilationUnit(f"def f(x: Tensor) -> Tensor:\n    return x.{name}()\n").f
        with pytest.raises(RuntimeError, match=r"In-place abs is not supported for complex tensors\."):
            scripted(x)
        assert x.tolist() == before
    assert getattr(ts.tensor([-1.5, 2.0]), name)().tolist() == [1.5, 2.0]
