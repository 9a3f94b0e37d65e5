"""Epilogues of fused groups have the bits, layouts, warnings and errors of the separate operators."""

import warnings

import pytest

import ts
from tests.test_fusion import groups, run_unfused, runs, assert_bit_equal, script
from ts.fusion.program import ARGUMENT, FusionGroupRecord, FusedProgram, FusedOp, deserialize_program
from ts.ops import registry

ENDS = {
    "softmax": "torch.softmax(h, -1)",
    "log_softmax": "torch.log_softmax(h, -1)",
    "logsumexp": "torch.logsumexp(h, [-1])",
    "logsumexp, kept": "torch.logsumexp(h, [-1], True)",
    "layer_norm": "torch.layer_norm(h, [w.size(0)], w, b)",
    "layer_norm, plain": "torch.layer_norm(h, [w.size(0)])",
    "rms_norm": "torch.rms_norm(h, [w.size(0)], w)",
    "rms_norm, plain": "torch.rms_norm(h, [w.size(0)], None, 1e-3)",
    "sum": "h.sum()",
    "sum of rows": "h.sum(-1)",
    "sum of rows, kept": "h.sum([-1], True)",
    "mean": "h.mean()",
    "mean of rows": "h.mean(-1)",
    "prod of rows": "h.prod(-1)",
    "amax": "h.amax(-1)",
    "amin": "h.amin([0, -1]) if h.dim() == 2 else h.amin(-1, True)",
    "max": "h.max()",
    "min": "h.min()",
    "var": "h.var(-1)",
    "std": "h.std()",
    "var, biased": "h.var([-1], False, True)",
    "var, corrected": "torch.var(h, [-1], correction=2)",
    "norm": "h.norm()",
    "norm of rows": "torch.linalg.vector_norm(h, 2, [-1])",
}
SHAPES = [(5,), (3, 4), (7, 128), (40, 33), (2, 3, 700), (3, 5000), (1, 70_001), (2, 2048), (5, 512, 3), (300_001,)]


def script_with_epilogue(expression):
    text = f"""
def f(x: Tensor, y: Tensor, w: Tensor, b: Tensor) -> Tensor:
    h = x * y + 0.5
    return {expression}
"""
    return script(text)


@pytest.mark.parametrize("expression", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16], ids=str)
def test_the_bits_of_the_operator_alone(expression, dtype):
    f = script_with_epilogue(expression)
    for shape in SHAPES:
        x, y = ts.randn(shape, dtype=dtype), ts.randn(shape, dtype=dtype)
        w, b = ts.randn(shape[-1], dtype=dtype), ts.randn(shape[-1], dtype=dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about degrees of freedom
            assert_bit_equal(f(x, y, w, b), run_unfused(f, x, y, w, b))
    assert runs(f) == len(SHAPES)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("name", ["softmax", "layer_norm", "sum", "mean of rows", "max"])
def test_threads(name, threads):
    before = ts.get_num_threads()
    ts.set_num_threads(threads)
    try:
        f = script_with_epilogue(ENDS[name])
        for shape in [(600, 700), (3, 200_001), (2_000_003,), (64, 3, 2500)]:
            x, y = ts.randn(shape), ts.randn(shape)
            w, b = ts.randn(shape[-1]), ts.randn(shape[-1])
            assert_bit_equal(f(x, y, w, b), run_unfused(f, x, y, w, b))
        assert runs(f) == 4
    finally:
        ts.set_num_threads(before)


@pytest.mark.parametrize(
    "expression",
    ["h.sum(0)", "torch.softmax(h, 0)", "h.mean([0])", "h.amax(0)", "h.norm(1)", "h.sum(-1, dtype=torch.float64)", "h.var(0)"],
)
def test_other_dimensions_are_not_fused(expression):
    f = script_with_epilogue(expression)
    x, y, w = ts.randn(30, 40), ts.randn(30, 40), ts.randn(40)
    assert_bit_equal(f(x, y, w, w), run_unfused(f, x, y, w, w))
    assert runs(f) == 1


LAYOUTS = {
    "a row": (lambda: ts.randn(30, 50), lambda: ts.randn(50)),
    "a column": (lambda: ts.randn(30, 50), lambda: ts.randn(30, 1)),
    "a number": (lambda: ts.randn(30, 50), lambda: ts.randn(())),
    "transposed": (lambda: ts.randn(50, 30).t(), lambda: ts.randn(30, 50)),
    "both transposed": (lambda: ts.randn(50, 30).t(), lambda: ts.randn(50, 30).t()),
    "halves": (lambda: ts.randn(30, 100)[:, :50], lambda: ts.randn(30, 100)[:, 50:]),
    "rows and columns": (lambda: ts.randn(30, 1), lambda: ts.randn(1, 50)),
    "channels last": (
        lambda: ts.randn(2, 3, 4, 5).to(memory_format=ts.channels_last),
        lambda: ts.randn(2, 3, 4, 5).to(memory_format=ts.channels_last),
    ),
    "a row of one": (lambda: ts.randn(30, 1), lambda: ts.randn(30, 1)),
    "integers": (lambda: ts.arange(60).reshape(3, 20), lambda: ts.arange(20)),
    "bools": (lambda: ts.rand(4, 30) < 0.5, lambda: ts.rand(4, 30) < 0.5),
    "no elements": (lambda: ts.randn(0, 5), lambda: ts.randn(0, 5)),
    "no columns": (lambda: ts.randn(5, 0), lambda: ts.randn(5, 0)),
    "two dtypes": (lambda: ts.randn(4, 30), lambda: ts.randn(4, 30, dtype=ts.float64)),
    "no dimensions": (lambda: ts.randn(()), lambda: ts.randn(())),
}


@pytest.mark.parametrize("inputs", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("expression", ["torch.softmax(h, -1)", "h.sum(-1)", "h.sum()", "h.amax(-1)", "h.mean()"])
def test_layouts(expression, inputs):
    f = script_with_epilogue(expression)
    x, y, w = inputs[0](), inputs[1](), ts.randn(5)
    try:
        expected = run_unfused(f, x, y, w, w)
    except (RuntimeError, IndexError) as error:
        with pytest.raises(type(error)) as info:
            f(x, y, w, w)
        assert str(info.value) == str(error)
    else:
        assert_bit_equal(f(x, y, w, w), expected)


def test_input_of_an_epilogue_as_a_result():
    f = script("""
def f(x: Tensor, y: Tensor, w: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    h = x + y
    return h, torch.layer_norm(h, [w.size(0)], w, w), h.mean(-1), h * 2
""")
    for shape in [(6, 100), (3, 5000), (3, 4, 64)]:
        x, y, w = ts.randn(shape), ts.randn(shape), ts.randn(shape[-1])
        for a, b in zip(f(x, y, w), run_unfused(f, x, y, w), strict=True):
            assert_bit_equal(a, b)
    assert runs(f) == 3


def test_several_epilogues():
    f = script("""
def f(x: Tensor, y: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    h = x * y
    k = torch.tanh(h)
    return h.sum(-1), k.amax(-1), torch.softmax(k, -1), k.sum()
""")
    for shape in [(6, 100), (3, 5000), (50_000,)]:
        x, y = ts.randn(shape), ts.randn(shape)
        for a, b in zip(f(x, y), run_unfused(f, x, y), strict=True):
            assert_bit_equal(a, b)
    assert runs(f) == 3 and len(groups(f)) == 1


def test_a_row_of_another_length_is_computed_once_and_summed():
    """An epilogue's input with another row length is computed in a separate stage."""
    f = script("""
def f(x: Tensor, row: Tensor) -> Tuple[Tensor, Tensor]:
    k = torch.exp(row) * 2
    return k.sum(), x * k
""")
    x, row = ts.randn(20, 300), ts.randn(300)
    for a, b in zip(f(x, row), run_unfused(f, x, row), strict=True):
        assert_bit_equal(a, b)
    assert runs(f) == 1


def test_operations_after_an_epilogue_of_another_dimension():
    """No group continues after a softmax along the first dimension. `test_fusion_rows.py` tests groups that continue."""
    f = script("""
def f(x: Tensor, y: Tensor) -> Tensor:
    h = x * y
    p = torch.softmax(h, 0)
    return p * y + h
""")
    x, y = ts.randn(5, 30), ts.randn(5, 30)
    assert_bit_equal(f(x, y), run_unfused(f, x, y))
    assert [len(group.program.epilogues) for group in groups(f)] == [1, 0]


def test_weights_computed_by_the_group():
    f = script("""
def f(x: Tensor, y: Tensor, w: Tensor) -> Tensor:
    k = w * 2
    h = x + y
    return torch.layer_norm(h + k, [w.size(0)], k, w)
""")
    x, y, w = ts.randn(5, 30), ts.randn(5, 30), ts.randn(30)
    assert_bit_equal(f(x, y, w), run_unfused(f, x, y, w))


def test_reductions_of_shared_conversions_are_not_fused():
    """A conversion with other users may return its operand, so its reductions are not fused."""
    text = """
def f(x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    y = x.float()
    return y.sum(-1), y.sum(-2), torch.trace(y)

def g(x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    y = x.float()
    return y.sum(-1), torch.tanh(torch.exp(y)), torch.trace(y)
"""
    for function in (script(text), script(text, "g")):
        for x in (ts.tensor([[3, 1], [2, 5]]), ts.tensor([[3.0, 1.0], [2.0, 5.0]])):
            for got, expected in zip(function(x), run_unfused(function, x), strict=True):
                assert_bit_equal(got, expected)


def test_writes_between_are_visible():
    f = script("""
def f(x: Tensor, y: Tensor, w: Tensor) -> Tensor:
    h = x + y
    w.add_(1)
    p = torch.layer_norm(h, [w.size(0)], w, w)
    w.mul_(2)
    return p
""")
    x, y, w, v = ts.randn(5, 30), ts.randn(5, 30), *[ts.ones(30)] * 2
    v = w.clone()
    assert_bit_equal(f(x, y, w), run_unfused(f, x, y, v))
    assert_bit_equal(w, v)


def test_errors_have_locations():
    f = script("""
def f(x: Tensor, y: Tensor) -> Tensor:
    h = x * y
    return h.sum(3)
""")
    x = ts.randn(5, 30)
    with pytest.raises(RuntimeError, match="Dimension out of range") as info:
        f(x, x)
    assert "return h.sum(3)\n           ~~~~~ <--- HERE" in str(info.value)


def test_epilogue_warns_once():
    f = script("""
def f(x: Tensor, y: Tensor) -> Tensor:
    return (x * y).var(-1)
""")
    x = ts.randn(5, 1)
    with pytest.warns(UserWarning, match="degrees of freedom") as caught:
        result = f(x, x)
    assert len(caught) == 1 and result.isnan().all()


def test_weights_of_another_dtype_or_length():
    f = script("""
def f(x: Tensor, y: Tensor, w: Tensor) -> Tensor:
    return torch.layer_norm(x + y, [30], w, w)
""")
    x = ts.randn(5, 30)
    for w in (ts.randn(30, dtype=ts.float64), ts.randn(29), ts.randn(60)[::2], ts.randn(1, 30)):
        try:
            expected = run_unfused(f, x, x, w)
        except RuntimeError as error:
            with pytest.raises(RuntimeError) as info:
                f(x, x, w)
            assert str(info.value) == str(error)
        else:
            assert_bit_equal(f(x, x, w), expected)


def operator(name, overload=""):
    return next(o for o in registry.lookup(name) if o.overload == overload)


def test_invalid_epilogues_are_rejected():
    mul, softmax = operator("aten::mul", "Tensor"), operator("aten::softmax", "int")
    row, end = FusedOp(mul, (0, 1)), FusedOp(softmax, (4, 2, 3))
    program = FusedProgram("tt--", (row,), (5,), (end,))
    name = {"mul": mul, "softmax": softmax}
    data = program.data(lambda operator: operator.name.partition("::")[2])
    assert deserialize_program(data, name.__getitem__) == program
    for inputs, rows, outputs, ends in (
        ("tt--", (row,), (6,), (end,)),  # result does not exist
        ("tt--", (row,), (5,), ()),  # no epilogue reads the arguments
        ("tt---", (FusedOp(mul, (0, 1)),), (5,), (FusedOp(softmax, (5, 2, 3)),)),  # an argument without a reader
        ("tt-", (row,), (4,), (FusedOp(softmax, (3, 2)),)),  # too few arguments
        ("tt--", (row,), (5,), (FusedOp(softmax, (0, 2, 3)),)),  # epilogue of an input
        ("tt--", (row,), (5,), (FusedOp(softmax, (4, 2, 2)),)),  # an argument used twice
        ("tt--", (FusedOp(mul, (0, 2)),), (5,), (end,)),  # a fused operator that reads an epilogue's argument
        ("tt--", (row,), (5,), (FusedOp(mul, (4, 2, 3)),)),  # an operator that cannot be an epilogue
    ):
        with pytest.raises(ValueError):
            FusedProgram(inputs, rows, outputs, ends)


def test_argument_types_of_epilogues():
    f = script_with_epilogue(ENDS["layer_norm"])
    record = next(o.record for o in f.compiled_code.operators if isinstance(o.record, FusionGroupRecord))
    assert record.program.inputs.count(ARGUMENT) == 5
    assert record.schema_text.startswith("prim::FusionGroup(Tensor x0, Tensor x1, ")
    assert record.schema_text.endswith(", SymInt[] x3, Tensor? x4, Tensor? x5, float x6, bool x7) -> (bool, Tensor)")
