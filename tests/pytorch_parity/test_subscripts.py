"""Random subscripts read and write the same elements as in PyTorch, for each kind of tensor and in scripts.

A subscript is the text of Python code, such as `..., None, a`. The names are index tensors and masks.
"""

import random

import pytest

import ts

torch = pytest.importorskip("torch")

from torch._subclasses import FakeTensorMode as TorchFakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx as torch_make_fx  # noqa: E402

from ts._subclasses import FakeTensorMode  # noqa: E402
from ts.fx.experimental.proxy_tensor import make_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

FAKE_TENSOR_MODE = {ts: FakeTensorMode, torch: TorchFakeTensorMode}
MAKE_FX = {ts: make_fx, torch: torch_make_fx}
SHAPES = ((2, 3, 4), (3,), (1, 2), (2, 0, 3), (2, 1, 3, 2), ())
INTEGERS = ["0", "1", "-1", "-2", "2", "5"]
SLICES = [":", "1:", ":-1", "::2", "-2:9", "2:1", "0:2**70", "True:"]
REJECTED = ["2**70", "::0", "::-1", "'a'", "0.5", "1.5:", "{}"]
NEW_DIMS = ["None", "..."]
TENSORS = ["a", "b", "c", "n", "[0, -1]", "[]", "[0.5]", "range(1)", "(0, -1)"]
MASKS = ["True", "False", "m", "m2", "s", "t", "[True, False]"]
WITHOUT_ELEMENTS = INTEGERS + SLICES + NEW_DIMS + ["a", "b"]
ITEMS = WITHOUT_ELEMENTS + TENSORS + MASKS + REJECTED
SCRIPT_ITEMS = ["0", "1", "-1", "k", "None", "...", ":", "1:", ":k", "::2", "[0, -1]", "a", "b", "m", "s"]


def index_tensors(m, shape):
    """Return the index tensors and masks of subscripts, by name."""
    rows = shape[0] if shape else 1
    columns = shape[1] if len(shape) > 1 else 1
    return {
        "a": m.tensor([0, -1]),
        "b": m.tensor([[0], [-1]]),
        "c": m.tensor([0], dtype=m.int32),
        "m": m.arange(rows) % 2 == 0,
        "m2": (m.arange(rows * columns) % 3 > 0).reshape(rows, columns),
        "n": m.zeros(0, dtype=m.int64),
        "s": m.tensor(0),
        "t": m.tensor(True),
    }


def ramp(m, shape):
    return m.arange(float(m.zeros(shape).numel())).reshape(shape)


def random_subscripts(seed, items, count):
    """Return subscripts of one to four items, with at most one ellipsis."""
    draw = random.Random(seed)
    subscripts = [", ".join(draw.choices(items, k=draw.choice((1, 1, 2, 2, 3, 4)))) for _ in range(count)]
    return [s for s in subscripts if s.count("...") < 2]


def on_fake(m, f, x):
    with FAKE_TENSOR_MODE[m](allow_non_fake_inputs=True) as mode:
        return f(mode.from_tensor(x))


# name -> (items of subscripts, function of module, reading function and tensor)
READS = {
    "eager": (ITEMS, lambda m, f, x: f(x)),
    "requires grad": (ITEMS, lambda m, f, x: f(x.requires_grad_())),
    "permuted": (INTEGERS + SLICES + NEW_DIMS, lambda m, f, x: f(x.permute(tuple(reversed(range(x.ndim)))))),
    "vmap": (ITEMS, lambda m, f, x: m.vmap(f)(m.stack([x, x + 100]))),
    "vmap of the last dimension": (ITEMS, lambda m, f, x: m.vmap(f, in_dims=x.ndim)(m.stack([x, -x], -1))),
    "jvp": (ITEMS, lambda m, f, x: m.func.jvp(f, (x,), (x * 2,))[1]),
    "make_fx": ([item for item in ITEMS if item != "s"], lambda m, f, x: MAKE_FX[m](f)(x)(x + 1)),
    "trace": (WITHOUT_ELEMENTS, lambda m, f, x: m.jit.trace(f, (x,), check_trace=False)(x + 1)),
    "meta": (WITHOUT_ELEMENTS, lambda m, f, x: f(x.to("meta"))),
    "fake": (WITHOUT_ELEMENTS, on_fake),
}
VALUES = {
    "number": lambda m, shape: 7.5,
    "same shape": lambda m, shape: -ramp(m, shape),
    "last dimension": lambda m, shape: -ramp(m, shape[-1:]),
    "leading ones": lambda m, shape: -ramp(m, (1, 1, *shape)),
    "tensor of a number": lambda m, shape: m.tensor(-3.0),
    "list": lambda m, shape: [1.0],
}


def outcome(function):
    """Return shape, strides and elements of a result, or the class and the first line of an error."""
    try:
        x = function()
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]
    strides = [step for n, step in zip(x.shape, x.stride(), strict=True) if n > 1] if x.numel() else None
    # fake tensors and tensors on meta have no elements
    elements = x.detach().tolist() if type(x) in (ts.Tensor, torch.Tensor) and not x.is_meta else None
    return str(x.dtype).removeprefix("torch."), tuple(x.shape), strides, elements


def differences(calls):
    """Return the calls (description, function of the module) whose outcomes differ from PyTorch's."""
    found = []
    for description, call in calls:
        expected, actual = outcome(lambda: call(torch)), outcome(lambda: call(ts))
        if actual != expected:
            found.append(f"{description}\n    PyTorch: {expected}\n    ts: {actual}")
    return found


@pytest.mark.parametrize("kind", READS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reading(kind, shape):
    items, run = READS[kind]
    if not shape and kind not in ("eager", "requires grad", "jvp"):
        pytest.skip("the texts of errors differ")

    def call(code):
        def read(m):
            names = index_tensors(m, shape)
            return run(m, lambda x: eval(code, {"x": x, **names}), ramp(m, shape))

        return read

    subscripts = random_subscripts(f"{kind}{shape}", items, 60)
    assert not differences([(f"x[{s}]", call(compile(f"x[{s}]", "", "eval"))) for s in subscripts])


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if 0 not in shape], ids=str)
def test_writing(value, shape):
    def call(code):
        def write(m):
            names = {"x": ramp(m, shape), "v": VALUES[value](m, shape), **index_tensors(m, shape)}
            exec(code, names)
            return names["x"]

        return write

    subscripts = random_subscripts(f"{value}{shape}", ITEMS, 60)
    assert not differences([(f"x[{s}] = v", call(compile(f"x[{s}] = v", "", "exec"))) for s in subscripts])


SCRIPTS = {
    "read": "return x[{}]",
    "write": "x = x.clone()\n    x[{}] = 7\n    return x",
    "add": "x = x.clone()\n    x[{}] += 7\n    return x",
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", SCRIPTS)
def test_scripts(kind, shape):
    """Compare graphs and results. `test_error_catalogue.py` compares errors of the compiler."""

    def run(m, source):
        script = m.jit.CompilationUnit(source).f
        tensors = index_tensors(m, shape)
        kinds = [node.kind() for node in script.graph.nodes()]
        return kinds, outcome(lambda: script(ramp(m, shape), *(tensors[name] for name in "abms"), 1))

    for subscript in random_subscripts(f"{kind}{shape}", SCRIPT_ITEMS, 40):
        source = f"def f(x, a, b, m, s, k: int):\n    {SCRIPTS[kind].format(subscript)}\n"
        try:
            kinds, expected = run(torch, source)
        except RuntimeError:  # `ts` reads `x[...]`, which PyTorch rejects
            if subscript != "...":
                with pytest.raises(RuntimeError):
                    run(ts, source)
            continue
        actual_kinds, actual = run(ts, source)
        assert actual_kinds == kinds, source
        assert actual == expected or len(actual) == len(expected) == 2, source
