"""Specialization to argument types: removed branches, guards, limits and reports."""

import gc
import random
import resource
import subprocess
import sys
import threading
from typing import Any, Optional, Union

import pytest

import ts
from ts.bytecode.disasm import disassemble
from ts.runtime import graph_variants


ASKS = """
def asks(x, w, b: Optional[Tensor]):
    if x.dim() == 1:
        x = x.unsqueeze(0)
    if not x.is_floating_point():
        x = x.float()
    y = x * w
    if x.dtype == torch.float16 or x.is_cuda:
        y = y.float()
    if b is not None:
        y = y + b
    return torch.tanh(y)
"""


def code_text(function, number=0):
    return disassemble(function.plans.specialized_codes[number][0])


def kinds(function):
    return len(function.plans.specialized_codes)


def unit(source, name="f"):
    return getattr(ts.jit.CompilationUnit(source), name)


def check(function, *args):
    """Compare specialized code, its second run, and unoptimized execution."""
    results = [function(*args), function(*args)]
    with ts.jit.optimized_execution(False):
        expected = function(*args)
    for each in results:
        if isinstance(expected, ts.Tensor):
            assert each.dtype == expected.dtype and each.shape == expected.shape and ts.equal(each, expected)
        else:
            assert each == expected


def test_branches_are_decided():
    """Only the branch after the fused group remains; the group includes the removed branches' operators."""
    f = unit(ASKS, "asks")
    x, w, b = ts.rand(2, 3), ts.rand(3), ts.rand(3)
    check(f, x, w, b)
    text = code_text(f)
    assert "dim" not in text and "IS_NONE" not in text and text.count("JUMP") == 1
    check(f, x, w, None)
    check(f, ts.rand(3), w, b)
    check(f, ts.arange(3), w, b)
    assert kinds(f) == 4 and f.plans.left == 0 and f.plans.general_code is None
    assert [runs for _, runs in f.plans.specialized_codes] == [2, 2, 2, 2]


def test_lengths_do_not_specialize():
    f = unit(ASKS, "asks")
    for n in range(1, 6):
        check(f, ts.rand(n, 3), ts.rand(3), None)
    assert kinds(f) == 1


def test_report_of_decided_branches():
    f = unit(ASKS, "asks")
    f(ts.rand(2, 3), ts.rand(3), None)
    text = str(f.plan)
    assert "specialised by x, b: 1 plan, at most 8\n" in text
    assert "  specialised to (x float32[2], b None): ran 1 time\n    decided: dim (line" in text
    assert "    fused mul_tanh (lines" in text and "ran fused 1 time" in text and "for others" not in text
    assert "one version of the code for all arguments: no branch depends" in str(unit("def f(x):\n  return x * 2 + 1\n").plan)
    assert "no branch depends" not in str(unit("def f(x: int):\n  return x * 2 + 1\n").plan)


def test_shown_graphs_are_specialized():
    """Types in graphs of specializations are PyTorch's: dtype, rank, device, requires_grad."""
    f = unit(ASKS, "asks")
    x, w = ts.rand(2, 3), ts.rand(3)
    text = str(f.graph_for(x, w, None))
    assert "prim::If" not in text and "Float(*, *, requires_grad=0, device=cpu)" in text
    f(x, w, None)
    text = str(ts.jit.last_executed_optimized_graph())
    assert "aten::dim" not in text and "%x.1 : Float(*, *, requires_grad=0, device=cpu)" in text
    with ts.jit.optimized_execution(False):
        assert "prim::If" in str(f.graph_for(x, w, None))
        f(x, w, None)
        assert "prim::If" in str(ts.jit.last_executed_optimized_graph())


@pytest.mark.parametrize("body", ["return a + b", "return a * b if a > b else b", "return a // b"])
def test_functions_without_tensors_have_no_guard(body):
    f = unit(f"def f(a: int, b: int) -> int:\n  {body}\n")
    f(3, 2)
    assert f.plans is None


def test_undecidable_branches_do_not_specialize():
    """Branches on lengths, elements or computed values, and queries without a branch, do not specialize."""
    for source in (
        "def f(x):\n  y = x.nonzero()\n  return y.squeeze().dim() + (1 if y.squeeze().dim() == 1 else 0)\n",
        "def f(x, y):\n  return x.to(y.dtype)\n",
        "def f(x):\n  return torch.zeros([x.dim()])\n",
    ):
        f = unit(source)
        f(*[ts.ones(3)] * len(f.schema.arguments))
        assert f.plans is None, source


def test_irrelevant_arguments_share_the_general_code():
    f = unit("def f(x: Any) -> int:\n  if isinstance(x, int):\n    return x + 1\n  return 0\n")
    for x in (3, "three", [3], 4):
        check(f, x)
    assert [code is None for code, _ in f.plans.specialized_codes] == [False, True]
    assert "no branch depends on them" in str(f.plan)


@pytest.mark.parametrize("count", [1, 15, 16, 17, 40])
def test_branches_on_many_arguments(count):
    """More arguments can be tested than a specialization can guard."""
    parameters = ", ".join(f"a{i}: Optional[Tensor]" for i in range(count))
    branches = "".join(f"  if a{i} is not None:\n    s += a{i}.dim() * {i + 1}\n" for i in range(count))
    f = unit(f"def f({parameters}) -> int:\n  s = 0\n{branches}  return s\n")
    generator = random.Random(count)
    for _ in range(12):
        arguments = [generator.choice([None, ts.ones(2), ts.ones(2, 3)]) for _ in range(count)]
        check(f, *arguments)
        assert f(*arguments) == sum((i + 1) * x.dim() for i, x in enumerate(arguments) if x is not None)
    assert len(f.plans.registers) == min(count, 16)


def test_kinds_beyond_the_limit_run_the_general_code():
    f = unit(ASKS, "asks")
    w = ts.rand(3)
    dtypes = [ts.float32, ts.float64, ts.float16, ts.bfloat16, ts.int8, ts.int16, ts.int32, ts.int64, ts.uint8, ts.bool]
    for dtype in dtypes:
        check(f, ts.ones(3, dtype=dtype), w, None)
    assert kinds(f) == 8 and f.plans.left == 4 and f.plans.general_code is f.compiled_code
    assert "general code, for arguments without a plan: ran 4 times" in str(f.plan)


def test_random_kinds_leave_no_memory():
    """A hundred thousand calls create eight specializations, and the second half allocates almost nothing."""
    f = unit(ASKS, "asks")
    choose = random.Random(0)
    dtypes = (ts.float32, ts.float64, ts.int64, ts.bool, ts.uint8)
    given = [ts.ones([2] * rank, dtype=dtype) for rank in range(4) for dtype in dtypes]
    w = ts.ones(2)
    peaks = []
    for _ in range(2):
        for _ in range(50_000):
            f(choose.choice(given), w, choose.choice((None, w)))
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert kinds(f) == 8 and f.plans.left + sum(runs for _, runs in f.plans.specialized_codes) == 100_000
    assert peaks[1] - peaks[0] < 1024  # KiB


@pytest.mark.long
def test_report_of_overloaded_forward():
    """The report contains both overloads."""
    lstm = ts.jit.script(ts.nn.LSTM(4, 8))
    lstm(ts.ones(5, 1, 4))
    text = str(lstm.plan)
    assert text == str(lstm.forward.plan)
    assert [line for line in text.split("\n") if not line.startswith(" ")] == ["plan of LSTM.forward__0", "plan of LSTM.forward__1"]
    assert "it is not a pointwise operator on tensors:" in text


def test_specializations_are_released_with_their_function():
    """Released specializations no longer count towards the process limit."""
    for _ in range(600):
        f = unit("def f(x):\n  if x.dim() == 1:\n    return x + 1\n  return x\n")
        for rank in range(8):
            f(ts.ones([1] * rank))
        assert kinds(f) == 8
        del f
    gc.collect()


def test_threads_create_one_specialization():
    for _ in range(5):
        f = ts.jit.CompilationUnit("def f(x):\n  if x.dim() == 1:\n    x = x * 2\n  return x + 1\n").f
        start, results = threading.Barrier(8), []

        def run(f=f, start=start, results=results):
            start.wait()
            results.append(f(ts.ones(3)).tolist())

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [[3.0] * 3] * 8
        assert kinds(f) == 1 and f.plans.specialized_codes[0][1] == 8


PEAKS = """
def group(x):
    return torch.tanh(x * 2 + 1)

def chain(x, n: int):
    for i in range(n):
        x = torch.mm(x, x)
    return x
"""


def test_peak_memory():
    """A group allocates its result only, a chain of matrix products two matrices."""
    x = ts.ones(64, 64)
    group, chain = unit(PEAKS, "group"), unit(PEAKS, "chain")
    assert "bytes" not in str(group.plan)
    assert group.peak_memory(x) == 64 * 64 * 4
    assert [chain.peak_memory(x, n) for n in (1, 2, 3, 9)] == [n * 64 * 64 * 4 for n in (1, 2, 2, 2)]
    assert "peak memory of the last measured call: 16,384 bytes, without its arguments" in str(group.plan)
    with ts.jit.optimized_execution(False):
        assert group.peak_memory(x) == 2 * 64 * 64 * 4
    with ts.profiler.profile(), pytest.raises(RuntimeError, match="cannot be nested"):
        group.peak_memory(x)


def test_peak_memory_of_a_method():
    class Layer(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = ts.nn.Parameter(ts.ones(64, 64))

        def forward(self, x, twice: bool = False):
            return x @ self.weight @ self.weight if twice else x @ self.weight

    model = ts.jit.script(Layer())
    with ts.no_grad():
        assert model.forward.peak_memory(ts.ones(8, 64)) == 8 * 64 * 4
        assert model.forward.peak_memory(ts.ones(8, 64), twice=True) == 2 * 8 * 64 * 4
    assert ": 4,096 bytes, without" in str(model.plan)


# ---- branches that must not be decided --------------------------------------------------------------------

OTHER_VIEWS = """
def resized(x):
    before = x.dim()
    y = x.view(-1)
    y.unsqueeze_(0)
    x.unsqueeze_(0)
    if x.dim() == before:
        return x + 1
    return y * 2

def through_another(x, y):
    y.unsqueeze_(0)
    if x.dim() == 1:
        return x + 1
    return x * 2

def in_a_list(x):
    items = [x]
    items[0].unsqueeze_(0)
    if x.dim() == 1:
        return x + 1
    return x * 2

def after_a_branch(x, y):
    if x.dim() == 1:
        x = y
    x.unsqueeze_(0)
    if x.dim() == 2:
        return x + 1
    return x * 2

def in_a_loop(x, n: int):
    for i in range(n):
        if x.dim() < 3:
            x = x.unsqueeze(0)
        else:
            x = x + x.dim()
    return x

def gradient(x, w):
    x.mul_(w)
    if x.requires_grad:
        return x + 1
    return x * 2

def defaults(x):
    y = x / 2
    if y.dtype == torch.float32:
        return y + 1
    return y + 3

def moved(x):
    y = x.to("meta")
    if y.device.type == "cpu":
        return 1
    if y.is_meta:
        return 2
    return 3
"""


def test_tensors_that_become_other_views():
    numbers = ts.tensor([3.0, 5.0])
    f = unit(OTHER_VIEWS, "resized")
    for _ in range(2):
        assert f(numbers.clone()).tolist() == [[6.0, 10.0]]
    f = unit(OTHER_VIEWS, "in_a_list")
    for _ in range(2):
        assert f(numbers.clone()).tolist() == [[6.0, 10.0]]
    f = unit(OTHER_VIEWS, "through_another")
    for _ in range(2):
        assert f(numbers, numbers.clone()).tolist() == [4.0, 6.0]
        x = numbers.clone()
        assert f(x, x).tolist() == [[6.0, 10.0]]
    f = unit(OTHER_VIEWS, "after_a_branch")
    for _ in range(2):
        assert f(numbers.reshape(1, 2).clone(), numbers).tolist() == [[[6.0, 10.0]]]


def test_shapes_change_between_iterations():
    f = unit(OTHER_VIEWS, "in_a_loop")
    for n in (0, 1, 2, 4):
        check(f, ts.ones(2), n)
        check(f, ts.ones(2, 2, 2), n)


def test_gradients_added_by_writes():
    f = unit(OTHER_VIEWS, "gradient")
    w = ts.ones(2, requires_grad=True)
    for _ in range(2):
        assert f(ts.ones(2) * 3, ts.ones(2)).tolist() == [6.0, 6.0]
        assert f(ts.ones(2) * 3, w).tolist() == [4.0, 4.0]
        with ts.no_grad():
            assert f(ts.ones(2) * 3, w).tolist() == [6.0, 6.0]
    g = unit("def g(x):\n  if x.requires_grad:\n    return x + 1\n  return x * 3\n", "g")
    x = ts.ones(2, requires_grad=True)
    for _ in range(2):
        assert g(x).tolist() == [2.0, 2.0] and g(x.detach()).tolist() == [3.0, 3.0]
        with ts.no_grad():
            assert g(x).tolist() == [2.0, 2.0]


def test_the_default_dtype_may_change():
    f = unit(OTHER_VIEWS, "defaults")
    x = ts.ones(2, dtype=ts.int64)
    try:
        for _ in range(2):
            assert f(x).tolist() == [1.5, 1.5]
            ts.set_default_dtype(ts.float64)
            assert f(x).tolist() == [3.5, 3.5]
            ts.set_default_dtype(ts.float32)
    finally:
        ts.set_default_dtype(ts.float32)


def test_tensors_that_move():
    f = unit(OTHER_VIEWS, "moved")
    assert [f(ts.ones(2)), f(ts.ones(2))] == [2, 2]


def test_vmap_runs_the_general_code():
    """Batched tensors of `vmap` run the general code, because their rank includes the batch dimension."""
    f = unit("def f(x):\n  if x.dim() == 1:\n    return x * 2\n  return x * 3\n")
    assert f(ts.ones(2)).tolist() == [2.0, 2.0]
    assert ts.func.vmap(f)(ts.ones(2, 2)).tolist() == [[2.0, 2.0]] * 2
    assert kinds(f) == 1 and f.plans.left == 1


# ---- entry points -----------------------------------------------------------------------------------------


def test_calls_of_scripts_pass_the_guard():
    """Calls through interfaces, deep recursion, tasks and single steps check the guard."""

    @ts.jit.interface
    class Layer:
        def run(self, x: ts.Tensor) -> ts.Tensor:
            pass

    class Asks(ts.nn.Module):
        def run(self, x: ts.Tensor) -> ts.Tensor:
            if x.dim() == 1:
                a, b, c, d = x + 1, x * 2, x - 3, x / 4
                e, f, g, h = a.exp(), b.sin(), c.cos(), d.tan()
                return a @ b + c @ d + e @ f + g @ h + x
            return x

    class Model(ts.nn.Module):
        layer: Layer

        def __init__(self):
            super().__init__()
            self.layer = Asks()

        def forward(self, x: ts.Tensor, n: int) -> ts.Tensor:
            y = self.layer.run(x)
            if n > 0:
                return self.forward(x, n - 1) + y
            return y

    model, x = ts.jit.script(Model()), ts.rand(4)
    once = model(x, 0)
    assert ts.allclose(model(x, 1500), once * 1501, rtol=1e-3)
    run = model.layer.run.function
    assert [runs for _, runs in run.plans.specialized_codes] == [1502]


def test_tasks_and_suspended_programs():
    source = "def f(x):\n  y = torch.jit.fork(g, x)\n  return torch.jit.wait(y) + g(x)\n"
    source += "def g(x):\n  n = 0\n  for i in range(100):\n    if x.dim() == 2:\n      n += i\n  return x + n\n"
    scripts = ts.jit.CompilationUnit(source)
    check(scripts.f, ts.ones(2, 2))
    program = scripts.g.start(ts.ones(2, 2))
    while not program.run(steps=31):
        gc.collect()
    assert program.future.wait()[0, 0].item() == 4951.0


def test_errors_name_the_line():
    f = unit("def f(x):\n  if x.dim() == 2:\n    x = x + 1\n  return x.view(7)\n")
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"return x\.view\(7\)"):
            f(ts.ones(2, 2))


def test_gradients_have_separate_specializations():
    f = unit(ASKS, "asks")
    x = ts.rand(3, requires_grad=True)
    w = ts.rand(3)
    results = [ts.autograd.grad(f(x, w, None).sum(), x)[0] for _ in range(2)]
    with ts.jit.optimized_execution(False):
        expected = ts.autograd.grad(f(x, w, None).sum(), x)[0]
    assert ts.allclose(results[0], expected) and ts.allclose(results[1], expected)
    assert "prim::DifferentiableGraph" in str(f.graph_for(x, w, None))


def test_optional_numbers_and_unions():
    def f(x, n: Optional[int], u: Union[ts.Tensor, int], s: Optional[list[int]] = None) -> Any:
        if n is not None:
            x = x + n
        if isinstance(u, ts.Tensor):
            x = x * u
        else:
            x = x - u
        if s is not None:
            x = x + s[0]
        return x

    g = ts.jit.script(f)
    for n in (None, 3, 4):
        for u in (2, ts.ones(2)):
            for s in (None, [5], [6, 7]):
                check(g, ts.ones(2), n, u, s)
    assert kinds(g) == 8
    assert "CAST_TO" in code_text(g, 2) or "CAST" in code_text(g, 2)


def test_hot_loops_of_plans_become_machine_code(compile_before_use):
    compile_before_use()
    f = unit("def f(x, n: int):\n  s = 0\n  for i in range(n):\n    if x.dim() == 2:\n      s += i * i\n  return s\n")
    expected = sum(i * i for i in range(1000))
    assert [f(ts.ones(1, 1), 1000), f(ts.ones(1, 1), 1000)] == [expected, expected]


# ---- disk cache -------------------------------------------------------------------------------------------

KEPT = """
import sys, ts
from ts.runtime import graph_variants
names = []
lower = graph_variants.lower_to_program
graph_variants.lower_to_program = lambda g, name, *rest: names.append(name) or lower(g, name, *rest)
sys.path.insert(0, sys.argv[1])
import program
f = ts.jit.script(program.asks)
print(f(ts.ones(2, 3), ts.ones(3)).shape, names, f.is_compiled)
"""


def test_disk_cache_of_specializations(tmp_path):
    """A later process compiles neither the entry program nor the specialization."""
    text = "import ts\ndef asks(x: ts.Tensor, w: ts.Tensor):\n  if x.dim() == 1:\n    x = x.unsqueeze(0)\n  return ts.tanh(x * w)\n"
    (tmp_path / "program.py").write_text(text)
    environment = {"TS_CACHE": "1", "TS_CACHE_DIR": str(tmp_path / "kept"), "PATH": ""}
    command = [sys.executable, "-c", KEPT, str(tmp_path)]
    outs = [subprocess.run(command, capture_output=True, text=True, env=environment) for _ in range(2)]
    assert [out.stderr for out in outs] == ["", ""]
    assert outs[0].stdout == "torch.Size([2, 3]) ['asks'] True\n"
    assert outs[1].stdout == "torch.Size([2, 3]) [] False\n"


def test_code_of_another_signature_is_rejected():
    """A specialization must have the function's parameter and result types."""
    from ts._core.vm.specializations import Specializations
    from ts.errors import InternalError

    other_code = unit("def f(x: int) -> int:\n  return x\n").compiled_code
    other = unit("def f(x: str) -> str:\n  return x\n").compiled_code
    plans = Specializations("f", other_code.parameters, other_code.result, [0], lambda values: None, lambda: other)
    with pytest.raises(InternalError, match="differs from that of the function"):
        plans.code_for_all()
    with pytest.raises(ValueError, match="specializations cannot guard"):
        Specializations("f", other_code.parameters, other_code.result, [1], lambda values: None, lambda: other_code)
    assert graph_variants.GraphVariant.WRITTEN.value


def test_bytecode_shows_the_code_of_each_plan():
    f = unit("def f(x):\n  if x.dim() == 1:\n    return x + 1\n  return x * 2\n")
    before = f.bytecode
    assert "ENTER_SPECIALIZATION" in before and "for all arguments:" in before and "aten::dim" in before
    f(ts.ones(3))
    after = f.bytecode
    assert "for x float32[1]:" in after and "for all other arguments:" in after
    assert "aten::dim" not in after.split("for x float32[1]:")[1].split("for all other")[0]
    assert f.bytecode == after and "for others" not in f.plan  # no call, so no new specialization
