"""Python's `max`, `min` and `math.pow` of dynamic sizes are computed by the exported program."""

import builtins
import math

import pytest

import ts

pytest.importorskip("sympy")

DYNAMIC = ts.export.Dim.DYNAMIC


def exported(function):
    class Net(ts.nn.Module):
        def forward(self, x):
            return function(x)

    return ts.export.export(Net(), (ts.rand(4, 7),), dynamic_shapes=({0: DYNAMIC, 1: DYNAMIC},))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: max(x.shape[0], 3),
        lambda x: min(5, x.shape[0]) + 1,
        lambda x: max(x.shape),
        lambda x: min([x.shape[0], 3, x.shape[1]]),
        lambda x: max(x.shape[0], 2),
        lambda x: x[: min(x.shape[0], 3)],
        lambda x: x[:, max(0, x.shape[1] - 2) :],
        lambda x: ts.zeros(max(x.shape[0], x.shape[1]), min(x.shape[0], 2)),
        lambda x: x / math.pow(x.shape[1], 0.5),
        lambda x: max(x[0, 0].long().item(), 3),
        lambda x: max(3, 4) + min(x.sum().tolist(), 0.5),
    ],
)
def test_programs(function):
    program = exported(function)
    run = program.module()
    for shape in ((2, 3), (9, 4), (2, 7), (5, 3)):
        x = ts.ones(shape)
        ts.testing.assert_close(run(x), function(x))
        ts.testing.assert_close(program.run_decompositions().module()(x), function(x))


def test_builtins_are_restored_after_export():
    before = builtins.max, builtins.min, math.pow
    exported(lambda x: x + max(x.shape[0], 3))
    with pytest.raises(ZeroDivisionError):
        exported(lambda x: 1 / 0)
    assert (builtins.max, builtins.min, math.pow) == before


def test_patched_builtins_accept_and_reject_as_before():
    def forward(x):
        with pytest.raises(ValueError, match="empty"):
            max([])
        with pytest.raises(TypeError):
            max(1)
        assert max([], default=3) == 3 and max("b", "a") == "b" and max(1, 2, 3) == 3
        assert max(x.shape, key=lambda n: 0) is x.shape[0]
        return x + 1

    exported(forward)
