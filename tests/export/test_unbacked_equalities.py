"""Equality constraints on data-dependent numbers are checked at run time, also in decomposed programs."""

import pytest

import ts
from tests.export.functions import Function
from ts import nn
from ts.export import Dim, export, load, save


class Constant(nn.Module):
    def forward(self, n):
        k = n.item()
        w = ts.zeros(k)
        ts._check(k == 4)
        return w + 1


class SizeOfArgument(nn.Module):
    def forward(self, n, x):
        k = n.item()
        ts._check(k == x.shape[0])
        return ts.zeros(k) + x


class EachOther(nn.Module):
    def forward(self, n, m):
        k, j = n.item(), m.item()
        ts._check(j >= 0)
        ts._check(k == j + 1)
        return ts.zeros(k), ts.ones(j)


class TwiceASize(nn.Module):
    def forward(self, n, x):
        k = n.item()
        ts._check(k == 2 * x.shape[0])
        return ts.zeros(k) + ts.cat([x, x])


class Float(nn.Module):
    def forward(self, x):
        k = x.sum().item()
        ts._check(k == 4.0)
        return x * k


class CountOfTrue(nn.Module):
    def forward(self, x):
        found = x.nonzero()
        ts._check(found.shape[0] == 2)
        return found.sum(1)


n = Dim("n")
CASES = [
    (Constant(), (ts.tensor(4),), (ts.tensor(5),), None),
    (SizeOfArgument(), (ts.tensor(4), ts.ones(4)), (ts.tensor(4), ts.ones(5)), (None, {0: n})),
    (EachOther(), (ts.tensor(4), ts.tensor(3)), (ts.tensor(4), ts.tensor(4)), None),
    (TwiceASize(), (ts.tensor(4), ts.ones(2)), (ts.tensor(5), ts.ones(2)), (None, {0: n})),
    (Float(), (ts.ones(4),), (ts.zeros(4),), None),
    (CountOfTrue(), (ts.tensor([1, 0, 1]),), (ts.tensor([1, 1, 1]),), None),
]


@pytest.mark.parametrize("case", CASES, ids=[type(case[0]).__name__ for case in CASES])
def test_equal_numbers(case, tmp_path):
    module, args, others, shapes = case
    program = export(module, args, dynamic_shapes=shapes)
    save(program, tmp_path / "program.pt2")
    for variant in (program, program.run_decompositions(), load(tmp_path / "program.pt2")):
        runs = variant.module()
        for _ in range(3):  # runs as Python first, then compiled
            expected, found = module(*args), runs(*args)
            for x, y in zip(
                ts.utils._pytree.tree_leaves(found), ts.utils._pytree.tree_leaves(expected), strict=True
            ):
                assert ts.equal(x, y)
            with pytest.raises(RuntimeError, match="Runtime assertion failed for expression"):
                runs(*others)


def test_assertions_of_scripts_stay():
    """Assertions in scripts, which have no results, are preserved."""

    @ts.jit.script
    def scaled(x):
        k = x.sum().item()
        ts.ops.aten._assert_scalar(k == 4.0, "not four")
        return x * k

    assert ts.equal(scaled(ts.ones(4)), ts.full((4,), 4.0))
    for _ in range(3):
        with pytest.raises(RuntimeError, match="not four"):
            scaled(ts.ones(3))


def test_ranges_of_equal_numbers(tmp_path):
    """Equal data-dependent numbers keep separate symbols and ranges, as in PyTorch."""

    def function(x, y):
        n, m = x.item(), y.item()
        ts._check(n == m)
        ts._check(n > 0)
        ts._check(m < 9)
        return ts.zeros(n) + ts.zeros(m)

    program = export(Function(function), (ts.tensor(3), ts.tensor(3)))
    for each in (program, program.run_decompositions()):
        assert {str(k): str(r) for k, r in each.range_constraints.items()} == {
            "u0": "VR[1, int_oo]",
            "u1": "VR[0, 8]",
        }
    save(program, tmp_path / "program.pt2")
    loaded = load(tmp_path / "program.pt2")
    assert list(map(str, loaded.range_constraints)) == ["u0", "u1"]
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        loaded.module()(ts.tensor(3), ts.tensor(4))
