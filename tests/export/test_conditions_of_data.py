"""Data-dependent conditions: bools, floats, large numbers, and numbers in branches are asserted in each
call."""

import pytest

import ts
from ts import nn
from ts.export import draft_export, export, load, save


class Positive(nn.Module):
    def forward(self, x):
        ts._check((x.sum() > 0).item())
        return x + 1


class Truth(nn.Module):
    def forward(self, x):
        ts._check(x.item())
        return x.clone()


class InBranch(nn.Module):
    def forward(self, x):
        def large(x):
            n = x.item()
            ts._check(n >= 5)
            return x + n

        return ts.cond(x > 3, large, lambda x: x - 1, (x,))


class AtMost(nn.Module):
    def forward(self, x):
        ts._check(x.item() <= 2.5)
        return x * 2


class MoreThan(nn.Module):
    def forward(self, x):
        ts._check(x.item() > 2.5)
        return x * 2


class VeryLarge(nn.Module):
    def forward(self, x):
        n = x.item()
        ts._check(n <= 2**62 + 5)
        return x.clone()


CASES = [
    (Positive, [ts.ones(2)], [-ts.ones(2)]),
    (Truth, [ts.tensor(True)], [ts.tensor(False)]),
    (InBranch, [ts.tensor(1), ts.tensor(6)], [ts.tensor(4)]),
    (AtMost, [ts.tensor(2.0), ts.tensor(2.5), ts.tensor(-9.0)], [ts.tensor(2.6), ts.tensor(3.0)]),
    (MoreThan, [ts.tensor(2.7), ts.tensor(2.6)], [ts.tensor(2.5), ts.tensor(0.0)]),
    (VeryLarge, [ts.tensor(5), ts.tensor(2**62 + 5)], [ts.tensor(2**62 + 6), ts.tensor(2**63 - 1)]),
]


@pytest.mark.parametrize(("kind", "right", "wrong"), CASES, ids=[case[0].__name__ for case in CASES])
def test_conditions(kind, right, wrong, tmp_path):
    program = export(kind(), (right[0],))
    save(program, tmp_path / "program.pt2")
    loaded = load(tmp_path / "program.pt2")
    for variant in (program, program.run_decompositions(), loaded, loaded.run_decompositions()):
        for module in (variant.module(), ts.export.unflatten(variant)):
            for _ in range(2):  # runs as Python first, then compiled
                for x in right:
                    assert ts.equal(module(x), kind()(x))
                for x in wrong:
                    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
                        module(x)


class OnTensor(nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x - 1


class OnTruth(nn.Module):
    def forward(self, x):
        return x + 1 if (x.sum() > 0).item() and x[0] > 0 else x - 1


@pytest.mark.parametrize("kind", [OnTensor, OnTruth])
@pytest.mark.parametrize("sign", [1, -1])
def test_drafts_assert_the_branch_taken(kind, sign):
    x = sign * ts.tensor([1.0, 2.0])
    with pytest.warns(UserWarning, match=r"issue\(s\) found during export"):
        program = draft_export(kind(), (x,))
    for variant in (program, program.run_decompositions()):
        module = variant.module()
        for _ in range(3):
            assert ts.equal(module(x), kind()(x))
            with pytest.raises(RuntimeError, match="Runtime assertion failed"):
                module(-x)


def test_a_size_that_is_fixed_after_a_condition_of_data():
    class Net(ts.nn.Module):
        def forward(self, x, k):
            n = k.item()
            ts._check(n <= x.shape[0])
            return x[:n] * 2, float(x.shape[0])

    program = ts.export.export(Net(), (ts.rand(5, 3), ts.tensor(2)), dynamic_shapes=({0: ts.export.Dim.AUTO}, None))
    x = ts.rand(5, 3)
    ts.testing.assert_close(program.module()(x, ts.tensor(4)), (x[:4] * 2, 5.0))
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        program.module()(x, ts.tensor(6))


TRUTHS = {
    "times a float": lambda b, n: b * 2.0,
    "a float times it": lambda b, n: 2.5 * b,
    "plus a number": lambda b, n: b + 3,
    "from a number": lambda b, n: 1 - b,
    "times a number of data": lambda b, n: b * n,
    "plus itself": lambda b, n: b + b,
}


@pytest.mark.parametrize("name", TRUTHS)
def test_bools_are_numbers(name, tmp_path):
    """Data-dependent bools are 0 or 1 in arithmetic of the exported program."""
    function = TRUTHS[name]

    class Counted(nn.Module):
        def forward(self, x):
            n = x.sum().item()
            return x + function(ts.equal(x, x * x), n), x * function(n > 2, n)

    program = export(Counted(), (ts.tensor([1, 1]),))
    save(program, tmp_path / "program.pt2")
    for variant in (program, program.run_decompositions(), load(tmp_path / "program.pt2")):
        module = variant.module()
        for _ in range(2):  # runs as Python first, then compiled
            for x in (ts.tensor([1, 1]), ts.tensor([2, 5]), ts.tensor([0, 0])):
                for found, wanted in zip(module(x), Counted()(x), strict=True):
                    assert found.dtype == wanted.dtype
                    assert ts.equal(found, wanted)
