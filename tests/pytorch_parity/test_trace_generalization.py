"""A trace runs with other sizes than the example's, if PyTorch's trace does.

The lines of `expressions/traces.txt` are traced with the sizes EXAMPLE, in `ts` and in PyTorch, and run
with those of OTHERS.  A trace of `ts` must return the function's result for all inputs for which PyTorch's
trace does; it may support more inputs, but never return another result.  Traces have no guards: size
checks of operators add no constraints.
"""

import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from ts.unsupported.placeholders import is_placeholder  # noqa: E402

EXAMPLE = {"B": 2, "L": 6, "H": 6, "W": 8}
OTHERS = [EXAMPLE | other for other in ({"B": 1}, {"B": 5}, {"L": 9}, {"L": 4}, {"H": 8}, {"W": 6})]
OTHERS += [
    {"B": 0, **{k: EXAMPLE[k] for k in "LHW"}},
    {"B": 1, "L": 1, "H": 6, "W": 8},
    {"B": 3, "L": 7, "H": 5, "W": 9},
]
FILE = Path(__file__).parent / "expressions" / "traces.txt"
LINES = [line for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
# Python's `min` and `max` of sizes, whose result depends on a comparison.
GUARDED = ("min(", "embedding_bag", "EmbeddingBag")
# For empty tensors, PyTorch 2.13 crashes, returns another shape than for one element, or returns
# uninitialized sums.
NO_EMPTY = (
    "embedding_bag",
    "EmbeddingBag",
    "pixel_unshuffle",
    "PixelUnshuffle",
    "multi_margin",
    "multilabel_margin",
    "MultiMargin",
    "MultiLabelMargin",
)


def inputs(t, text, lengths):
    """Return the tensors of a line, with equal numbers in both libraries."""
    numbers = np.random.default_rng(0)

    def tensor(array):
        return t.from_numpy(np.array(array))

    def padding(*shape):
        """Return a padding mask that is True for the last two elements of each row, except the first
        element."""
        return tensor(np.broadcast_to(np.arange(shape[-1]) >= max(shape[-1] - 2, 1), shape))

    names = {
        "t": t,
        "r": lambda *shape: tensor(np.asarray(numbers.standard_normal(shape), np.float32)),
        "u": lambda *shape: tensor(np.asarray(numbers.random(shape), np.float32)),
        "i": lambda high, *shape: tensor(numbers.integers(0, high, shape)),
        "b": lambda *shape: tensor(numbers.random(shape) > 0.4),
        "padding": padding,
        "later": lambda n: tensor(np.triu(np.full((n, n), -np.inf, np.float32), 1)),
        "lengths": lambda n, longest: tensor([max(longest - i, 1) for i in range(n)]),
    }
    return tuple(eval(f"({text},)", names | lengths))


def make_traceable(t, module, expression):
    """Return the function to trace: an expression of tensors, or a module with a submodule `m`."""
    t.manual_seed(0)
    names = {"t": t, "F": t.nn.functional, "nn": t.nn, "R": t.nn.utils.rnn, "math": math}
    function = eval(f"lambda m, x=None, y=None, z=None, w=None: {expression}", names)
    if not module:
        return lambda *given: function(None, *given)
    inner = eval(module, names)

    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.m = inner if ".train()" in module else inner.eval()
            self.requires_grad_(False)

        def forward(self, x, y=None, z=None, w=None):
            return function(self.m, *[each for each in (x, y, z, w) if each is not None])

    return Net()


def flat(value):
    """Return the arrays of all tensors in a result."""
    if isinstance(value, (tuple, list)):
        return [array for each in value for array in flat(each)]
    return [] if value is None else [value.detach().numpy()]


def result(function, given):
    """Return the result of a call as arrays, or the error."""
    try:
        return flat(function(*given))
    except Exception as error:
        return error


def are_close(a, b):
    return (
        isinstance(a, list)
        and isinstance(b, list)
        and len(a) == len(b)
        and all(
            x.shape == y.shape and np.allclose(x, y, rtol=1e-3, atol=1e-4, equal_nan=True)
            for x, y in zip(a, b, strict=True)
        )
    )


def trace(t, module, expression, text):
    function = make_traceable(t, module, expression)
    with t.no_grad():
        return function, t.jit.trace(function, inputs(t, text, EXAMPLE), check_trace=False, strict=False)


@cache
def other_lengths(text):
    """Return sizes that differ from the example's, without repeated shapes."""
    seen = {shapes(text, str(EXAMPLE)): EXAMPLE}
    return [lengths for lengths in OTHERS if seen.setdefault(shapes(text, str(lengths)), lengths) is lengths]


def shapes(text, lengths):
    return tuple(tuple(x.shape) for x in inputs(ts, text, eval(lengths)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LINES)
def test_traces_run_with_other_sizes(line):
    module, expression, text = line.split(";")
    theirs, their_trace = trace(torch, module, expression, text)
    ours, our_trace = trace(ts, module, expression, text)
    ran = 0
    for lengths in other_lengths(text):
        if 0 in lengths.values() and any(name in line for name in NO_EMPTY):
            continue
        expected = result(theirs, inputs(torch, text, lengths))
        right = are_close(result(their_trace, inputs(torch, text, lengths)), expected)
        found = result(our_trace, inputs(ts, text, lengths))
        ran += right
        if right:
            assert are_close(found, expected), f"{lengths}\n{found}\n{expected}"
        elif isinstance(found, list):
            eager = result(ours, inputs(ts, text, lengths))
            assert not isinstance(eager, list) or are_close(found, eager), f"{lengths}\n{found}\n{eager}"
    assert ran, "PyTorch's trace holds for no other sizes: the line says nothing"
    assert any(name in line for name in GUARDED) or "prim::RaiseException" not in str(our_trace.inlined_graph)


# Random, lazy, containers, and functions that PyTorch cannot trace (such as `max_unpool2d`).
EXCUSED = re.compile(
    "Lazy|Buffer|Options|Unpool|unpool|Module|Parameter|DataParallel|Base|gumbel_softmax|multi_head_attention_forward|handle_torch|has_torch|boolean_dispatch|assert_int"
)

# Types and aliases that PyTorch's modules import.
IMPORTED = ("Callable", "DType", "Optional", "Tensor")


@pytest.mark.parametrize("names", ["nn", "nn.functional"])
def test_all_functions_and_layers_are_covered(names):
    ours, theirs = (eval(f"t.{names}", {"t": t}) for t in (ts, torch))
    called = set(re.findall(r"\w+(?=\()", FILE.read_text()))
    public = {
        name
        for name in dir(theirs)
        if callable(getattr(theirs, name)) and name[0] != "_" and name not in IMPORTED
        if hasattr(ours, name) and not is_placeholder(getattr(ours, name))
    }
    assert not {name for name in public - called if not EXCUSED.search(name)}
