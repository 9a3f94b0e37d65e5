"""Sobol sequences equal PyTorch's number for number, also scrambled ones."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")
import ts  # noqa: E402

DRAWS = ["[e.draw(9)]", "[e.draw(), e.draw(), e.draw(3)]", "[e.draw(5, dtype=t.float64), e.draw(0)]", "[e.draw_base2(3), e.draw_base2(3)]",
         "[e.fast_forward(7).draw(3), e.fast_forward(1).draw(2)]", "[e.draw(3), e.fast_forward(4).draw(3), e.reset().draw(4)]",
         "[e.draw(4, out=t.empty(0)), e.fast_forward(0).draw(1)]"]  # fmt: skip


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize(
    "options",
    ["1", "2", "5", "40", "3, scramble=True, seed=7", "1, scramble=True, seed=0", "60, scramble=True"],
)
def test_points(options, draws):
    """Sobol points and the engine's state equal PyTorch's."""

    def draw_points(library):
        library.manual_seed(5)
        e = eval(f"library.quasirandom.SobolEngine({options})", {"library": library})
        points = [
            (str(x.dtype).rpartition(".")[2], list(x.shape), x.tolist())
            for x in eval(draws, {"e": e, "t": library})
        ]
        return points, repr(e), e.num_generated, e.quasi.tolist(), e.shift.tolist(), e.sobolstate.tolist()

    ours, theirs = draw_points(ts), draw_points(torch)
    assert ours[1:] == theirs[1:]
    for x, y in zip(ours[0], theirs[0], strict=True):
        assert x[:2] == y[:2]
        assert np.allclose(x[2], y[2], rtol=1e-7, atol=0)  # PyTorch computes the first point in 32 bits


def test_many_dimensions():
    for dimension in (1111, 3000):
        ours, theirs = (
            library.quasirandom.SobolEngine(dimension).draw(20).tolist() for library in (ts, torch)
        )
        assert ours == theirs


@pytest.mark.parametrize(
    "text",
    ["E(0)", "E(21202)", "E(2).draw(-2)", "[e.draw_base2(2) for e in [E(2)] if e.draw(3) is not None]"],
)
def test_rejected_calls(text):
    def messages(library):
        with pytest.raises((ValueError, RuntimeError)) as caught:
            eval(text, {"E": library.quasirandom.SobolEngine})
        return type(caught.value), str(caught.value)

    if "-2" in text:
        assert messages(ts)[0] is messages(torch)[0]
    else:
        assert messages(ts) == messages(torch)
