"""Traces of convolutions have PyTorch's graph text."""

import re
import warnings

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

PROGRAMS = {
    "conv1d": ((1, 3, 8), lambda m, x: m.conv1d(x, m.ones(2, 3, 2), None, 2, 1)),
    "conv2d": ((1, 3, 4, 4), lambda m, x: m.conv2d(x, m.ones(2, 3, 2, 2), m.ones(2), (1, 2), 0, (1, 1))),
    "conv3d": ((1, 4, 4, 4, 4), lambda m, x: m.conv3d(x, m.ones(2, 2, 2, 2, 2), groups=2)),
    "unbatched": ((3, 4, 4), lambda m, x: m.conv2d(x, m.ones(2, 3, 2, 2))),
    "same": ((1, 3, 8), lambda m, x: m.conv1d(x, m.ones(2, 3, 2), padding="same")),
    "valid": ((3, 8), lambda m, x: m.nn.functional.conv1d(x, m.ones(2, 3, 2), padding="valid")),
    "conv_transpose1d": ((1, 3, 8), lambda m, x: m.conv_transpose1d(x, m.ones(3, 2, 2))),
    "conv_transpose2d": (
        (3, 4, 4),
        lambda m, x: m.conv_transpose2d(x, m.ones(3, 2, 2, 2), None, 2, (1, 0), 1, 1, 2),
    ),
    "conv_transpose3d": (
        (1, 3, 2, 2, 2),
        lambda m, x: m.conv_transpose3d(x, m.ones(3, 1, 2, 2, 2), stride=2),
    ),
    "convolution": (
        (1, 3, 4, 4),
        lambda m, x: m.convolution(x, m.ones(2, 3, 2, 2), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_text(name):
    sizes, program = PROGRAMS[name]
    texts, values = [], []
    for m in (ts, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trace = m.jit.trace(lambda x, m=m: program(m, x) * 2, m.ones(sizes), check_trace=False)
        texts.append(re.sub(r" # .*", "", str(trace.graph)))
        values.append(trace(m.arange(float(m.ones(sizes).numel())).reshape(sizes)).tolist())
    assert texts[0] == texts[1] and values[0] == values[1]
