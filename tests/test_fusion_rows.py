"""Groups that continue after row-wise operators have the results, layouts and errors of the separate operators."""

import random
import warnings

import numpy as np
import pytest

import ts
from tests.fuzz import how_many
from tests.test_fusion import assert_bit_equal, groups, operator, run_unfused, script
from ts.fusion.program import FusedOp, FusedProgram, deserialize_program

FUNCTIONS = {
    "softmax": "e = torch.exp(x - x.amax(-1, keepdim=True))\nreturn e / e.sum(-1, keepdim=True)",
    "log_softmax": "d = x - x.amax(-1, keepdim=True)\nreturn d - d.exp().sum(-1, keepdim=True).log()",
    "logsumexp": "m = x.amax(-1, keepdim=True)\nreturn m + torch.exp(x - m).sum(-1, keepdim=True).log()",
    "layer_norm": "d = x - x.mean(-1, keepdim=True)\nreturn d / torch.sqrt((d * d).mean(-1, keepdim=True) + 1e-5) * w + b",
    "layer_norm by var": "v = x.var(-1, keepdim=True, unbiased=False)\nreturn (x - x.mean(-1, keepdim=True)) * torch.rsqrt(v + 1e-5) * w + b",
    "rms_norm": "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1.0 + w)",
    "variance": "d = x - x.mean(-1, keepdim=True)\nreturn (d * d).sum(-1) / (x.size(-1) - 1)",
    "normalize": "return x / torch.linalg.vector_norm(x, 2.0, [-1], True).clamp_min(1e-12)",
    "cross entropy": "p = x - torch.exp(x - x.amax(-1, keepdim=True)).sum(-1, keepdim=True).log()\nreturn -(p * y).sum(-1)",
    "attention weights": "p = torch.softmax(x + y, -1)\nreturn torch.where(y > 0, p, 0.0) * w",
    "integers": "return x / (y > 0).sum(-1, keepdim=True)",
    "repeated difference": "m = x.mean(-1, keepdim=True)\nv = ((x - m) ** 2).mean(-1, keepdim=True)\nreturn (m - x) * w + (x - m) * torch.rsqrt(v + 1e-5)",
    "exponential of a chain": "m = x.amax(-1, keepdim=True)\nreturn torch.exp((x - m) * 0.5 - y.abs()).sum(-1, keepdim=True) * (x - m) ** 2.0",
    "mean of squares": "m = (x * x).mean(-1)\nreturn torch.sqrt(m + 1e-6) * 0.5",
}
SHAPES = [(5, 100), (1, 300), (7, 3), (40, 64), (2, 3, 700), (3, 2050), (2, 30_000), (5, 1), (0, 8), (6,), (2, 3, 4, 5), (130, 65)]


def function(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return script(f"def f(x: Tensor, y: Tensor, w: Tensor, b: Tensor) -> Tensor:\n{lines}")


def runs_of_continuing_groups(f):
    return sum(plan.runs for group in groups(f) if group and group.program.continues for plan in group.plans)


@pytest.mark.parametrize("body", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16], ids=str)
def test_the_bits_of_separate_operators(body, dtype):
    f = function(body)
    for shape in SHAPES:
        x, y = ts.randn(shape, dtype=dtype), ts.randn(shape, dtype=dtype)
        w, b = ts.randn(shape[-1], dtype=dtype), ts.randn(shape[-1], dtype=dtype)
        assert_bit_equal(f(x, y, w, b), run_unfused(f, x, y, w, b))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_group(name):
    """Each function is one group, which runs for whole rows of any length above 1."""
    f = function(FUNCTIONS[name])
    for count, shape in enumerate([(5, 100), (1, 300), (7, 3), (2, 3, 700), (3, 2050), (2, 30_000)], 1):
        f(ts.randn(shape), ts.randn(shape), ts.randn(shape[-1]), ts.randn(shape[-1]))
        assert runs_of_continuing_groups(f) == (count if name != "integers" else 0)
    assert len([group for group in groups(f) if group and group.program.continues]) == 1 if name != "integers" else True


def test_constant_squares_are_products():
    """`x ** 2` is the operation `square` of the group's program, whose result has the dtype of `pow`."""
    f = function("m = x.mean(-1, keepdim=True)\nreturn ((x - m) ** 2).sum(-1, keepdim=True) + x")
    f(ts.randn(3, 100), ts.randn(3, 100), ts.randn(100), ts.randn(100))
    names = {op.operator.name for group in groups(f) if group for op in group.program.operations}
    assert names >= {"aten::sub", "aten::square"} and "aten::pow" not in names
    g = script("def f(x: Tensor) -> Tensor:\n    return (x ** 2 + x) * 2\n")
    for dtype in (ts.bool, ts.uint8, ts.int64, ts.float16, ts.bfloat16, ts.float64, ts.complex64):
        x = ts.arange(-3, 5).to(dtype)
        assert_bit_equal(g(x), (x**2 + x) * 2)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 0.0, -0.0])
def test_special_values(value):
    f = function(FUNCTIONS["softmax"])
    for n in (3, 17, 64, 200):
        x = ts.randn(9, n)
        x[::2, n // 2] = value
        x[3] = value
        x[5] = -x[5].abs()
        if value == value:  # The sign of the sum of two NaNs of different signs is unspecified.
            x[5, :2] = ts.tensor([value, -value])
        for expression in ("x.amax(-1, keepdim=True) * 1.0 + x", "x - x.amin(-1, keepdim=True)", FUNCTIONS["softmax"].partition("return ")[2]):
            body = f"e = torch.exp(x - x.amax(-1, keepdim=True))\nreturn {expression}"
            f = function(body)
            assert_bit_equal(f(x, x, x, x), run_unfused(f, x, x, x, x))
            assert runs_of_continuing_groups(f) == 1


def test_extremes_of_zeros_and_nans():
    """`amax` and `amin` of float32 rows are those of NumPy, for any position of NaN and of the extreme."""
    numbers = np.random.default_rng(1)
    for n in (1, 2, 7, 15, 16, 17, 33, 64, 100, 129):
        for position in {0, n // 2, n - 1}:
            for value in (np.nan, np.inf, -np.inf, 1e30, -1e30):
                x = numbers.standard_normal((3, n)).astype(np.float32)
                x[1, position] = value
                given = ts.from_numpy(x)
                np.testing.assert_array_equal(given.amax(-1).numpy(), x.max(-1))
                np.testing.assert_array_equal(given.amin(-1).numpy(), x.min(-1))


def test_sums_of_rows_do_not_depend_on_the_simd_level():
    """A row of 600 elements is two blocks with 16 accumulators each. The sums of the blocks are added in double."""
    x = np.random.default_rng(2).standard_normal((4, 600)).astype(np.float32)
    for row, found in zip(x, ts.from_numpy(x).sum(-1).numpy(), strict=True):
        total = np.float64(0)
        for block in (row[:512], row[512:]):
            whole = len(block) // 16 * 16
            lanes = np.zeros(16, np.float32)
            for i in range(0, whole, 16):
                lanes += block[i : i + 16]
            partial = np.float64(0)
            for lane in lanes[:8] + lanes[8:]:
                partial += lane
            for value in block[whole:]:
                partial += value
            total += partial
        assert found == np.float32(total)


LAYOUTS = {
    "a column": lambda shape: [shape, (*shape[:-1], 1)],
    "a row": lambda shape: [shape, shape[-1:]],
    "one element": lambda shape: [shape, (1,)],
    "elements per row": lambda shape: [shape, (shape[0], *(1 for _ in shape[1:]))],
    "fewer dimensions": lambda shape: [shape[1:], shape],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_broadcast_operands(name):
    f = function("h = x * y\nm = h.mean(-1, keepdim=True)\nreturn (h - m) * y + m")
    for shape in [(6, 100), (6, 9), (1, 80), (4, 3, 70), (3, 1, 5)]:
        x, y = (ts.randn(s) for s in LAYOUTS[name](shape))
        assert_bit_equal(f(x, y, x, y), run_unfused(f, x, y, x, y))
    assert runs_of_continuing_groups(f) >= 3


@pytest.mark.parametrize("change", [lambda x: x.transpose(0, 1), lambda x: x[:, ::2], lambda x: x[::2], lambda x: x.expand(3, *x.shape)])
def test_strided_inputs(change):
    for body in (FUNCTIONS["softmax"], FUNCTIONS["layer_norm"], "h = x + y\nreturn h / h.sum(-1, keepdim=True)"):
        f = function(body)
        x = change(ts.randn(70, 90))
        w = ts.randn(2 * x.size(-1))[::2]
        assert_bit_equal(f(x, x, w, w), run_unfused(f, x, x, w, w))


def test_any_number_of_threads():
    before = ts.get_num_threads()
    x, w = ts.randn(700, 1030), ts.randn(1030)
    try:
        for body in FUNCTIONS.values():
            f = function(body)
            expected = run_unfused(f, x, x, w, w)
            for count in (1, 2, 5):
                ts.set_num_threads(count)
                assert_bit_equal(f(x, x, w, w), expected)
    finally:
        ts.set_num_threads(before)


def test_row_values_are_results():
    """Results with one element per row keep the shape that the operators give them."""
    f = script("""
def f(x: Tensor):
    m = x.mean(-1)
    k = x.amax(-1, keepdim=True)
    d = x - k
    return m, k, d, m * 2, k + 1, torch.exp(d).sum(-1).log()
""")
    for shape in [(5, 70), (1, 70), (2, 3, 8), (9, 9)]:
        for found, expected in zip(f(ts.randn(shape)), f(ts.randn(shape)), strict=True):
            assert found.shape == expected.shape
        x = ts.randn(shape)
        for found, expected in zip(f(x), run_unfused(f, x), strict=True):
            assert_bit_equal(found, expected)
    assert runs_of_continuing_groups(f) > 0


@pytest.mark.parametrize("end", ["d.sum()", "(d * d).mean()", "torch.exp(d).sum([0, 1])", "(d * y).sum() + d.sum()", "d.norm()", "(d * y).max()"])
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_a_loss_of_all_elements(end, dtype):
    """A sum of all elements has the bits of the operator for any row length and number of threads."""
    f = function(f"d = x - x.mean(-1, keepdim=True)\nreturn {end}")
    before = ts.get_num_threads()
    try:
        for shape in [(7, 64), (1, 70), (130, 512), (5, 1000), (3, 2048), (9, 3072), (3, 20_480), (200, 1024), (40, 16)]:
            x, y = ts.randn(shape, dtype=dtype), ts.randn(shape, dtype=dtype)
            expected = run_unfused(f, x, y, x, x)
            for threads in (1, 3):
                ts.set_num_threads(threads)
                assert_bit_equal(f(x, y, x, x), expected)
    finally:
        ts.set_num_threads(before)


def test_a_loss_is_part_of_the_group():
    f = function("d = x - x.mean(-1, keepdim=True)\nreturn (d * d).mean()")
    x = ts.randn(30, 512)
    f(x, x, x, x)
    assert runs_of_continuing_groups(f) == 1 and "  fused mean_sub_mul_mean (lines 2, 3)" in str(f.plan).splitlines()


def test_a_reduced_dimension_that_broadcasts_as_another():
    """Without `keepdim`, a sum over the rows of a square matrix broadcasts along its columns."""
    f = function("return x - x.sum(-1)")
    x = ts.randn(66, 66)
    assert_bit_equal(f(x, x, x, x), x - x.sum(-1))
    assert runs_of_continuing_groups(f) == 0


def test_errors_and_warnings_of_operators():
    f = function("return x - x.sum(2, keepdim=True)")
    with pytest.raises(RuntimeError, match=r"line 2, in f[\s\S]*Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)"):
        f(*[ts.randn(3, 4)] * 4)
    f = function("return x / x.var(-1, keepdim=True)")
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        f(*[ts.randn(3, 1)] * 4)
    f = function("m = x.mean(-1, keepdim=True)\nreturn (x - m) + y")
    with pytest.raises(RuntimeError, match="must match"):
        f(ts.randn(3, 70), ts.randn(3, 69), ts.randn(3), ts.randn(3))


def test_gradients():
    body = FUNCTIONS["layer_norm"]
    f = function(body)
    x, w, b = (ts.randn(s, dtype=ts.float64, requires_grad=True) for s in ((6, 70), 70, 70))
    with ts.jit.optimized_execution(False):
        expected = ts.autograd.grad(f(x, x, w, b).square().sum(), (x, w, b))
    for _ in range(3):
        found = ts.autograd.grad(f(x, x, w, b).square().sum(), (x, w, b))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12, atol=1e-12)


def test_report_names_the_group_in_execution_order():
    f = function(FUNCTIONS["softmax"])
    x = ts.randn(4, 70)
    f(x, x, x, x)
    assert str(f.plan).splitlines()[1:3] == [
        "  fused amax_sub_exp_sum_div (lines 2, 3)",
        "    x float32: ran fused 1 time",
    ]
    assert "has not run yet" not in str(f.plan)


def test_report_of_groups_that_run_instead():
    """If the rows are not along the last dimension, the group is divided, and the report lists the parts."""
    f = function("h = x * y\nd = h - h.amax(1, keepdim=True)\nreturn torch.exp(d) * 2")
    x = ts.randn(4, 70, 3)
    assert_bit_equal(f(x, x, x, x), run_unfused(f, x, x, x, x))
    lines = str(f.plan).splitlines()
    assert "  fused mul_amax_sub_exp_mul (lines 2 to 4)" in lines
    assert "    1 call not fused: shapes or layouts" in lines
    assert "  fused sub_exp_mul (lines 3, 4)" in lines


def test_serialization():
    div, total = operator("aten::div.Tensor"), operator("aten::sum.dim_IntList")
    program = FusedProgram("t---", (FusedOp(div, (0, 5)),), (4,), (FusedOp(total, (0, 1, 2, 3)),))
    assert program.continues and program.execution_order() == [5, 4] and program.name == "sum_div"
    operators = {op.key: op for op in (div, total)}
    assert deserialize_program(program.data(lambda op: op.key), operators.__getitem__) == program


@pytest.mark.parametrize("operands", [(5, 6), (6, 6)])
def test_an_epilogue_must_precede_its_readers(operands):
    """An operation cannot read an epilogue of its own result."""
    div, total = operator("aten::div.Tensor"), operator("aten::sum.dim_IntList")
    with pytest.raises(ValueError, match="reads a value that follows it"):
        FusedProgram("t---", (FusedOp(div, operands), FusedOp(div, (0, 4))), (4,), (FusedOp(total, (4, 1, 2, 3)),))


# ---------------------------------------------------------------- random programs

UNARY = ("torch.exp(-{x}.abs())", "torch.tanh({x})", "({x} * 0.5)", "torch.rsqrt({x} * {x} + 1)", "torch.sqrt({x}.abs() + 0.1)", "({x} + n)", "{x}.float()", "(1 - {x})")
BINARY = ("({x} + {y})", "({x} - {y})", "({x} * {y})", "({x} / ({y}.abs() + 1))", "torch.maximum({x}, {y})", "torch.where({y} > 0, {x}, {x} * 2)")
REDUCTIONS = (
    "{x}.sum(-1, keepdim=True)", "{x}.mean(-1, keepdim=True)", "{x}.amax(-1, keepdim=True)", "{x}.amin([-1], True)", "{x}.mean([-1], True)",
    "torch.logsumexp({x}, [-1], True)", "{x}.prod(-1, keepdim=True)", "torch.softmax({x}, -1)", "{x}.std(-1, keepdim=True)", "{x}.sum([1], True)",
    "torch.linalg.vector_norm({x}, 2.0, [-1], True)", "{x}.var(-1, unbiased=False, keepdim=True)", "{x}.amax(0, keepdim=True)",
    "torch.layer_norm({x}, [{x}.size(-1)])", "{x}.sum()", "{x}.mean()",
)  # fmt: skip


def random_program(choose):
    """Return the source of a function of four tensors and an int, with pointwise operators and row reductions."""
    names, lines = ["x", "x", "y", "w", "c"], []
    for i in range(3 + choose(10)):
        forms = (UNARY, BINARY, BINARY, REDUCTIONS)[choose(4)]
        form = forms[choose(len(forms))]
        lines.append(f"    t{i} = " + form.format(x=names[choose(len(names))], y=names[choose(len(names))]))
        names += [f"t{i}"] * 2
    unread = [f"t{i}" for i in range(len(lines)) if not any(f"t{i}" in line.partition("=")[2] for line in lines)]
    results = dict.fromkeys([*unread, f"t{choose(len(lines))}", lines[-1].split()[0]])
    body = "\n".join(lines)
    return f"def f(x: Tensor, y: Tensor, w: Tensor, c: Tensor, n: int):\n{body}\n    return ({', '.join(results)},)\n"


def random_arguments(choose, seed):
    shape = [(5, 70), (1, 130), (33, 5), (40, 1), (2, 3, 100), (0, 9), (3, 2500), (300, 64), (7,), (6, 6), (2, 20_000), (4, 1, 65)][choose(12)]
    kinds = ["float32"] * 5 + ["float64"] * 2 + ["int64", "int32", "bool", "float16"]
    main = kinds[choose(len(kinds))]
    numbers = np.random.default_rng(seed)
    tensors = []
    for dims in (shape, shape if choose(2) else (1,) * (len(shape) - 1) + shape[-1:], shape[-1:], (*shape[:-1], 1)):
        kind = main if choose(5) else kinds[choose(len(kinds))]
        wide = numbers.standard_normal((*dims[:-1], 2 * dims[-1])) * 2
        x = ts.from_numpy((wide > 0) if kind == "bool" else wide.astype(kind))
        layout = choose(5)
        tensors.append(x[..., ::2] if layout == 0 else x[..., : dims[-1]] if layout == 1 else x[..., : dims[-1]].contiguous())
    return [*tensors, choose(3)]


def outcome(f, args):
    try:
        return [(x.numpy().tobytes(), x.dtype, x.shape, x.stride()) for x in f(*args)]
    except RuntimeError as error:
        return str(error)  # Several operators may be invalid. Their order may change.


def check_random_program(seed):
    """Compare the fused and separate operators of one program. Return how often continuing groups ran."""
    choose = random.Random(seed).randrange
    source, args = random_program(choose), random_arguments(choose, seed)
    f = script(source)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with ts.jit.optimized_execution(False):
            expected = outcome(script(source), args)
        for threads in (1, 3):
            ts.set_num_threads(threads)
            found = outcome(f, args)
            assert found == expected or (isinstance(found, str) and isinstance(expected, str)), f"seed {seed}, {threads} threads\n{source}{[(x.dtype, x.shape, x.stride()) for x in args[:4]]}"
    return runs_of_continuing_groups(f)


def test_random_programs():
    before, count = ts.get_num_threads(), how_many(150)
    try:
        assert sum(map(check_random_program, range(count))) > count / 6
    finally:
        ts.set_num_threads(before)


# ---------------------------------------------------------------- chains of arithmetic

CHAINS = (
    "(x - m) * y + w", "w - (x + m) / y", "y / (x - m) * w", "((x - m) * (x - m)) - y", "1 - (x * m) / 3", "2.5 / (w + m * x) - 0.5 * y",
    "((((x + m) * y - w) / 2 + y) * w - 1) * x", "(x - m) * (y - w)", "(m * 2 + 1) * x - (m - 1) / y", "(m + x) + (m + x)", "(y * m) * (y * m) * w",
)  # fmt: skip


@pytest.mark.parametrize("expression", CHAINS)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_chains_of_arithmetic_are_rounded_after_each_operation(expression, dtype):
    f = function(f"m = x.amax(-1, keepdim=True)\nreturn {expression}")
    for n in (2, 15, 64, 100, 257, 1000, 2500):
        x, y, w = ts.randn(5, n, dtype=dtype), ts.randn(5, n, dtype=dtype), ts.randn(n, dtype=dtype)
        assert_bit_equal(f(x, y, w, w), run_unfused(f, x, y, w, w))
    assert runs_of_continuing_groups(f) == 7
