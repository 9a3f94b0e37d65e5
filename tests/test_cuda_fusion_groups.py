"""CUDA fusion groups: bits of single operators, values close to the CPU's, one kernel launch.

The tests run on a GPU if available, otherwise on the fake CuPy, which compiles each kernel for the host.
"""

import random

import pytest

import ts
from tests.sharding import some
from ts.fusion.program import FusionGroupRecord

pytestmark = pytest.mark.cuda

CLOSE = {"bfloat16": 4e-2, "float16": 4e-3, "float32": 4e-6, "float64": 1e-12}


def script(text, name="f"):
    return getattr(ts.jit.CompilationUnit(text), name)


def groups(f):
    """Return the CUDA fusion groups of a function's compiled code and its specializations."""
    codes = [f.compiled_code, *(code for code, _ in f.plans.specialized_codes if code is not None)] if f.plans else [f.compiled_code]
    records = [o.record for code in codes for o in code.operators if isinstance(o.record, FusionGroupRecord)]
    return [group for record in records for group in record.groups_by_backend.values()]


def runs(f):
    return sum(plan.runs for group in groups(f) for plan in group.plans)


def refused(f):
    return [plan.unsupported_reason for group in groups(f) for plan in group.plans if plan.unsupported_reason]


def one_by_one(f, *args):
    with ts.limits(bytes=1 << 40):
        return f(*args)


def results(value):
    return value if isinstance(value, tuple) else (value,)


def moved(x):
    """Copy a tensor to the device with its strides; return other values unchanged."""
    return x.cuda() if isinstance(x, ts.Tensor) else x


def compare(f, *args, tolerance=None):
    """Compare a function on the device with its single operators (equal bits and strides) and with the CPU
    (values within the tolerance)."""
    on_device = [moved(x) for x in args]
    for got, unfused, on_cpu in zip(*(results(g) for g in (f(*on_device), one_by_one(f, *on_device), f(*args))), strict=True):
        assert got.is_cuda and (got.dtype, got.shape, got.stride()) == (unfused.dtype, unfused.shape, unfused.stride())
        assert (got.dtype, got.shape) == (on_cpu.dtype, on_cpu.shape)
        a, b = got.cpu(), unfused.cpu()
        assert ts.equal(a.isnan(), b.isnan()) and a.nan_to_num().equal(b.nan_to_num())
        if got.dtype.is_floating_point:
            close = tolerance or CLOSE[got.dtype.name]
            assert a.double().allclose(on_cpu.double(), rtol=close, atol=close, equal_nan=True)
        else:
            assert a.equal(on_cpu)


@pytest.fixture
def prepare(cuda, monkeypatch):
    """Return a function that compiles the kernels of all calls in one batch, which is faster for the fake
    CuPy."""
    from ts.backends.cuda import pointwise_launch

    if hasattr(pointwise_launch.cupy, "__version__"):  # CuPy itself
        return lambda calls: None
    from tests.fake_cupy import kernels

    def compile_for(calls):
        expected = []
        with monkeypatch.context() as patch:
            patch.setattr(pointwise_launch, "launch_kernel", lambda function, sizes, arguments: expected.append(function._code))
            for f, *args in calls:
                on_device = [moved(x) for x in args]
                f(*on_device)
                one_by_one(f, *on_device)
        kernels.compile_all(expected)

    return compile_for


def all_compare(prepare, calls, **options):
    prepare(calls)
    for f, *args in calls:
        compare(f, *args, **options)


EXPRESSION = """
def f(x: Tensor, y: Tensor) -> Tensor:
    return torch.tanh(x * y + x) * torch.sigmoid(y) - 0.5 * x
"""
FLOATS = (ts.float32, ts.float64, ts.float16, ts.bfloat16)

LAYOUTS = {
    "same": lambda: (ts.randn(7, 300), ts.randn(7, 300)),
    "a row": lambda: (ts.randn(7, 300), ts.randn(300)),
    "a column": lambda: (ts.randn(70, 30), ts.randn(70, 1)),
    "both smaller": lambda: (ts.randn(70, 1), ts.randn(32)),
    "halves": lambda: (ts.randn(9, 600)[:, :300], ts.randn(9, 600).chunk(2, 1)[1]),
    "every second": lambda: (ts.randn(9, 600)[:, ::2], ts.randn(9, 300)),
    "from the second on": lambda: (ts.randn(301)[1:], ts.randn(300)),
    "odd": lambda: (ts.randn(5, 33), ts.randn(33)),
    "channels last": lambda: tuple(ts.randn(2, 8, 9, 7).to(memory_format=ts.channels_last) for _ in "xy"),
    "transposed": lambda: (ts.randn(30, 40).t(), ts.randn(30, 40).t()),
    "a number in a tensor": lambda: (ts.randn(5, 400), ts.randn(())),
    "one element": lambda: (ts.randn(5, 400), ts.randn(1, 1)),
    "single elements": lambda: (ts.randn(()), ts.randn(())),
    "nothing": lambda: (ts.randn(0, 3), ts.randn(3)),
    "in the middle": lambda: (ts.randn(3, 4, 50, 6), ts.randn(4, 1, 6)),
    "six dimensions": lambda: (ts.randn(2, 3, 1, 2, 3, 2), ts.randn(3, 4, 1, 3, 1)),
}


@pytest.mark.parametrize("dtype", FLOATS)
def test_layouts(prepare, dtype):
    """Every memory layout runs in one launch with equal bits and result strides."""
    f = script(EXPRESSION)
    calls = [(f, *(x.to(dtype) for x in make())) for make in LAYOUTS.values()]
    all_compare(prepare, calls)
    assert runs(f) >= len(LAYOUTS) and not refused(f)


def test_view_inputs(prepare):
    """View inputs of a group have the values of materialized views."""
    f = script("""
def f(gates: Tensor, c: Tensor):
    i, f, g, o = gates.chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c) * gates[0, 0]
""")
    all_compare(prepare, [(f, ts.randn(9, 400), ts.randn(9, 100)), (f, ts.randn(1, 8), ts.randn(2))])
    assert runs(f) >= 2 and not refused(f)


def test_64_bit_offsets(prepare, monkeypatch):
    """Kernels with 64-bit offsets return the results of 32-bit offsets for every layout."""
    from ts.backends.cuda import kernel_specialization, pointwise_codegen

    monkeypatch.setattr(kernel_specialization, "INT32_INDEX_LIMIT", 0)
    counted = []
    spec = pointwise_codegen.KernelSpec
    monkeypatch.setattr(pointwise_codegen, "KernelSpec", lambda *fields: counted.append(fields[-1]) or spec(*fields))
    f = script(EXPRESSION.replace("0.5", "0.75"))
    all_compare(prepare, [(f, *make()) for make in LAYOUTS.values()])
    assert runs(f) >= len(LAYOUTS) and not refused(f) and set(counted) == {"long long"}


def test_expanded_tensors(cuda):
    """Expanded inputs are read through zero strides."""
    f = script(EXPRESSION)
    x, y = ts.randn(5, 40, device="cuda"), ts.randn(1, 40, device="cuda")
    result = f(x, y.expand(5, 40))
    assert result.cpu().equal(f(x, y).cpu()) and result.stride() == (40, 1) and runs(f) == 2


@pytest.mark.parametrize("shape, steps", [((1, 2, 4), (1, 1, 2)), ((2, 1, 4), (4, 1, 1)), ((1, 3, 1, 4), (12, 1, 7, 3)), ((1, 5), (1, 1))])
def test_dimensions_of_one_element(cuda, shape, steps):
    """Results with dimensions of size 1 have the strides that single operators return."""
    f = script("def f(x):\n    return torch.cos(torch.relu(x))\n")
    x = ts.randn(40, device="cuda").as_strided(shape, steps)
    assert (result := f(x)).stride() == one_by_one(f, x).stride() and result.equal(one_by_one(f, x))


UNSUPPORTED = {
    "transposed and not": lambda: (ts.randn(30, 40).t(), ts.randn(40, 30)),
    "complex numbers": lambda: (ts.randn(30, dtype=ts.complex64), ts.randn(30, dtype=ts.complex64)),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_inputs_run_one_by_one(prepare, name):
    """Inputs with unsupported strides or dtypes run the operators one by one, with a recorded reason."""
    f = script("def f(x, y):\n    return torch.neg(x) * y + x\n")
    x, y = (moved(x) for x in UNSUPPORTED[name]())
    assert (f(x, y) - (-x * y + x)).abs().max().item() < 1e-6
    assert runs(f) == 0 and len(refused(f)) == 1
    assert refused(f)[0] in str(f.plan)


def test_errors_of_groups_equal_operator_errors(cuda):
    """A shape or device error raised in a fusion group is the operator's error, with its source location."""
    f = script(EXPRESSION)
    with pytest.raises(RuntimeError, match="must match the size of tensor b") as error:
        f(ts.ones(3, device="cuda"), ts.ones(4, device="cuda"))
    assert "torch.tanh(x * y + x)" in str(error.value)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        f(ts.ones(3, device="cuda"), ts.ones(3))
    assert f(ts.ones(3, device="cuda"), ts.ones(())).is_cuda  # a 0-dim CPU tensor is accepted; the operators run one by one


def test_group_is_one_launch(cuda, monkeypatch):
    """A fusion group runs as one kernel, which is reused for other lengths, scalars and strides with the same
    access pattern."""
    from ts.backends.cuda import pointwise_launch

    launches = []
    monkeypatch.setattr(pointwise_launch, "launch_kernel", lambda *a, real=pointwise_launch.launch_kernel: (launches.append(a[0]), real(*a)) and None)
    f = script("def f(x, y, n: float):\n    return torch.exp(x * n) + y, x * n > y\n")
    for size, n in ((64, 0.5), (64, 2.0), (65, -1.0), (4096, float("inf"))):
        f(ts.rand(size, device="cuda"), ts.rand(size, device="cuda"), n)
    assert len(launches) == 4 and len(set(map(id, launches))) == 1


def test_numbers(prepare):
    """Scalar arguments may be floats, integers and infinities; values out of the dtype's range run
    unfused."""
    f = script("def f(x, n: float, i: int):\n    return (x * n + i) / n - torch.clamp(x, min=n)\n")
    g = script("def g(x, m, n: float):\n    return torch.where(m, x, n) * 2, x.masked_fill(m, n) + 1\n", "g")
    calls = []
    for x in (ts.randn(50), ts.randn(50).double(), ts.randn(50).half()):
        calls += [(f, x, n, i) for n, i in ((2.5, 3), (float("inf"), 2**40), (float("nan"), -1), (-0.0, 0))]
        calls += [(g, x, x > 0, n) for n in (1.5, float("-inf"))]
    all_compare(prepare, calls)
    assert not refused(f) and not refused(g)


def test_integers_and_masks(prepare):
    """Integer operators, comparisons, masks and bitwise operators are fused and return the results of single
    operators."""
    f = script("def f(x, y):\n    a = x * y + x\n    return torch.where(a > y, a, x) - 3, a == x, torch.neg(a)\n")
    g = script("def g(m, k):\n    return ~((m & k) | (m ^ k)), torch.logical_not(m) == k, m < k\n", "g")
    h = script("def h(x, y):\n    a = x / y\n    return torch.sqrt(torch.abs(a)) * x, a > 1\n", "h")
    calls = [(g, ts.randn(40) > 0, ts.randn(40) > 0)]
    for dtype in (ts.int8, ts.uint8, ts.int16, ts.int32, ts.int64):
        x, y = ts.randint(-9, 9, (40,)).to(dtype), ts.randint(1, 9, (40,)).to(dtype)
        calls += [(f, x, y), (h, x, y)]
    calls.append((f, ts.tensor([2**62, -(2**63), 2**53 + 1]), ts.tensor([1, 1, 1])))
    all_compare(prepare, calls)
    assert not refused(f) and not refused(h)


def test_type_promotion(prepare):
    """Each fused operator is computed in the promoted dtype of its operands."""
    f = script("def f(x, y):\n    a = x * y\n    return a + x, torch.maximum(a, y), a * (x > y)\n")
    dtypes = (ts.float32, ts.float16, ts.bfloat16, ts.float64, ts.int32, ts.uint8)
    calls = [(f, (ts.rand(24) * 9).to(a), (ts.rand(24) * 9).to(b)) for a in dtypes for b in dtypes if a != b]
    calls += [(f, (ts.rand(24) * 9).to(a), (ts.rand(()) * 9).to(b)) for a in dtypes[:4] for b in dtypes[:4]]
    all_compare(prepare, calls)
    assert not refused(f)


def test_elements_are_rounded_before_comparison(prepare):
    """Intermediate results are rounded to bfloat16 before a comparison: 6.0827 rounds to 6.09375, so `x > y`
    is False."""
    f = script("def f(x, y):\n    a = x * y\n    return a, a * (x > y)\n")
    x = ts.full((24,), 6.09375, dtype=ts.bfloat16)
    all_compare(prepare, [(f, x, ts.tensor(6.082742214202881)), (f, x, ts.tensor(6.082742214202881, dtype=ts.float64))])
    assert f(x, ts.tensor(6.082742214202881))[1].count_nonzero() == 0


def test_overridden_operators_are_called(cuda):
    """An operator that is overridden on the backend is excluded from fusion groups."""
    f = script("def f(x):\n    return torch.exp(x) * 2\n")
    x = ts.zeros(3, device="cuda")
    cuda.overrides["aten::exp"] = lambda xp, x: x + 5
    try:
        assert f(x).cpu().tolist() == [10.0] * 3
    finally:
        del cuda.overrides["aten::exp"]
    assert f(x).cpu().tolist() == [2.0] * 3 and runs(f) == 1


def test_plans_are_bounded(cuda, monkeypatch):
    """The number of fused plans is bounded by `MAX_PLANS`; the oldest plan is evicted first."""
    from ts.backends.cuda import pointwise_launch

    monkeypatch.setattr(pointwise_launch, "MAX_CACHED_LAUNCHES", 5)
    f = script("def f(x):\n    return torch.exp(x) * 2\n")
    for n in range(1, 30):
        f(ts.zeros(4 * n, device="cuda"))
    plans = groups(f)[0].plans
    assert [plan.inputs[0] for plan in plans] == [f"float32 ({4 * n},)" for n in range(25, 30)]


# ---------------------------------------------------------------- random groups

UNARY = ("torch.tanh({})", "torch.sigmoid({})", "torch.relu({})", "torch.abs({})", "(-{})", "torch.sin({})",
         "torch.nn.functional.gelu({})", "torch.nn.functional.silu({})", "torch.clamp({}, -1.5, 2)", "({} * 0.5)",
         "torch.nn.functional.softplus({})", "({} - 1)", "torch.nn.functional.hardswish({})", "(2 - {})")  # fmt: skip
BINARY = ("({} + {})", "({} - {})", "({} * {})", "torch.maximum({}, {})", "torch.minimum({}, {})")
SHAPES = ((6, 8), (8,), (6, 1), (1, 8), (6, 8), ())


def random_call(rng):
    """Return a random function and tensors; masks depend on inputs only, so that rounding does not change
    them."""
    count = rng.randint(1, 4)
    names, lines = [f"x{i}" for i in range(count)], []
    for k in range(rng.randint(2, 9)):
        kind = rng.random()
        if kind < 0.4:
            text = rng.choice(UNARY).format(rng.choice(names))
        elif kind < 0.85:
            text = rng.choice(BINARY).format(rng.choice(names), rng.choice(names))
        else:
            mask = f"x{rng.randrange(count)} {rng.choice(('>', '<=', '=='))} 0.25"
            text = f"torch.where({mask}, {rng.choice(names)}, {rng.choice((rng.choice(names), '0.5'))})"
        lines.append(f"    t{k} = {text}\n")
        names.append(f"t{k}")
    returned = names[-1] if rng.random() < 0.5 else f"{names[-1]}, {rng.choice(names[count:])}"
    parameters = ", ".join(f"x{i}: Tensor" for i in range(count))
    f = script(f"def f({parameters}):\n{''.join(lines)}    return {returned}\n")
    dtype = rng.choice(FLOATS)
    shapes = [(6, 8), *(rng.choice(SHAPES) for _ in range(count - 1))]
    inputs = [(ts.randn(shape) if shape else ts.randn(())).to(dtype) for shape in shapes]
    if rng.random() < 0.3:
        inputs[0] = ts.randn(6, 16).to(dtype)[:, ::2]
    return (f, *inputs)


@pytest.mark.parametrize("seed", some(0, of=range(3)))
def test_random_groups(prepare, seed):
    """Random fusion groups return the bits of single CUDA operators and, within a tolerance, the values of
    the CPU."""
    rng = random.Random(seed)
    ts.manual_seed(seed)
    calls = [random_call(rng) for _ in range(40)]
    prepare(calls)
    for f, *args in calls:
        compare(f, *args, tolerance=8 * CLOSE[args[0].dtype.name])
    assert sum(runs(f) > 0 for f, *_ in calls) > 24


