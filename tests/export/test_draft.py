"""Draft exports: programs that `export` rejects, with a report of the reasons."""

import re
import warnings

import pytest

import ts
from ts import nn
from ts._higher_order_ops import map as map_rows
from ts._higher_order_ops import scan, while_loop
from ts.errors import GuardOnDataDependentSymNode, UserError
from ts.export import Dim, draft_export, export
from ts.export._draft_export import FailureType


class DataDependentDecisions(nn.Module):
    """Module with three data-dependent decisions."""

    def forward(self, x, y, n):
        z = y + 1 if x.sum().item() > 3 else y - 1
        k = n.item()
        w = ts.zeros(k)
        if k == 4:
            w = w + 1
        return z, w, x.nonzero().shape[0] > 2 and 1


def drafted(module, args, **options):
    with pytest.warns(UserWarning, match=r"issue\(s\) found during export"):
        return draft_export(module, args, **options)


def kinds(program):
    return [failure.failure_type for failure in program._report.failures]


def test_data_dependent_branches():
    args = (ts.ones(5), ts.ones(3), ts.tensor(4))
    shapes = ({0: Dim("n")}, None, None)
    with pytest.raises(GuardOnDataDependentSymNode):
        export(DataDependentDecisions(), args, dynamic_shapes=shapes)
    program = drafted(DataDependentDecisions(), args, dynamic_shapes=shapes)
    assert kinds(program) == [FailureType.DATA_DEPENDENT_ERROR] * 3
    assert [f.data["expr"] for f in program._report.failures] == ["zuf0 > 3.0", "Eq(u0, 4)", "u1 > 2"]
    report = str(program._report)
    assert "lineno 24, in forward\n            if k == 4:\n" in report and "torch._check(...)" in report
    assert not program._report.successful()
    for variant in (program, program.run_decompositions()):
        module = variant.module()
        for _ in range(3):
            for x, y in zip(module(*args), DataDependentDecisions()(*args), strict=True):
                assert ts.equal(ts.as_tensor(x), ts.as_tensor(y))
            for other in (
                (ts.zeros(5), *args[1:]),
                (*args[:2], ts.tensor(5)),
                (ts.tensor([5.0, 0, 0]), *args[1:]),
            ):
                with pytest.raises(RuntimeError, match="Runtime assertion failed"):
                    module(*other)


def test_sizes_that_are_not_free():
    class Sum(nn.Module):
        def forward(self, x, y):
            return x + y

    args = (ts.ones(5), ts.ones(5))
    with pytest.raises(UserError):
        export(Sum(), args, dynamic_shapes=({0: Dim("n")}, None))
    program = drafted(Sum(), args, dynamic_shapes=({0: Dim("n")}, None))
    (failure,) = program._report.failures
    assert failure.failure_type is FailureType.GUARD_ADDED
    assert failure.data["symbol_to_sources"] == {"s0": "L['x'].size()[0]"}
    assert "dynamic_shapes = ({0: DimHint(AUTO)}, None)" in failure.print()
    assert ts.equal(program.module()(*args), ts.full((5,), 2.0))
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(ts.ones(6), ts.ones(6))


def test_operators_of_the_program():
    @ts.library.custom_op("draft::without", mutates_args=())
    def without(x: ts.Tensor) -> ts.Tensor:
        return ts.from_numpy(x.numpy()[:2].copy())

    @ts.library.custom_op("draft::wrong", mutates_args=())
    def wrong(x: ts.Tensor) -> ts.Tensor:
        return x.double()

    wrong.register_fake(ts.empty_like)

    class Calls(nn.Module):
        def forward(self, x):
            return without(x).cos() + 1, wrong(x) + 1

    x = ts.ones(5)
    with pytest.raises(RuntimeError, match="There was no fake impl registered"):
        export(Calls(), (x,))
    program = drafted(Calls(), (x,))
    assert kinds(program) == [FailureType.MISSING_FAKE_KERNEL, FailureType.MISMATCHED_FAKE_KERNEL]
    assert program._report.failures[0].data["op"] == "draft.without.default"
    assert program._report.failures[1].data["reason"] == (
        "Dtypes torch.float64 and torch.float32 are not equal!"
    )
    for x, y in zip(program.module()(x), Calls()(x), strict=True):
        assert x.dtype is y.dtype and ts.equal(x, y)


def test_draft_without_issues():
    class WriteState(nn.Module):
        """Module that writes its state."""

        def __init__(self):
            super().__init__()
            self.register_buffer("count", ts.zeros(()))
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            self.count.add_(1)
            x.mul_(2)
            n = x.nonzero().shape[0]
            ts._check(n > 1)
            return self.linear(x.to(ts.float64).float()) + self.count

    module, x = WriteState(), ts.ones(2, 3)
    program = draft_export(module, (x,), dynamic_shapes=({0: Dim("n", min=2)},))
    assert program._report.successful() and module.count == 0 and ts.equal(x, ts.ones(2, 3))
    assert str(program._report).startswith("Congratulations: No issues are found during export")
    same = export(module, (x,), dynamic_shapes=({0: Dim("n", min=2)},))
    assert program.graph_module.code == same.graph_module.code
    assert re.sub(r"_report.*", "", str(program)) == re.sub(r"_report.*", "", str(same))


class CallFunction(nn.Module):
    """Module that calls a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def after_cond(x):
    y = ts.cond(x.sum() > 0, lambda x: x * 2, lambda x: x + 1, (x,))
    return y + 1 if y.sum() > 3 else y


def after_loop(x):
    _, y = while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (ts.tensor(0), x))
    return y + 1 if y.sum().item() > 3 else y


def after_map(x):
    y = map_rows(lambda row: row * 2, x)
    return y + 1 if y.sum().item() > 3 else y


def after_scan(x):
    last, y = scan(lambda carry, row: (carry + row, carry * row), x[0] * 0, x)
    return y + 1 if last.sum().item() > 3 else y


def written_as_data(x):
    y = x + 1
    y.data.mul_(2)
    return y + 1 if y.sum().item() > 5 else y


def other_data(x):
    y = x + 1
    y.data = x * 5
    y.add_(1)
    return y + 1 if y.sum().item() > 10 else y


def resized(x):
    y = x.clone()
    y.resize_(2)
    return y + 1 if y.sum().item() > 1 else y


@pytest.mark.parametrize(
    "function",
    [
        after_cond,
        after_loop,
        after_map,
        after_scan,
        written_as_data,
        other_data,
        resized,
        lambda x: x + 1 if ts.equal(x, x * 1) else x,
        lambda x: x + 1 if ts.equal(x, x[1:]) else x,
        lambda x: x + 1 if ts.allclose(x, x + 1e-9) else x,
        lambda x: x + 1 if ts.is_nonzero(x.sum()) else x,
        lambda x: x + float(x.sum().item() > 2),
    ],
)
def test_data_dependent_decisions(function):
    """Decisions on results of control flow, on `all` and on data that is written outside of the graph."""
    module, x = CallFunction(function), ts.ones(3)
    wanted = module(x.clone())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = draft_export(module, (x,))
    for variant in (program, program.run_decompositions()):
        assert ts.equal(variant.module()(x.clone()), wanted)


def test_numbers_that_are_filled_in():
    """Decomposed random operators draw new numbers at each call."""

    def fills(x):
        return x.clone().normal_(50.0, 0.5), x.clone().uniform_(3, 4), x.clone().bernoulli_(0.0)

    program = export(CallFunction(fills), (ts.ones(3),)).run_decompositions()
    targets = [str(n.target) for n in program.graph.nodes if n.op == "call_function"]
    assert "aten.normal_functional.default" in targets
    x, y, z = program.module()(ts.ones(3))
    assert (x > 40).all() and (y >= 3).all() and (z == 0).all()
