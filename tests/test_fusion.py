"""Fused groups have the bits, layouts and errors of their separate operators, for all inputs."""

import itertools
import os
import random
import subprocess
import sys
import threading

import pytest

import ts
from ts.bytecode.native import background_compilation
from ts.fusion.fusion_rules import operands
from ts.fusion.program import NUMBER, OTHER, TENSOR, FusionGroupRecord, FusedProgram, FusedOp, group_operator, deserialize_program
from ts.ir.graph import Graph
from ts.ir.types import FLOAT
from ts.ops import registry


def script(text, name="f"):
    return getattr(ts.jit.CompilationUnit(text), name)


def groups(f):
    """Return the groups of a function that ran on the CPU."""
    codes = [f.compiled_code, *(code for code, _ in f.plans.specialized_codes if code is not None)] if f.plans else [f.compiled_code]
    return [o.record.group for code in codes for o in code.operators if isinstance(o.record, FusionGroupRecord)]


def runs(f):
    """Return the number of fused runs of a function's groups."""
    return sum(plan.runs for group in groups(f) if group for plan in group.plans)


def run_unfused(f, *args):
    """Run a function without fusion: limits require every operator to run separately."""
    with ts.limits(bytes=1 << 40):
        return f(*args)


def bytes_of(x):
    return x.contiguous().numpy().tobytes()


def assert_bit_equal(a, b):
    """Check for equal bits and strides."""
    assert a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()
    assert bytes_of(a) == bytes_of(b)


EXPRESSION = """
def f(x: Tensor, y: Tensor) -> Tensor:
    return torch.tanh(x * y + x) * torch.sigmoid(y) - 0.5 * x
"""


@pytest.mark.parametrize("size", [1, 5, 31, 1023, 1024, 1025, 2049, 70_000, 300_001])
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.float16, ts.bfloat16])
def test_sizes_that_do_not_divide_into_tiles(size, dtype):
    f = script(EXPRESSION)
    x, y = ts.randn(size, dtype=dtype), ts.randn(size, dtype=dtype)
    assert_bit_equal(f(x, y), run_unfused(f, x, y))
    assert runs(f) == 1


SHAPES = {
    "same": (lambda: ts.randn(7, 300), lambda: ts.randn(7, 300)),
    "a row": (lambda: ts.randn(7, 300), lambda: ts.randn(300)),
    "a column": (lambda: ts.randn(70, 30), lambda: ts.randn(70, 1)),
    "halves": (lambda: ts.randn(9, 600)[:, :300], lambda: ts.randn(9, 600).chunk(2, 1)[1]),
    "every second": (lambda: ts.randn(9, 600)[:, ::2], lambda: ts.randn(9, 300)),
    "channels last": (
        lambda: ts.randn(2, 8, 9, 7).to(memory_format=ts.channels_last),
        lambda: ts.randn(2, 8, 9, 7).to(memory_format=ts.channels_last),
    ),
    "expanded": (lambda: ts.randn(5, 400), lambda: ts.randn(1, 400).expand(5, 400)),
    "a number in a tensor": (lambda: ts.randn(5, 400), lambda: ts.randn(())),
    "one element": (lambda: ts.randn(5, 400), lambda: ts.randn(1, 1)),
    "integers": (lambda: ts.arange(30), lambda: ts.arange(30)),
    "in the middle": (lambda: ts.randn(3, 4, 50, 6), lambda: ts.randn(4, 1, 6)),
    "transposed and not": (lambda: ts.randn(30, 40).t(), lambda: ts.randn(40, 30)),
    "not and transposed": (lambda: ts.randn(40, 30), lambda: ts.randn(30, 40).t()),
    "in two orders": (lambda: ts.randn(3, 4, 50).permute(2, 0, 1), lambda: ts.randn(4, 50, 3).permute(1, 2, 0)),
    "channels last and a row": (lambda: ts.randn(2, 8, 9, 7).to(memory_format=ts.channels_last), lambda: ts.randn(7)),
    "single elements": (lambda: ts.randn(()), lambda: ts.randn(())),
    "smaller": (lambda: ts.randn(3), lambda: ts.randn(4, 3)),
    "smaller both": (lambda: ts.randn(4, 1), lambda: ts.randn(3)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_and_layouts_that_are_fused(name):
    make_x, make_y = SHAPES[name]
    f = script("def f(x, y):\n    return torch.relu(x * y) - x\n")
    for dtype in (ts.float32, ts.bfloat16, ts.float64):
        x, y = make_x(), make_y()
        if x.is_floating_point():
            x, y = x.to(dtype), y.to(dtype)
        assert_bit_equal(f(x, y), run_unfused(f, x, y))
    assert runs(f) == 3


ELSEWHERE = {
    "complex numbers": (lambda: ts.randn(30, dtype=ts.complex64), lambda: ts.randn(30, dtype=ts.complex64)),
    "nothing": (lambda: ts.randn(0, 3), lambda: ts.randn(3)),
    "meta": (lambda: ts.randn(30, device="meta"), lambda: ts.randn(30, device="meta")),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_inputs_that_are_not_fused(name):
    make_x, make_y = ELSEWHERE[name]
    f = script("def f(x, y):\n    return torch.neg(x) * y + x\n")
    x, y = make_x(), make_y()
    actual = f(x, y)
    assert runs(f) == 0
    expected = -x * y + x
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    if actual.device.type != "meta":
        assert_bit_equal(actual, expected)


def test_errors_of_groups_equal_operator_errors():
    f = script(EXPRESSION)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match the size of tensor b \(4\)") as error:
        f(ts.ones(3), ts.ones(4))
    assert "torch.tanh(x * y + x)" in str(error.value)


def test_numbers_promote_as_in_separate_operators():
    f = script("def f(x, n: float, i: int):\n    return (x * n + i) / n\n")
    for x in (ts.randn(50), ts.randn(50).double(), ts.arange(50), ts.randn(50) > 0):
        for n, i in ((2.5, 3), (1e300, 2**40), (float("nan"), -1)):
            assert_bit_equal(f(x, n, i), (x * n + i) / n)


def test_masks_are_returned_as_bools():
    f = script("def f(x, y):\n    a = x * y\n    return a > 0.5, torch.logical_not(a < 0.25)\n")
    x, y = ts.randn(3000), ts.randn(3000)
    actual, expected = f(x, y), (x * y > 0.5, ts.logical_not(x * y < 0.25))
    for a, b in zip(actual, expected, strict=True):
        assert_bit_equal(a, b)
    assert runs(f) == 1


def test_results_do_not_share_memory():
    """Results have their own memory, even if an input is written to later or a value is returned twice."""
    f = script("def f(x):\n    a = torch.exp(x)\n    b = a * x\n    x.add_(1)\n    return a, b, torch.neg(x) * a\n")
    x = ts.randn(2000)
    y = x.clone()
    a, b, c = f(x)
    assert_bit_equal(a, ts.exp(y))
    assert_bit_equal(b, ts.exp(y) * y)
    assert_bit_equal(x, y + 1)
    assert_bit_equal(c, -(y + 1) * ts.exp(y))
    assert len({t.data_ptr() for t in (a, b, c, x)}) == 4


def test_overlapping_inputs():
    f = script(EXPRESSION)
    x = ts.randn(4000)
    a, b = x[:3000], x[1000:]
    assert_bit_equal(f(a, b), run_unfused(f, a, b))


def test_number_of_plans():
    f = script("def f(x, a: float, y):\n    return torch.exp(x * a) * y\n")
    kinds = [ts.float32, ts.float64, ts.int64, ts.int32, ts.bool]
    for x, y in itertools.product(kinds, kinds):
        f(ts.ones(3, dtype=x), 2.0, ts.ones(3, dtype=y))
    (group,) = groups(f)
    assert 1 < len(group.plans) <= 6
    result = f(ts.ones(3), 2.0, ts.ones(3))
    assert_bit_equal(result, ts.exp(ts.ones(3) * 2.0))


@pytest.fixture
def machine_code(monkeypatch):
    """Enable machine code in reports, which TS_NATIVE disables in tests."""
    monkeypatch.setattr("ts.runtime.plan_report.is_enabled", True)


def test_report_of_loops(machine_code):
    text = """
def g(n: int, d: Dict[str, int]) -> int:
    s = 0
    for i in range(n):
        s += i * i
    for i in range(n):
        s += d["a"]
        d["a"] = s
    while s > 10:
        print(s)
        s = s // 2
    for i in range(n):
        for j in range(n):
            s += i * j
        print(s)
    return s
"""
    loop = script(text, "g")
    if not background_compilation.is_available():
        assert str(loop.plan).endswith("loops are interpreted: llvmlite is not installed (the extra `native`)")
        return
    assert str(loop.plan).splitlines()[2:] == [
        "  loops become machine code once they are hot (lines 4, 6, 13)",
        "  the loop in line 9 is interpreted: it prints (line 10)",
        "  the loop in line 12 is interpreted: it prints (line 15)",
    ]
    background_compilation.compile_now(loop.compiled_code)
    assert "  loops are machine code (lines 4, 6, 13)" in str(loop.plan)


def test_report_of_disabled_machine_code():
    source = "def f(n: int) -> int:\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n"
    command = [sys.executable, "-c", f"import ts; print(ts.jit.CompilationUnit({source!r}).f.plan)"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TS_NATIVE": "0"})
    assert done.stdout.splitlines()[-1] == "  loops are interpreted: TS_NATIVE=0 forbids machine code", done.stderr


class Normal(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = ts.nn.BatchNorm1d(2)

    def forward(self, x):
        y = self.norm(x)
        for i in range(2):
            print(i)
        return y


def test_report_names_lines_of_the_program(machine_code):
    """The optimization report names lines of calls into `ts`, not of its sources, and no line without a
    source."""
    first = Normal.forward.__code__.co_firstlineno
    for net in (Normal(), ts.nn.Sequential(Normal())):
        plan = str(ts.jit.script(net).plan)
        assert f"batch_norm (line {first + 1})" in plan
        if background_compilation.is_available():
            assert f"  loops become machine code once they are hot (in functions called in line {first + 1})\n" in plan
            assert f"  the loop in line {first + 2} is interpreted: it prints (line {first + 3})" in plan
    left = script("def f(x):\n    y = ts.mm(x, x)\n    return 2.0 + ts.relu_(y)\n")  # uses a function of the builtin library
    assert "add (line 3)" in str(left.plan)
    assert "  fused exp_add (line 2)\n" in str(script("def f(x):\n    return 2.0 + ts.exp(x)\n").plan)
    assert "# <string>:3:11    return 2.0 + ts.relu_(y)\n" in left.bytecode and "aten::add" in left.bytecode
    assert "aten::add(%6, %4, %7) # <string>:5:9\n" in str(left.graph)
    layers = ts.nn.Sequential(ts.nn.Linear(2, 2), ts.nn.BatchNorm1d(2))
    assert "linear" in str(ts.jit.script(layers).plan) and "(line" not in str(ts.jit.script(layers).plan)


def test_report_of_fused_and_unfused_calls(machine_code):
    f = script(EXPRESSION)
    x = ts.ones(30)
    f(x, x)
    f(x, x)
    f(x.to(ts.complex64), x)
    f(x[:0], x[:0])
    f(x[:0], x[:1])
    text = str(f.plan)
    assert "  fused mul_add_tanh_sigmoid_mul_mul_sub (line 3)\n" in text
    assert "x float32, y float32, 0.5 float (number): ran fused 2 times" in text
    assert "x complex64, y float32, 0.5 float (number): not fused, as aten::mul has no loop for that dtype" in text
    assert "2 calls not fused: shapes or layouts" in text
    loop = script("def g(n: int) -> int:\n    s = 0\n    for i in range(n):\n        s += i * i\n    return s\n", "g")
    assert "loops become machine code" in str(loop.plan) or "llvmlite is not installed" in str(loop.plan)
    assert "loops" not in text
    assert "nothing is fused" in str(script("def g(x):\n    return x + 1\n", "g").plan)


MIXED = """
def g(x: Tensor) -> Tensor:
    return x.sigmoid() * 2

def h(x: Tensor, n: int) -> Tensor:
    return h(x, n - 1) if n > 0 else x

def f(x, y, w):
    z = (x * y + 1).tanh()
    a, b = z.chunk(2, 1)
    out = torch.mm(torch.sigmoid(a) * b, w.t())
    out.add_(1)
    for i in range(3):
        out = torch.mm(out, w.t()) + i
    return h(out, 1).softmax(1), torch.exp(z), torch.jit.wait(torch.jit.fork(g, x))
"""


def test_report_of_ungrouped_operators():
    """Operators are listed by reason, with lines of the function, also those of forked tasks."""
    f = script(MIXED)
    x, w = ts.rand(4, 6), ts.rand(3, 3)
    f(x, x, w)
    expected = """\
plan of f
  fused mul_add_tanh (line 9)
    x float32, y float32, 1 int (number): ran fused 1 time
  fused chunk_sigmoid_mul (lines 10, 11)
    z float32, z float32: ran fused 1 time
  not in a fusion group
    it is a view that no group reads: t (lines 11, 14)
    it is not a pointwise operator on tensors: mm (lines 11, 14), wait (line 15)
    it writes to its argument: add_ (line 12)
    no neighboring operator can be fused with it: add (line 14)
    it is a call: CallFunction (line 15)
    it reads rows of an input that no group computes: softmax (line 15)
    no operator can be fused with it before the next write or branch: exp (line 15)
  moved out of loops: t (line 14)
  in a forked task
    fused sigmoid_mul (line 15)
      x float32, 2 int (number): ran fused 1 time
"""
    assert str(f.plan).startswith(expected)
    with ts.jit.optimized_execution(False):
        assert "`optimized_execution(False)` is active" in str(f.plan)
    stopping = script("def g(x):\n    breakpoint()\n    return (x + 1) * 2\n", "g")
    assert "nothing is fused: it calls `breakpoint()`" in str(stopping.plan)
    with ts.profiler.profile() as prof:
        f(x, x, w)
    fused = {event.name for event in prof.events() if event.name.startswith("fused")}
    assert fused == {"fused mul_add_tanh", "fused chunk_sigmoid_mul", "fused sigmoid_mul"}


def test_modules_and_their_methods_have_plans():
    class Layer(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = ts.nn.BatchNorm1d(4)

        def forward(self, x):
            return ts.relu(self.norm(x)) * 2

        @ts.jit.export
        def other(self, x):
            return ts.relu(x) * x

    model = ts.jit.script(Layer().eval().requires_grad_(False))
    model(ts.rand(2, 4))
    assert str(model.plan).startswith("plan of Layer.forward\n  specialised by x: 1 plan")
    assert "\n    fused relu_mul (line " in str(model.plan)
    assert "batch_norm float32, 2 int (number): ran fused 1 time" in str(model.plan)
    assert "`training` may be True (freezing the module sets it to False): batch_norm (line " in str(model.plan)
    assert "fused relu_mul" in str(model.other.plan) and "has not run yet" in str(model.other.plan)
    assert "nothing is fused" in str(model.norm.plan)
    assert "fused batch_norm_relu_mul" in str(ts.jit.freeze(model).plan)

    class Planned(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.plan = 3

        def forward(self, x):
            return x + self.plan

    assert ts.jit.script(Planned()).plan == 3


WITH_NUMBERS = """
def f(x: Tensor, y: Tensor, low: float, up: Optional[float]):
    a = torch.clamp(x, low, up) + torch.clamp(y, max=0.25)
    b = torch.where(a > 0.1, a, y) * torch.nn.functional.gelu(a)
    c = torch.nn.functional.leaky_relu(b - 1, 0.3).masked_fill(x < 0, 7.5) + torch.nn.functional.silu(y)
    d = torch.where(c > 0, 1.5, c) + torch.where(y > 0, c, 2) + (1 - x) ** 2 + torch.nn.functional.softplus(x)
    return torch.nn.functional.relu6(d) + torch.nn.functional.hardtanh(c), torch.abs(d) ** 0.3
"""


@pytest.mark.parametrize("size", [1, 1000, 3001, 100_000])
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
def test_operators_that_read_numbers(size, dtype):
    f = script(WITH_NUMBERS)
    x, y = ts.randn(size, dtype=dtype), ts.randn(size, dtype=dtype)
    for bounds in ((-0.5, 0.5), (0.0, None), (-0.1, 2.0)):
        for a, b in zip(f(x, y, *bounds), run_unfused(f, x, y, *bounds), strict=True):
            assert_bit_equal(a, b)
    assert runs(f) == 3
    if dtype == ts.float32:
        with pytest.raises(RuntimeError, match="cannot be converted to type float without overflow"):
            f(x, y, 1e300, None)
    assert runs(f) == 3


def test_masked_fill_is_contiguous():
    """`masked_fill` returns contiguous tensors for all layouts of its input."""
    f = script("def f(x, m):\n    return torch.neg(x).masked_fill(m, 2.0)\n")
    x = ts.randn(2, 8, 9, 7).to(memory_format=ts.channels_last)
    assert_bit_equal(f(x, x > 0), run_unfused(f, x, x > 0))
    x = x.contiguous()
    assert_bit_equal(f(x, x > 0), run_unfused(f, x, x > 0))
    assert runs(f) == 2


STAGES = """
def f(x: Tensor, row: Tensor, column: Tensor, scale: Tensor):
    gate = torch.sigmoid(row) * torch.exp(scale)
    both = torch.tanh(column) * gate
    return x * gate + both, gate, both - 1, torch.neg(scale) * 2
"""


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.float16, ts.bfloat16])
def test_smaller_shapes_are_computed_once(dtype):
    """Values with smaller shapes are computed once: scalars, then rows and columns, then full shapes."""
    f = script(STAGES)
    scale = ts.randn((), dtype=dtype)
    for shape in ((5, 700), (300, 400), (1, 40), (40, 1), (1, 1)):
        x, row, column = (ts.randn(s, dtype=dtype) for s in (shape, shape[1:], (*shape[:1], 1)))
        for a, b in zip(f(x, row, column, scale), run_unfused(f, x, row, column, scale), strict=True):
            assert_bit_equal(a, b)
        assert not any(group.left_for_shapes for group in groups(f))
        x = x.t().contiguous().t()  # its product has other strides than the other results
        for a, b in zip(f(x, row, column, scale), run_unfused(f, x, row, column, scale), strict=True):
            assert_bit_equal(a, b)
        f = script(STAGES)


def test_smaller_results_keep_their_rank():
    """The rank is kept even if only the number of dimensions differs."""
    f = script("def f(x, y):\n    a = torch.neg(x)\n    return a, a * y\n")
    for y in (ts.ones(1, 5), ts.ones(1, 1, 1)):
        a, b = f(ts.ones(5), y)
        assert a.shape == (5,) and b.shape == (*y.shape[:-1], 5)
    assert runs(f) == 2


def test_expanded_inputs_use_the_operator_s_formula():
    """Some activations use another formula for expanded tensors."""
    f = script("def f(x):\n    return torch.nn.functional.gelu(x) + 1\n")
    for x in (ts.randn(40, 1).expand(40, 30), ts.randn(30).expand(40, 30), ts.randn(1).expand(3000)):
        assert_bit_equal(f(x), run_unfused(f, x))


def test_limits_see_every_operator():
    f = script(EXPRESSION)
    x = ts.ones(1000)
    with ts.limits(bytes=10**9):
        f(x, x)
    assert runs(f) == 0 and groups(f)[0].left_to_limits == 1


def test_any_number_of_threads_gives_the_same_bits():
    f = script(EXPRESSION)
    x, y = ts.randn(700, 900), ts.randn(700, 900)
    expected = run_unfused(f, x, y)
    before = ts.get_num_threads()
    try:
        for count in (1, 2, 3, 8):
            ts.set_num_threads(count)
            assert_bit_equal(f(x, y), expected)
    finally:
        ts.set_num_threads(before)
    assert runs(f) == 4


def test_threads_share_groups():
    f = script(EXPRESSION)
    sizes = [10, 1000, 1500, 100_000]
    inputs = [(ts.randn(n, dtype=d), ts.randn(n, dtype=d)) for n in sizes for d in (ts.float32, ts.float64)]
    expected = [run_unfused(f, x, y).numpy().tobytes() for x, y in inputs]
    wrong = []

    def work(seed):
        order = random.Random(seed).choices(range(len(inputs)), k=200)
        for i in order:
            if f(*inputs[i]).numpy().tobytes() != expected[i]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_optimized_execution_off_makes_no_groups():
    f = script(EXPRESSION)
    with ts.jit.optimized_execution(False):
        f(ts.ones(3), ts.ones(3))
        assert not groups(f)
    assert groups(f)


# ---- programs --------------------------------------------------------------------------------------------------


def operator(key):
    name, _, overload = key.partition(".")
    return next(op for op in registry.lookup(name) if op.overload == overload)


def test_programs_read_only_computed_values():
    neg = operator("aten::neg")
    for inputs, rows, outputs in [
        ("t", [(1,)], [1]), ("t", [(-1,)], [1]), ("t", [()], [1]), ("n", [(0,)], [1]), ("tx", [(0,)], [2]),
        ("t", [(0,)], [0]), ("t", [(0,)], [2]), ("t", [(0,)], []), ("t", [(0,), (3,)], [1]),
    ]:  # fmt: skip
        with pytest.raises(ValueError):
            FusedProgram(inputs, tuple(FusedOp(neg, row) for row in rows), tuple(outputs))


def test_a_bias_and_a_batch_of_one():
    """Results have equal strides and the rank of their operands with a bias and a batch of one."""
    f = script("""
def f(x: Tensor, b: Tensor, c: Tensor):
    d = torch.tanh(b) * c
    return x * b + d, d, torch.sigmoid(x) - c
""")
    g = script("""
def f(x: Tensor, b: Tensor, c: Tensor):
    return torch.softmax((x + b) * c, -1), (b - x) * c
""")
    b, c = ts.randn(600), ts.randn(600)
    for x in (ts.randn(1, 600), ts.randn(1, 1, 600), ts.randn(600), ts.randn(2, 600), ts.randn(1, 1), ts.randn(1)):
        for h in (f, g):
            for actual, expected in zip(h(x, b, c), run_unfused(h, x, b, c), strict=True):
                assert_bit_equal(actual, expected)
            for actual, expected in zip(h(b, x, c), run_unfused(h, b, x, c), strict=True):
                assert_bit_equal(actual, expected)
    assert runs(f) >= 12 and runs(g) >= 12
    assert not any(group.left_for_shapes for h in (f, g) for group in groups(h))


@pytest.mark.parametrize("channels, size, fused", [(32, 16, False), (2, 4, True), (3, 60, False)])
def test_products_of_a_channel_scale_run_unfused(channels, size, fused):
    """A group runs unfused if only its last operator has large results, which it computes without copies."""
    f = script("""
def f(scale: Tensor, x: Tensor):
    return torch.sigmoid(scale) * x
""")
    scale, x = ts.randn(1, channels, 1, 1), ts.randn(1, channels, size, size)
    for _ in range(3):
        assert_bit_equal(f(scale, x), run_unfused(f, scale, x))
    assert (runs(f) > 0) == fused
    assert any(group.left_for_shapes for group in groups(f) if group) != fused


def test_program_serialization():
    mul, neg = operator("aten::mul.Tensor"), operator("aten::neg")
    program = FusedProgram("tn", (FusedOp(mul, (0, 1)), FusedOp(neg, (2,))), (3,))
    data = program.data(lambda op: op.key)
    assert data == ["tn", [["aten::mul.Tensor", 0, 1], ["aten::neg", 2]], [3], [], []]
    assert deserialize_program(data, operator) == program


@pytest.mark.parametrize("inputs, key, operands", [
    ("t", "aten::mm", (0, 0)), ("t", "aten::clamp", (0,)), ("tt", "aten::clamp", (0, 1, 1)), ("tn", "aten::where.self", (0, 1, 1)),
    ("to", "aten::clamp", (0, 1)), ("nt", "aten::neg", (0,)), ("nnt", "aten::mul.Tensor", (0, 1)), ("t", "aten::mul.Tensor", (0,)),
    ("to", "aten::mul.Tensor", (0, 1)), ("tttt", "aten::neg", (0, 1, 2, 3)), ("tttttt", "aten::neg", (0, 1, 2, 3, 4)),
    ("toooo", "aten::gelu", (0, 1)), ("t", "aten::to.dtype", (0,)), ("tn", "aten::to.dtype", (0, 1)), ("to", "aten::to.dtype", (0, 1)),
    ("t", "aten::type_as", (0, 0)), ("nt", "aten::to.dtype", (0, 1)), ("tnn", "aten::to.dtype", (0, 1, 2)),
])  # fmt: skip
def test_invalid_programs_are_rejected(inputs, key, operands):
    """Invalid fused programs, which may come from untrusted files, are rejected."""
    x = ts.ones(5)
    arguments = [{"t": x, "n": 2.0, "o": None}[letter] for letter in inputs]
    ran, result = group_operator(FusedProgram(inputs, (FusedOp(operator(key), operands),), (len(inputs),)))(*arguments)
    assert ran is False and result is x


def test_oversized_group_is_not_fused():
    """Oversized fused programs, which may come from untrusted files, are rejected."""
    neg = operator("aten::neg")
    program = FusedProgram("t", tuple(FusedOp(neg, (i,)) for i in range(100)), (100,))
    x = ts.ones(3)
    ran, result = group_operator(program)(x)
    assert ran is False and result is x


MASKS = {"mask", "condition"}


def fusible_operators():
    """Return keys of the fusible operators, with samples of their operands."""
    for record in registry.records():
        graph = Graph()
        inputs, samples = [], []
        for argument in record.schema.arguments:
            kind = argument.type.kind()
            if argument.name == "alpha":
                inputs.append(graph.insert_constant(1))
                samples.append(1)
            elif record.converts and argument.name not in ("self", "other", "dtype"):
                inputs.append(graph.insert_constant(argument.default))
            elif kind == "StringType":
                inputs.append(graph.insert_constant(argument.default))
                samples.append(f"text {argument.default}")
            else:
                value = graph.add_input()
                inputs.append(value if kind == "TensorType" else value.set_type(FLOAT))
                name = "dtype" if record.converts and argument.name == "other" else argument.name
                samples.append(name if kind == "TensorType" else 7 if name == "dtype" else 0.5)
        node = graph.append_node(graph.create(record.name, inputs, len(record.schema.returns)))
        result = None if node.operator() is None or node.operator().record is not record else operands(node)
        if isinstance(result, list):
            yield record.key, samples[: len(result)]


def argument_for(sample, x, number):
    if not isinstance(sample, str):
        return number if sample == 0.5 else sample
    if sample == "dtype":
        return x.double()
    return sample[5:] if sample.startswith("text ") else x > 0.7 if sample in MASKS else x


def letter(argument):
    return TENSOR if isinstance(argument, ts.Tensor) else OTHER if isinstance(argument, str) else NUMBER


def test_each_fusible_operator_has_a_float_loop():
    """An operator without one would prevent its group from being fused; bit and integer operators are for masks."""
    results = dict(fusible_operators())
    assert len(results) > 100 and {"aten::mul.Tensor", "aten::tanh", "aten::sub.Scalar"} <= set(results)
    missing = []
    for key, samples in results.items():
        for x, number in ((ts.linspace(-0.9, 9.9, 500), 0.5), (ts.arange(60), 3)):
            args = [argument_for(sample, x, number) for sample in samples]
            kinds = "".join(map(letter, args))
            program = FusedProgram(kinds, (FusedOp(operator(key), tuple(range(len(kinds)))),), (len(kinds),))
            try:
                ran, result = group_operator(program)(*args)
            except ZeroDivisionError:
                continue
            if ran:
                assert_bit_equal(result, operator(key)(*args))
                break
        else:
            missing.append(key)
    assert not missing, " ".join(missing)


DTYPES = [ts.bool, ts.uint8, ts.int16, ts.int32, ts.int64, ts.float16, ts.bfloat16, ts.float32, ts.float64]


@pytest.mark.parametrize("same_shape", [(37,), ()])
def test_mixed_dtypes_of_each_fusible_operator(same_shape):
    """Each fusible operator promotes mixed dtypes as the single operator, or is not fused."""
    fused_count = 0
    for key, samples in fusible_operators():
        if sum(isinstance(sample, str) and not sample.startswith("text ") for sample in samples) != 2 or "dtype" in samples:
            continue
        for first, second in itertools.product(DTYPES, DTYPES):
            x, y = ts.linspace(-3, 9.9, 37).to(first), ts.linspace(4, -2, 37).to(second)
            args = [x, y if same_shape else y[3], *samples[2:]]
            program = FusedProgram("".join(map(letter, args)), (FusedOp(operator(key), tuple(range(len(args)))),), (len(args),))
            if (y == 0).any() and not (x.is_floating_point() or y.is_floating_point()):
                continue  # integer division by zero is undefined
            ran, result = group_operator(program)(*args)
            if ran:
                fused_count += 1
                assert_bit_equal(result, operator(key)(*args))
    assert fused_count > 1000


CONVERSIONS = """
def f(x: Tensor, y: Tensor, mask: Tensor):
    a = x.float() * 0.5 + y
    b = torch.tanh(a).to(x.dtype) * mask
    return b, (x > 0.3).to(torch.float64) - y.long() / 3, torch.sigmoid(y.type_as(x)), a.half()
"""


@pytest.mark.parametrize("x, y", itertools.product([ts.float32, ts.float64, ts.float16, ts.bfloat16], [ts.float32, ts.int64, ts.bool]))
def test_conversions(x, y):
    f = script(CONVERSIONS)
    for shape in ((3000,), (3, 5)):
        given = ts.randn(shape).to(x), (ts.randn(shape[-1:]) * 3).to(y), ts.randn(shape) > 0
        for a, b in zip(f(*given), run_unfused(f, *given), strict=True):
            assert_bit_equal(a, b)
    assert runs(f) >= 2


def test_conversion_to_the_same_dtype_returns_its_operand():
    """Conversions to the same dtype return their operand: writes to either tensor are visible in both."""
    f = script("def f(x):\n    y = x.float()\n    z = torch.exp(y) * 2 + y\n    x.add_(1)\n    return y, z\n")
    for dtype in (ts.float32, ts.float64):
        x = ts.randn(50).to(dtype)
        before = x.clone()
        y, z = f(x)
        assert_bit_equal(y, x if dtype == ts.float32 else before.float())
        assert_bit_equal(z, ts.exp(before.float()) * 2 + before.float())
        assert (y.data_ptr() == x.data_ptr()) == (dtype == ts.float32)
    inside = script("def f(x):\n    y = torch.exp(x) * 2\n    return y.to(x.dtype), y\n")
    a, b = inside(x)
    assert a.data_ptr() == b.data_ptr()


def test_the_default_dtype_is_that_of_the_call():
    f = script("def f(x: Tensor):\n    return torch.sigmoid(x * 2) + x * 0.5\n")
    x = ts.arange(50)
    try:
        for dtype in (ts.float32, ts.float64, ts.float32):
            ts.set_default_dtype(dtype)
            result = f(x)
            assert result.dtype == dtype
            assert_bit_equal(result, ts.sigmoid(x * 2) + x * 0.5)
    finally:
        ts.set_default_dtype(ts.float32)


def test_signed_zeros_of_16_bit_floats_with_another_dtype():
    """The sign of the maximum of 0 and -0 of 16-bit floats equals that of the unfused kernel."""
    f = script("def f(x: Tensor, y: Tensor):\n    return torch.maximum(x, y) * 1, torch.minimum(y, x) + x\n")
    for x, y in itertools.product(DTYPES, (ts.float16, ts.bfloat16)):
        for shape in ((), (20,)):
            given = ts.zeros(shape).to(x), -ts.zeros(20).to(y)
            for a, b in zip(f(*given), run_unfused(f, *given), strict=True):
                assert_bit_equal(ts.signbit(a), ts.signbit(b))


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float32, ts.float64])
def test_limits_keep_zeros_in_every_layout(dtype):
    """`clamp` keeps the sign of zero for all memory layouts, as in PyTorch, fused or not."""
    f = script("def f(x: Tensor):\n    return torch.clamp(x * 1, min=0.0), torch.clamp(x * 1, max=0.0), torch.clamp(x * 1, 0.0, 2.0)\n")
    x = (-ts.zeros(40, 6)).to(dtype)
    for argument in (x, x.t().contiguous().t(), x[:, ::2], x.expand(2, 40, 6)):
        for a, b in zip(f(argument), run_unfused(f, argument), strict=True):
            assert_bit_equal(a, b)
            assert ts.signbit(a).all()


NORMS = """
def f(x: Tensor, y: Tensor, w: Optional[Tensor], b: Optional[Tensor], mean: Tensor, var: Tensor) -> Tensor:
    h = torch.batch_norm(x, w, b, mean, var, False, 0.1, 1e-5, True)
    return torch.relu(h + y)
"""


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(5, 7), (2, 7, 31), (3, 7, 5, 9), (1, 7, 64, 64), (2, 7, 3, 4, 5), (2, 7, 1, 1), (0, 7, 3, 3)], ids=str)
def test_batch_norm_by_running_moments(shape, dtype):
    """Batch norm with running statistics is correct for all numbers of tiles and threads."""
    f = script(NORMS)
    x, y = ts.randn(shape, dtype=dtype), ts.randn(shape, dtype=dtype)
    w, b, mean, var = (ts.rand(7, dtype=dtype) + 0.5 for _ in range(4))
    layouts = [(x, y)]
    if len(shape) == 4:
        layouts.append((x.to(memory_format=ts.channels_last), y.to(memory_format=ts.channels_last)))
        layouts.append((x.to(memory_format=ts.channels_last), y))
        layouts.append((x.permute(0, 1, 3, 2).contiguous().permute(0, 1, 3, 2), y))
    for a, c in layouts:
        for weights in ((w, b), (None, b), (w, None), (None, None)):
            assert_bit_equal(f(a, c, *weights, mean, var), run_unfused(f, a, c, *weights, mean, var))
    assert (runs(f) > 0) is (dtype is not ts.bfloat16 and 0 not in shape)


def test_batch_norm_on_threads():
    f = script(NORMS)
    x, y = ts.randn(4, 7, 300, 101), ts.randn(4, 7, 300, 101)
    w, b, mean, var = (ts.rand(7) + 0.5 for _ in range(4))
    before = ts.get_num_threads()
    try:
        for threads in (1, 2, 3):
            ts.set_num_threads(threads)
            assert_bit_equal(f(x, y, w, b, mean, var), run_unfused(f, x, y, w, b, mean, var))
    finally:
        ts.set_num_threads(before)
    assert runs(f) == 3


def test_batch_norm_in_training_is_not_fused():
    f = script("""
def f(x: Tensor, mean: Tensor, var: Tensor, training: bool) -> Tensor:
    h = torch.batch_norm(x * 2, None, None, mean, var, training, 0.1, 1e-5, True)
    return torch.relu(h) + 1
""")
    x, mean, var = ts.randn(5, 7, 4), ts.zeros(7), ts.ones(7)
    for training in (True, False):
        expected = run_unfused(f, x, mean.clone(), var.clone(), training)
        assert_bit_equal(f(x, mean.clone(), var.clone(), training), expected)
    f(x, mean, var, True)
    assert mean.count_nonzero() == 7


def test_invalid_weights_of_batch_norm():
    f = script(NORMS)
    x, ones = ts.randn(5, 7, 4), ts.ones(7)
    for weights in ((ts.ones(6), ones, ones, ones), (ones, ones, ts.ones(8), ones)):
        with pytest.raises(RuntimeError) as unfused_error:
            run_unfused(f, x, x, *weights)
        with pytest.raises(RuntimeError) as fused_error:
            f(x, x, *weights)
        assert str(fused_error.value) == str(unfused_error.value)
