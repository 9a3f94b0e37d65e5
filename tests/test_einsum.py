"""Einsum by batched products equals NumPy's sums."""

import random
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import ts
from ts.backends.cpu import einsum as plans

LETTERS = "abcdef"


def random_equation(rng, seed):
    """Return a random equation and its two to four integer operands, some with broadcast sizes or an ellipsis."""
    sizes = {letter: rng.choice([1, 2, 3]) for letter in LETTERS}
    inputs = ["".join(rng.sample(LETTERS, rng.randint(0, 4))) for _ in range(rng.choice([2, 2, 2, 3, 4]))]
    shapes = [[sizes[c] if rng.random() < 0.9 else 1 for c in letters] for letters in inputs]
    known = sorted(set("".join(inputs)))
    output = "".join(rng.sample(known, rng.randint(0, len(known))))
    dots = [rng.choice([2, 3]) for _ in range(rng.randint(1, 2))] if rng.random() < 0.2 else []
    if dots:
        for k, letters in enumerate(inputs):
            count, at = rng.randint(0, len(dots)), rng.randint(0, len(letters))
            inputs[k] = letters[:at] + "..." + letters[at:]
            shapes[k][at:at] = dots[len(dots) - count :]
        output = "..." + output
    text = ",".join(inputs) + ("->" + output if dots or rng.random() < 0.8 else "")
    return text, [np.random.default_rng(seed).integers(-3, 4, shape).astype("f") for shape in shapes]


def test_equations():
    """Random equations on integers are exact; the second call uses the cached plan."""
    rng = random.Random(0)
    planned = 0
    for seed in range(1500):
        text, arrays = random_equation(rng, seed)
        expected = np.einsum(text, *arrays)
        planned += plans.find_contraction_path(text, tuple(x.shape for x in arrays)) is not None
        for _ in range(2):
            actual = ts.einsum(text, *(ts.from_numpy(x) for x in arrays))
            assert actual.is_contiguous()
            assert np.array_equal(actual.numpy(), expected), (text, [x.shape for x in arrays])
            assert actual.shape == expected.shape
    assert planned > 1400


def test_operands_of_other_orders_and_dtypes():
    """A cached einsum plan depends only on shapes; strides and dtypes are checked in each call."""
    a, b = np.arange(24.0, dtype="f").reshape(2, 3, 4), np.arange(20.0, dtype="f").reshape(4, 5)
    for _ in range(2):
        for x in (ts.from_numpy(a), ts.from_numpy(a.transpose(2, 1, 0).copy()).permute(2, 1, 0)):
            for dtype in (ts.float32, ts.float64, ts.int64, ts.complex64, ts.bfloat16):
                result = ts.einsum("bij, jk -> bki", x.to(dtype), ts.from_numpy(b).to(dtype))
                assert result.dtype == dtype
                if dtype != ts.bfloat16:
                    assert np.array_equal(result.numpy(), np.einsum("bij,jk->bki", a, b))
        with pytest.raises(RuntimeError, match="not implemented for 'Bool'"):
            ts.einsum("bij, jk -> bki", ts.from_numpy(a) > 1, ts.from_numpy(b) > 1)
        with pytest.raises(RuntimeError, match="does not broadcast"):
            ts.einsum("bij, jk -> bki", ts.from_numpy(a), ts.from_numpy(b.T.copy()))


def test_the_same_bits_each_time():
    """Einsum returns equal bits in the first and later calls."""
    ts.manual_seed(0)
    x, y = ts.randn(3, 40, 50), ts.randn(3, 50, 60)
    first = ts.einsum("bij,bjk->bik", x, y)
    assert ts.equal(first, ts.einsum("bij,bjk->bik", x, y)) and ts.equal(first, ts.bmm(x, y))


@pytest.mark.parametrize("installed", [True, False])
def test_the_order_of_several_operands(installed, monkeypatch):
    """Several operands are multiplied in pairs, smallest first, with `opt_einsum` or NumPy's order."""
    if installed:
        pytest.importorskip("opt_einsum")
    else:
        monkeypatch.setitem(sys.modules, "opt_einsum", None)
    plans.find_contraction_path.cache_clear()
    plan = plans.find_contraction_path("ij,jk,kl->il", ((60, 2), (2, 50), (50, 3)))
    assert plan.pairs[0].positions == (1, 2)
    contraction_path = plans.find_contraction_path("abc,cd,de,bf->aef", ((2, 3, 4), (4, 5), (5, 6), (3, 2)))
    assert len(contraction_path.pairs) == 3
    shapes = ((2, 3, 4), (4, 5), (5, 6), (3, 2))
    arrays = [np.random.default_rng(1).integers(-3, 4, shape).astype("f") for shape in shapes]
    result = plans.einsum(np.matmul, "abc,cd,de,bf->aef", arrays)
    assert np.array_equal(result, np.einsum("abc,cd,de,bf->aef", *arrays))
    plans.find_contraction_path.cache_clear()


def test_plans_of_mixed_dtypes(monkeypatch):
    """Calls with mixed dtypes keep the plan of an equation and its shapes, and do not evict other plans."""
    searched = []

    def find(equation, shapes, search=plans.find_contraction_path):
        searched.append(equation)
        return search(equation, shapes)

    monkeypatch.setattr(plans, "find_contraction_path", find)
    kernel = plans.kernel(SimpleNamespace(kernel=lambda xp, equation, tensors, path: "general"))
    x, y = np.ones((2, 3)), np.ones((3, 4), np.float32)
    assert [kernel(None, "ij,jk", [x, y]) for _ in range(3)] == ["general"] * 3
    assert searched == ["ij,jk"]
    xp = SimpleNamespace(products=np.matmul)
    assert kernel(xp, "ij,jk", [x, np.ones((3, 4))]).tolist() == [[3.0] * 4] * 2
    assert searched == ["ij,jk"]
