"""`func.linearize` inside of exported programs, with gradients enabled and disabled, and from files."""

import io

import pytest

import ts

pytest.importorskip("sympy")
from ts.func import linearize

FUNCTIONS = {
    "sine": lambda x: x.sin() * x,
    "linear": lambda x: x * 2,
    "shapes": lambda x: x.reshape(-1).relu()[1:],
    "sum": lambda x: (x.sin() * x).sum(),
    "several": lambda x: {"a": x.tanh(), "b": (x * 1, x.sum())},
}


class Along(ts.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, t):
        y, along = linearize(self.function, x)
        return y, along(t)


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs(name, enabled):
    """Exported programs with `linearize` equal eager mode."""
    x, t = ts.tensor([[1.0, -2.0], [0.5, 3.0]]), ts.tensor([[1.0, 2.0], [-1.0, 0.5]])
    module = Along(FUNCTIONS[name])
    with ts.set_grad_enabled(enabled):
        wanted = module(x, t)
        program = ts.export.export(module, (x, t))
        file = io.BytesIO()
        ts.export.save(program, file)
        file.seek(0)
        for variant in (program, program.run_decompositions(), ts.export.load(file)):
            ts.testing.assert_close(variant.module()(x, t), wanted)


def test_regions_without_results_are_omitted():
    """A context without results and side effects is not exported, since PyTorch cannot read an empty
    subgraph."""

    class Unused(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", ts.zeros(2))

        def forward(self, x):
            with ts.no_grad():
                x.sin()
            y = x * 2
            with ts.no_grad():
                self.seen.add_(1)
            return y

    program = ts.export.export(Unused(), (ts.ones(2),))
    blocks = [n for n in program.graph.nodes if "wrap_with_set_grad_enabled" in str(n.target)]
    assert len(blocks) == 1
    module = program.module()
    module(ts.ones(2))
    assert module.seen.tolist() == [1, 1]
