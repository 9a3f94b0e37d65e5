"""Symbolic sizes in views, broadcasting, products, concatenation, convolutions, reductions and reshapes."""

import functools
import operator

import numpy as np
import pytest

from ts import backends
from ts._core.tensor import size_guards
from ts.backends.meta import MetaArray
from ts.ops import registry

META = backends.get("meta")
FLOAT = np.dtype("float32")


@functools.total_ordering
class Symbol:
    """Polynomial in named lengths of at least 2. A comparison that the bounds do not decide raises an error.
    `terms` has a factor for each product of names: {("n",): 2, (): 1} is 2*n + 1.
    """

    def __init__(self, terms):
        self.terms = {names: k for names, k in terms.items() if k}

    @classmethod
    def of(cls, x):
        return x if isinstance(x, cls) else cls({(): operator.index(x)})

    def simple(self):
        return self.terms.get((), 0) if set(self.terms) <= {()} else self

    def __add__(self, other):
        terms = dict(self.terms)
        for names, k in Symbol.of(other).terms.items():
            terms[names] = terms.get(names, 0) + k
        return Symbol(terms).simple()

    def __mul__(self, other):
        terms = {}
        for a, k in self.terms.items():
            for b, m in Symbol.of(other).terms.items():
                names = tuple(sorted(a + b))
                terms[names] = terms.get(names, 0) + k * m
        return Symbol(terms).simple()

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __floordiv__(self, other):
        divisor = Symbol.of(other).terms
        if len(divisor) == 1:
            ((product, factor),) = divisor.items()
            rest = self.terms.get((), 0) % factor if not product else 0
            if rest and all(not k % factor for names, k in self.terms.items() if names):
                return (self - rest) // other
            if all(not k % factor and not set(product) - set(names) for names, k in self.terms.items()):
                left = {}
                for names, k in self.terms.items():
                    rest = list(names)
                    for name in product:
                        rest.remove(name)
                    left[tuple(rest)] = k // factor
                return Symbol(left).simple()
        return Symbol({(f"({self})//({other})",): 1})

    def bounds(self):
        """Return the minimum and maximum value, with None for an unbounded end."""
        low = high = 0
        for names, k in self.terms.items():
            ends = (k * 2 ** len(names), None if names else k)
            if k < 0:
                ends = ends[::-1]
            low = None if low is None or ends[0] is None else low + ends[0]
            high = None if high is None or ends[1] is None else high + ends[1]
        return low, high

    def is_provably_equal(self, other):
        return Symbol.of(other).terms == self.terms

    def __eq__(self, other):
        low, high = Symbol.of(self + -other).bounds()
        if low == high == 0:
            return True
        if (low is not None and low > 0) or (high is not None and high < 0):
            return False
        raise ValueError(f"nobody knows whether {self} is {other}")

    def __lt__(self, other):
        low, high = Symbol.of(self + -other).bounds()
        if high is not None and high < 0:
            return True
        if low is not None and low >= 0:
            return False
        raise ValueError(f"nobody knows whether {self} is less than {other}")

    def __hash__(self):
        return hash(tuple(sorted(self.terms.items())))

    def __repr__(self):
        return " + ".join("*".join([str(k), *names] if k != 1 or not names else names) for names, k in self.terms.items())


N, M = Symbol({("n",): 1}), Symbol({("m",): 1})


def array(*shape):
    return MetaArray(shape, FLOAT)


def run(key, *args):
    """Return the result of an operator record on the meta device."""
    record = registry.find(f"aten::{key}")
    return META.bind(record)(META.xp, *args)


def shape(x):
    return str(list(x.shape))


def test_the_symbol_decides_what_it_can():
    assert N + 1 > 2 and N * 2 == N + N and 2 * N // N == 2 and not N == 1
    for undecided in (lambda: N == 3, lambda: N < M, lambda: bool(size_guards.equal(N, M))):
        with pytest.raises(ValueError, match="nobody knows"):
            undecided()


def test_questions():
    """Size predicates decide only comparisons valid for all symbol values; only `equal` requires a
    decision."""
    assert size_guards.is_provably_equal(N * 2, N + N) and not size_guards.is_provably_equal(N, 3) and not size_guards.known_one(N)
    assert size_guards.equal(N * M, M * N) and not size_guards.equal(N, 1)
    assert size_guards.product((2, N, 1, M)) == 2 * N * M and size_guards.product((N, 0)) == 0
    assert size_guards.ceil_div(N * 4, 4) == N and size_guards.ceil_div(7, 2) == 4 and size_guards.larger(N, 1) is N
    assert size_guards.broadcast((N, 1), (3,)) == (N, 3) and size_guards.dense((3, N), 4) == (4 * N, 4)
    assert size_guards.is_row_major((3, N), (4 * N, 4), 4) and not size_guards.is_row_major((3, N), (4, 12), 4)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        size_guards.broadcast((2,), (3,))


def test_views():
    x = array(N, 4, M)
    assert shape(run("transpose.int", x, 0, 2)) == "[m, 4, n]"
    assert run("transpose.int", x, 0, 2).strides == (4, 4 * M, 16 * M)
    assert shape(run("permute", x, [1, 2, 0])) == "[4, m, n]"
    assert shape(run("select.int", x, 1, 2)) == "[n, m]" and run("select.int", x, 1, 2).offset == 2 * M
    assert shape(run("slice.Tensor", x, 1, 1, 4, 2)) == "[n, 2, m]"
    assert shape(run("slice.Tensor", x, 0, None, None, 1)) == "[n, 4, m]"
    assert shape(run("slice.Tensor", x, 0, 1, None, 1)) == "[n + -1, 4, m]"
    assert shape(run("unsqueeze", x, 1)) == "[n, 1, 4, m]" and shape(run("squeeze", array(N, 1, M))) == "[n, m]"
    assert shape(run("squeeze.dim", array(N, 1, M), 1)) == "[n, m]"
    assert shape(run("expand", array(1, N), [M, -1], False)) == "[m, n]"
    assert run("expand", array(1, N), [M, -1], False).strides == (0, 4)
    assert shape(run("diagonal", array(N, N, M), 0, 0, 1)) == "[m, n]"
    assert shape(run("movedim.int", x, 0, 2)) == "[4, m, n]"
    assert shape(run("as_strided", x, [M, N], [1, M], 2)) == "[m, n]"
    assert [shape(part) for part in run("split.sizes", x, [1, 3], 1)] == ["[n, 1, m]", "[n, 3, m]"]
    assert shape(run("narrow", x, 1, 1, 2)) == "[n, 2, m]"


def test_reshapes():
    x = array(N, 4, M)
    assert shape(run("reshape", x, [-1])) == "[4*m*n]" and shape(run("flatten.using_ints", x, 0, 1)) == "[4*n, m]"
    assert shape(run("view", x, [2 * N, -1])) == "[2*n, 2*m]"
    assert shape(run("unflatten.int", x, 1, [2, -1])) == "[n, 2, 2, m]"
    transposed = run("transpose.int", x, 0, 1)
    assert shape(run("reshape", transposed, [4 * N, M])) == "[4*n, m]"
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        run("view", transposed, [4 * N, M])
    with pytest.raises(RuntimeError, match="is invalid for input of size"):
        run("view", array(N, 2), [N, 3])


def test_broadcasting():
    assert shape(run("add.Tensor", array(N, 1), array(M), 1)) == "[n, m]"
    assert shape(run("mul.Tensor", array(N, 4), array(N, 1))) == "[n, 4]"
    assert shape(run("where.self", MetaArray((N, 1), bool), array(M), array(1, M))) == "[n, m]"
    assert shape(run("exp", array(N, M))) == "[n, m]" and shape(run("relu", array(N))) == "[n]"
    assert run("lt.Scalar", array(N), 0.5).dtype == bool
    transposed = array(N, M).T
    assert run("exp", transposed).shape == (M, N)
    with pytest.raises(ValueError, match="nobody knows whether"):
        run("add.Tensor", array(N), array(M), 1)


def test_products():
    assert shape(run("mm", array(N, 3), array(3, M))) == "[n, m]"
    assert shape(run("matmul", array(N, 2, 3), array(3, M))) == "[n, 2, m]"
    assert shape(run("bmm", array(N, 2, M), array(N, M, 5))) == "[n, 2, 5]"
    assert shape(run("addmm", array(M), array(N, 3), array(3, M), 1, 1)) == "[n, m]"
    assert shape(run("linear", array(N, 3), array(M, 3), array(M))) == "[n, m]"


def test_joins():
    assert shape(run("cat", [array(N, 3), array(2, 3), array(M, 3)], 0)) == "[n + 2 + m, 3]"
    assert shape(run("stack", [array(N, M), array(N, M)], 1)) == "[n, 2, m]"


def test_convolutions():
    """Symbolic sizes of convolutions for any number and size of images."""
    args = [1, 1], [1, 1], [1, 1], 1
    assert shape(run("conv2d", array(N, 3, 8, 8), array(5, 3, 3, 3), array(5), *args)) == "[n, 5, 8, 8]"
    assert shape(run("conv2d", array(N, 3, M, 8), array(5, 3, 3, 3), None, *args)) == "[n, 5, m, 8]"
    assert shape(run("conv1d", array(N, 3, 2 * M), array(5, 3, 2), None, [2], [0], [1], 1)) == "[n, 5, m]"


def test_reductions():
    x = array(N, 4, M)
    assert shape(run("sum.dim_IntList", x, [1], False, None)) == "[n, m]"
    assert shape(run("sum", x, None)) == "[]" and shape(run("mean.dim", x, [0, 2], True, None)) == "[1, 4, 1]"
    assert shape(run("amax", x, [0], False)) == "[4, m]" and shape(run("argmax", x, 1, False)) == "[n, m]"
    assert [shape(part) for part in run("max.dim", x, 2, False)] == ["[n, 4]", "[n, 4]"]
    assert shape(run("softmax.int", x, 2, None)) == "[n, 4, m]" and shape(run("cumsum", x, 0, None)) == "[n, 4, m]"
    assert shape(run("layer_norm", x, [M], None, None, 1e-5, True)) == "[n, 4, m]"
