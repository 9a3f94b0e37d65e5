"""Forward mode: tensors carry tangents through operators, views, in-place writes and scripts."""

import pytest

import ts
from ts.autograd import forward_ad


def tangent(function, *pairs):
    with forward_ad.dual_level():
        found = function(*(forward_ad.make_dual(x, t) for x, t in pairs))
        return forward_ad.unpack_dual(found).tangent


def numbers(*values):
    return ts.tensor(values, dtype=ts.float64)


X, V = numbers(0.5, -1.0, 2.0), numbers(1.0, 2.0, -1.0)


def test_element_by_element():
    assert ts.allclose(tangent(ts.sin, (X, V)), X.cos() * V)
    assert ts.allclose(tangent(lambda x: x * x + 3, (X, V)), 2 * X * V)


def test_complex_numbers():
    z, v = ts.complex(X, V), ts.complex(V, X)
    assert ts.allclose(tangent(ts.sin, (z, v)), z.cos() * v)
    assert ts.allclose(tangent(ts.abs, (z, v)), (z.conj() * v).real / z.abs())


def test_several_arguments_and_results():
    assert ts.allclose(tangent(ts.dot, (X, V), (V, X)), V.dot(V) + X.dot(X))
    assert ts.allclose(tangent(lambda x: x.sort().values, (X, V)), V[X.argsort()])
    assert tangent(lambda x: x.argmax(), (X, V)) is None


def test_an_operator_without_a_formula_of_its_own():
    """An operator without a forward formula gets its tangent by double backward."""
    got = tangent(lambda x: x.prod(), (X, V))
    assert ts.allclose(got, (X.prod() / X * V).sum())


def test_views_and_writes_in_place():
    def written(x):
        y = x * 1
        y[0:2].mul_(3)
        y[2] = 5.0
        return y

    assert tangent(written, (X, V)).tolist() == [3, 6, 0]


def test_write_of_a_dual_adds_a_tangent():
    def into(x):
        result = ts.zeros(3, dtype=ts.float64)
        result.copy_(x)
        return result * 2

    assert tangent(into, (X, V)).tolist() == (2 * V).tolist()


def test_scripts():
    @ts.jit.script
    def f(x: ts.Tensor):
        total = ts.zeros(1, dtype=ts.float64)
        for i in range(3):
            total = total + x.tanh() * i
        return total

    assert ts.allclose(tangent(f, (X, V)), 3 * (1 - X.tanh() ** 2) * V)


def test_forward_over_reverse():
    x = X.clone().requires_grad_()
    with forward_ad.dual_level():
        (first,) = ts.autograd.grad((forward_ad.make_dual(x, V) ** 3).sum(), x, create_graph=True)
        assert ts.allclose(forward_ad.unpack_dual(first).tangent, 6 * X * V)


def test_reverse_over_forward():
    x = X.clone().requires_grad_()
    t = tangent(lambda x: (x**3).sum(), (x, V))
    t.backward()
    assert ts.allclose(x.grad, 6 * X * V)


def test_tangents_under_no_grad():
    with ts.no_grad():
        assert ts.allclose(tangent(ts.exp, (X, V)), X.exp() * V)


def test_tangents_end_with_the_level():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(X, V)
        y = x * 2
    assert forward_ad.unpack_dual(x).tangent is None
    assert (y + 1).tolist() == (X * 2 + 1).tolist()
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(x * 3).tangent is None


def test_errors():
    with pytest.raises(RuntimeError, match="no level exists"):
        forward_ad.make_dual(X, V)
    with forward_ad.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            forward_ad.enter_dual_level()
        with pytest.raises(RuntimeError, match="same shape"):
            forward_ad.make_dual(X, V[:2])
        with pytest.raises(ValueError, match="floating point or complex"):
            forward_ad.make_dual(ts.ones(2, dtype=ts.int64), ts.ones(2))
        with pytest.raises(RuntimeError, match="out="):
            ts.add(forward_ad.make_dual(X, V), 1, out=ts.zeros(3, dtype=ts.float64))
    with pytest.raises(RuntimeError, match="was not the last one"):
        forward_ad.exit_dual_level()


def test_an_error_inside_closes_the_level():
    with pytest.raises(ZeroDivisionError), forward_ad.dual_level():
        raise ZeroDivisionError
    with forward_ad.dual_level():
        pass
