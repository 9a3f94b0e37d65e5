"""Row epilogues of CUDA fusion groups: bits of the single operator, close to the CPU's results.

The tests run on a GPU if available, otherwise on the fake CuPy, which compiles each kernel for the host.
"""

import random
import warnings

import pytest

import ts
from tests.fuzz.fusion_programs import GroupWriter, arguments
from tests.test_cuda_fusion_groups import CLOSE, all_compare, groups, moved, one_by_one, prepare, refused, results, runs, script  # noqa: F401
from tests.test_fusion_epilogues import ENDS, LAYOUTS
from tests.sharding import some
from ts.ops import registry

pytestmark = pytest.mark.cuda


def script_with_epilogue(expression):
    return script(f"""
def f(x: Tensor, y: Tensor, w: Tensor, b: Tensor) -> Tensor:
    h = x * y + 0.5
    return {expression}
""")


def unfused_reasons(f):
    """Return the reasons why epilogues ran separately."""
    return [reason for group in groups(f) for plan in group.plans for reason in plan.unfused.values()]


def inputs(shape, dtype=ts.float32):
    return [ts.randn(s).to(dtype) for s in (shape, shape, shape[-1:], shape[-1:])]


@pytest.fixture
def launches(cuda, monkeypatch):
    """Record the kernel launches of a test with their sizes."""
    from ts.backends.cuda import pointwise_launch

    results = []
    monkeypatch.setattr(pointwise_launch, "launch_kernel", lambda *a, real=pointwise_launch.launch_kernel: (results.append(a[:2]), real(*a)) and None)
    return results


# rows handled by a part of a warp; by a warp, with even and odd length; by a block, within and beyond shared
# memory; by several blocks
SHAPES = [(3, 4), (300, 5), (70, 37), (5,), (7, 130), (2, 3, 333), (3, 5000), (2, 9001)]


@pytest.mark.parametrize("expression", some(*list(ENDS.values())[::2], of=ENDS.values()))
def test_epilogues_have_the_bits_of_single_operators(prepare, expression):
    """Epilogues return the bits of single operators for rows of every length, in the group's kernel or in a
    separate kernel."""
    f = script_with_epilogue(expression)
    ts.manual_seed(1)
    all_compare(prepare, [(f, *inputs(shape)) for shape in SHAPES], tolerance=3e-5)
    assert runs(f) >= len(SHAPES) and not refused(f) and not unfused_reasons(f)


@pytest.mark.parametrize("dtype", some(ts.float16, of=(ts.float16, ts.bfloat16, ts.float64)), ids=str)
def test_dtypes(prepare, dtype):
    """Rows of 16-bit floats are reduced in float32; parameters of normalizations may be 16-bit or float32."""
    ts.manual_seed(2)
    calls = [(script_with_epilogue(text), *inputs(shape, dtype)) for text in ENDS.values() for shape in [(3, 30), (2, 1101)]]
    if dtype.itemsize == 2:
        f = script_with_epilogue(ENDS["layer_norm"])
        calls += [(f, *inputs(shape, dtype)[:2], *inputs(shape)[2:]) for shape in [(3, 30), (2, 1101)]]
    all_compare(prepare, calls, tolerance=8 * CLOSE[dtype.name])
    assert all(runs(f) >= 2 and not unfused_reasons(f) for f, *_ in calls)


def test_long_rows_are_reduced_in_chunks(prepare, launches):
    """Long rows are reduced by many blocks in two kernels, the second of which is reused for any length."""
    ts.manual_seed(3)
    functions = [script_with_epilogue(text) for text in ("h.sum()", "h.mean(-1)", "h.amax()", "h.norm()", "h.norm(3)")]
    shapes = [(40_000,), (2, 16_385), (70_001,)]
    all_compare(prepare, [(f, *inputs(shape)) for f in functions for shape in shapes], tolerance=1e-4)
    assert not any(map(unfused_reasons, functions))
    launches.clear()
    x = inputs((50_001,))
    script_with_epilogue("h.mean()")(*map(moved, x))
    assert [sizes[0] for _, sizes in launches] == [4, 1]


def test_few_long_rows_are_not_fused(prepare):
    """A reduction over few long rows is not fused, because one block per row would leave the device idle."""
    f = script_with_epilogue("torch.softmax(h, -1)")
    all_compare(prepare, [(f, *inputs((140_000,)))])
    assert unfused_reasons(f) == ["its rows are too few and too long"]


def test_rows_beyond_shared_memory_are_recomputed(prepare, launches):
    """Rows of 9000 elements are held in shared memory, rows of 13000 are recomputed; both return equal
    results."""
    f = script_with_epilogue("torch.softmax(h, -1)")
    all_compare(prepare, [(f, *inputs((2, n))) for n in (9000, 13_000)])
    launches.clear()
    for n in (9000, 13_000):
        f(*map(moved, inputs((2, n))))
    assert [sizes[2] for _, sizes in launches] == [36_000, 0]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(prepare, layout):
    """Epilogues accept rows that are broadcast, strided, transposed, empty or of other dtypes."""
    make = LAYOUTS[layout]
    calls = []
    for text in ("torch.softmax(h, -1)", "h.sum(-1)", "h.sum()", "h.amax(-1)"):
        f = script_with_epilogue(text)
        args = [make[0](), make[1](), ts.randn(5), ts.randn(5)]
        try:
            f(*args)
        except (RuntimeError, IndexError) as error:
            with pytest.raises(type(error)) as info:
                f(*map(moved, args))
            assert str(info.value).splitlines()[-1] == str(error).splitlines()[-1]
        else:
            calls.append((f, *args))
    all_compare(prepare, calls)


def test_integers_and_bools(prepare):
    """Sums and extremes of integers are exact; sums of bools count."""
    f = script("def f(x, y):\n    h = x * y + x\n    return h.sum(-1), h.amax(-1), h.amin(), h.prod(-1), (h > y).sum()\n")
    calls = []
    for dtype in (ts.int8, ts.uint8, ts.int16, ts.int32, ts.int64):
        calls += [(f, *(ts.randint(0, 5, (3, n)).to(dtype) for _ in "xy")) for n in (7, 1100)]
    calls.append((f, ts.tensor([2**40, -(2**62), 3]), ts.tensor([1, 1, 1])))
    all_compare(prepare, calls)
    assert runs(f) >= len(calls)


def test_nan_and_infinities(prepare):
    """Minima and maxima propagate NaN; a row of -inf has the softmax NaN and the logsumexp -inf."""
    nan, inf = float("nan"), float("inf")
    rows = [[1, nan, 3], [nan, nan, nan], [-inf, -inf, -inf], [inf, 1, -inf], [-0.0, 0.0, -0.0]]
    x, one = ts.tensor(rows), ts.ones(5, 3)
    texts = ["amax(-1)", "amin(-1)", "max()", "softmax(-1)", "log_softmax(-1)", "logsumexp(-1)", "sum(-1)", "norm(2, -1)"]
    all_compare(prepare, [(script(f"def f(x, y):\n    return torch.mul(x, y).{t}\n"), x, one) for t in texts])
    wide = ts.zeros(2, 2000)
    wide[1, 1501] = nan
    f = script("def f(x, y):\n    h = x * y\n    return h.amax(-1), h.amin(-1)\n")
    all_compare(prepare, [(f, wide, ts.ones(2000))])


def test_several_epilogues_and_results(prepare, launches):
    """Epilogues over rows of the same length run in one kernel, which also writes intermediate results that
    are returned."""
    f = script("""
def f(x: Tensor, y: Tensor, w: Tensor):
    h = x * y
    k = torch.tanh(h)
    return k, torch.layer_norm(h, [w.size(0)], w, w), k.amax(-1), h.mean(-1, True)
""")
    calls = [(f, ts.randn(shape), ts.randn(shape[-1]), ts.randn(shape[-1])) for shape in [(6, 100), (3, 1999), (2, 3, 64)]]
    all_compare(prepare, calls, tolerance=2e-5)
    launches.clear()
    f(*map(moved, calls[0][1:]))
    assert len(launches) == 1 and not unfused_reasons(f)


def test_unfused_epilogues_run_after_the_kernel(prepare):
    """Epilogues over other dimensions, rows of another length or unsupported arguments run after the fused
    kernel."""
    f = script("def f(x, y):\n    h = x * y\n    return h.sum(-1), h.sum(), h.mean(0), h.var(-1, False)\n")
    g = script("def g(x, y):\n    h = x * y\n    return torch.softmax(h, 0), h + 1\n", "g")
    x = ts.randn(6, 40)
    all_compare(prepare, [(f, x, x), (g, x, x)])
    assert unfused_reasons(f) == ["another epilogue reads other rows", "it reduces dimensions other than the last ones"]
    assert unfused_reasons(g) == ["it reduces dimensions other than the last ones"] and not refused(f) and not refused(g)


def test_dtypes_of_results(prepare):
    """`dtype=` selects the compute dtype as in the single operator."""
    f = script("def f(x, y):\n    h = x * y\n    return h.sum(-1, dtype=torch.float64), torch.softmax(h, -1, dtype=torch.float32)\n")
    calls = [(f, *(ts.randn(3, 50).to(dtype) for _ in "xy")) for dtype in (ts.float32, ts.float16)]
    all_compare(prepare, calls)
    assert runs(f) >= 2 and not unfused_reasons(f)


def test_epilogue_arguments_by_value(prepare):
    """An epilogue is compiled for the values of its arguments: dimension, correction and order of a norm."""
    f = script("def f(x, y, d: int, p: float, keep: bool):\n    h = x * y\n    return h.norm(p, d, keep), h.sum(d, keep)\n")
    g = script("def g(x, y, c: int):\n    return (x * y).var([-1], correction=c)\n", "g")
    x = ts.randn(6, 40)
    calls = [(f, x, x, d, p, keep) for d in (1, -1, 0) for p in (2.0, 1.0, 0.0, 3.0, float("inf"), -float("inf")) for keep in (True, False)]
    all_compare(prepare, [*calls, *((g, x, x, c) for c in (0, 1, 2))], tolerance=2e-5)


def test_warnings_and_errors_of_the_operators(cuda):
    """An epilogue that warns or raises is run by its operator."""
    f = script("def f(x, y):\n    return (x * y).var(-1)\n")
    x = ts.randn(5, 1).cuda()
    with pytest.warns(UserWarning, match="degrees of freedom") as caught:
        assert f(x, x).isnan().all()
    assert len(caught) == 1
    g = script("def g(x, y, w):\n    return torch.layer_norm(x + y, [30], w, w)\n", "g")
    x = ts.randn(5, 30)
    for w in (ts.randn(29), ts.randn(30, dtype=ts.float64), ts.ones(30, dtype=ts.int64)):
        with pytest.raises(RuntimeError) as cpu_error:
            g(x, x, w)
        with pytest.raises(RuntimeError) as cuda_error:
            g(x.cuda(), x.cuda(), w.cuda())
        assert str(cuda_error.value) == str(cpu_error.value)
    h = script("def h(x, y):\n    a = x * y\n    return a.sum(3)\n", "h")
    with pytest.raises(RuntimeError, match="Dimension out of range") as info:
        h(x.cuda(), x.cuda())
    assert "return a.sum(3)\n           ~~~~~ <--- HERE" in str(info.value)


def test_weight_and_bias_rows(prepare):
    """An epilogue accepts weights that are views or None; a strided weight runs unfused."""
    f = script("def f(x, y, w: Optional[Tensor]):\n    return torch.layer_norm(x + y, [30], w, w)\n")
    x, w = ts.randn(5, 30), ts.randn(60)
    all_compare(prepare, [(f, x, x, w[30:]), (f, x, x, None)], tolerance=2e-5)
    assert not unfused_reasons(f)
    result = f(x.cuda(), x.cuda(), w.cuda()[::2])
    assert result.cpu().allclose(f(x, x, w[::2]), atol=1e-6)
    assert unfused_reasons(f) == ["it has an argument that is neither a number nor a row"]


def test_64_bit_offsets(prepare, monkeypatch):
    """Epilogues with 64-bit offsets return the results of 32-bit offsets."""
    from ts.backends.cuda import kernel_specialization

    monkeypatch.setattr(kernel_specialization, "INT32_INDEX_LIMIT", 0)
    calls = [(script_with_epilogue(ENDS[name]), *inputs(shape)) for name in ("softmax", "layer_norm", "sum") for shape in [(7, 130), (3, 2501)]]
    all_compare(prepare, [*calls, (script_with_epilogue("h.sum()"), *inputs((20_000,)))], tolerance=2e-5)


def test_overridden_epilogue_is_called(cuda):
    """An overridden operator is called instead of its fused epilogue."""
    f = script("def f(x):\n    return (x * 2).sum()\n")
    x = ts.ones(3, device="cuda")
    cuda.overrides["aten::sum"] = lambda xp, x, *args: x[0] + 5
    try:
        assert f(x).item() == 7
    finally:
        del cuda.overrides["aten::sum"]
    assert f(x).item() == 6 and runs(f) == 1


def test_execution_report(cuda):
    """`fn.plan` lists epilogues that ran separately."""
    f = script("def f(x):\n    h = x * 2\n    return h.sum(-1), torch.softmax(h, 0)\n")
    f(ts.rand(3, 4, device="cuda"))
    assert "softmax separately, as it reduces dimensions other than the last ones" in str(f.plan)


def test_graphs(cuda):
    """Graphs capture kernels that use shared memory or several kernels per row."""
    f = script_with_epilogue("torch.softmax(h, -1)")
    x = [t.cuda() for t in inputs((4, 50))]
    wide = ts.rand(40_000, device="cuda")
    graph = ts.cuda.CUDAGraph()
    with ts.cuda.graph(graph):
        y, total = f(*x), wide.sum()
    x[0].fill_(0.25)
    wide.fill_(0.5)
    graph.replay()
    assert y.cpu().equal(f(*x).cpu()) and total.item() == 20_000


# ---------------------------------------------------------------- random groups

READS = (*(text for text in ENDS.values() if " if " not in text), "torch.softmax(h, 0)", "h.mean(0)", "h.sum([0, -1])", "h.norm(1, -1)")


@pytest.mark.parametrize("seed", some(0, of=range(3)))
def test_random_epilogues(prepare, seed):
    """Random epilogues of two values with rows of random lengths and mixed dtypes equal single operators."""
    rng = random.Random(seed)
    ts.manual_seed(seed)
    calls = []
    for _ in range(20):
        texts = [rng.choice(READS) for _ in range(rng.randint(1, 4))]
        texts = [text.replace("h", rng.choice("hk")) if text.startswith("h.") else text for text in texts]
        f = script(f"def f(x, y, w, b):\n    h = x * y + 0.5\n    k = torch.tanh(h) - x\n    return {', '.join([*texts, 'k'])}\n")
        shape = rng.choice([(5, 30), (3, 64), (2, 3, 36), (4, 1), (2, 1500), (1, 77), (130, 9)])
        dtype = rng.choice([ts.float32, ts.float32, ts.float64, ts.float16, ts.bfloat16])
        args = inputs(shape, dtype)
        args[1] = rng.choice([args[1], args[1][..., :1], args[1][:1], args[1].double().to(dtype)])
        calls.append((f, *args))
    prepare(calls)
    from tests.test_cuda_fusion_groups import compare

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about degrees of freedom
        for f, *args in calls:
            compare(f, *args, tolerance=30 * CLOSE[args[0].dtype.name])
    assert sum(runs(f) > 0 for f, *_ in calls) == 20


def program(seed):
    """Return a program of the fuzzer and its arguments."""
    choose = random.Random(seed).randrange
    f = script(GroupWriter(choose).source())
    given = arguments(choose, ("float32", "float32", "float64", "float16", "bfloat16", "int64"))
    return (f, *(ts.from_numpy(x[0].copy("K")).to(getattr(ts, x[1])) if isinstance(x, tuple) else x for x in given))


@pytest.mark.long
@pytest.mark.parametrize("first", [0, 100])
def test_programs_of_the_fuzzer(prepare, first):
    """Random programs have the bits and strides of single operators; failing programs fail in both."""
    fine = []
    for f, *args in [program(seed) for seed in range(first, first + 30)]:
        on_device = [moved(x) for x in args]
        try:
            f(*args)
        except (RuntimeError, IndexError) as error:
            with pytest.raises(type(error)):
                f(*on_device)
        else:
            fine.append((f, *on_device))
    prepare(fine)
    for f, *on_device in fine:
        for got, unfused in zip(results(f(*on_device)), results(one_by_one(f, *on_device)), strict=True):
            assert (got.dtype, got.shape, got.stride()) == (unfused.dtype, unfused.shape, unfused.stride())
            assert got.cpu().nan_to_num(77).equal(unfused.cpu().nan_to_num(77))
    assert sum(runs(f) > 0 for f, *_ in fine) > 10

def test_all_epilogues_have_a_row_expression(cuda):
    """Every operator that can be a CPU epilogue also has a CUDA row expression."""
    assert [r.key for r in registry.records() if r.epilogue and r.cuda_rows is None] == []
