"""Tiers: the first calls of a function run baseline code, and later calls run optimized code."""

import subprocess
import sys
import threading

import pytest

import ts
from ts._core.vm.function import set_baseline_limits

PROGRAM = """
def scale(x, factor: Optional[float]):
    if factor is None:
        return x * 2.0
    return x * factor

def f(x, n: int):
    for i in range(n):
        x = scale(x, None) + scale(x, 0.5)
    return x.relu() - 1.0

def total(n: int):
    result = 0
    for i in range(n):
        result += i * i
    return result

def prefix_sums(x):
    for i in range(1, x.size(0)):
        x[i] = x[i] + x[i - 1]
    return x

def calls_total(x, n: int):
    return x + total(n)

def sizes(x):
    product = 1
    for i in range(x.dim()):
        product *= x.size(i)
    return product

def fails(x, n: int):
    y = x + 1
    z = y.view(n)
    return z * (7 // n)
"""


@pytest.fixture(autouse=True)
def default_tier(monkeypatch):
    monkeypatch.setattr("ts.runtime.tiers._tier", "")
    monkeypatch.setenv("TS_CACHE", "0")


@pytest.fixture
def limits():
    """Return `set_baseline_limits`, whose effect ends with the test."""
    before = set_baseline_limits(2_000, 50_000_000)
    yield set_baseline_limits
    set_baseline_limits(*before)


def unit():
    return ts.jit.CompilationUnit(PROGRAM)


def tier(function):
    return function.tier_state[0]


def test_function_is_optimized_after_calls(limits):
    limits(5, 10**15)
    f, x = unit().f, ts.ones(3) - 0.5
    assert tier(f) == ""
    results = []
    for call in range(8):
        results.append(f(x, 3).tolist())
        assert tier(f) == ("optimized" if call >= 5 else "baseline")
    assert f.tier_state[1] == 5
    assert all(result == results[0] for result in results)


def test_function_is_optimized_after_run_time(limits):
    limits(10**9, 1)
    f, x = unit().f, ts.ones(3)
    f(x, 1)
    assert f.tier_state == ("baseline", 1, 0), "the time of a call that compiles is not counted"
    f(x, 1)
    assert tier(f) == "baseline" and f.tier_state[2] > 0
    f(x, 1)
    assert tier(f) == "optimized"


@pytest.mark.parametrize("name, argument", [("total", 100), ("prefix_sums", ts.ones(5))])
def test_function_with_hot_loop_is_optimized_at_once(name, argument):
    function = getattr(unit(), name)
    function(argument)
    assert tier(function) == "optimized"


def test_loop_over_dimensions_is_not_hot():
    function = unit().sizes
    assert function(ts.ones(2, 3)) == 6
    assert tier(function) == "baseline"


def test_callee_with_hot_loop_is_optimized():
    """Baseline code calls the optimized code of a callee with a hot loop."""
    u = unit()
    assert u.calls_total(ts.zeros(1), 10).tolist() == [285]
    assert tier(u.calls_total) == "baseline"
    assert u.total.baseline().available_code.lines != ()
    disassembly = u.total.bytecode
    assert u.total(10) == 285 and u.total.bytecode == disassembly


def test_errors_are_equal_in_both_tiers(limits):
    limits(3, 10**15)
    f = unit().fails
    messages = []
    for _ in range(6):
        for n in (0, 4):
            with pytest.raises(RuntimeError) as error:
                f(ts.ones(3), n)
            messages.append(str(error.value))
    assert tier(f) == "optimized"
    assert messages == messages[:2] * 6
    assert 'line 34, in fails' in messages[0] and "z = y.view(n)" in messages[0]


def test_gradients_in_both_tiers(limits):
    limits(3, 10**15)
    f = unit().f
    gradients = []
    for _ in range(6):
        x = (ts.arange(3.0) - 1).requires_grad_()
        f(x, 2).sum().backward()
        gradients.append(x.grad.tolist())
    assert f.with_gradients().tier_state[:2] == ("optimized", 3)
    assert all(gradient == gradients[0] for gradient in gradients)


def test_code_cache_stores_optimized_code(monkeypatch, tmp_path):
    """With the code cache, a function is optimized at the first call, because its code is stored."""
    monkeypatch.setenv("TS_CACHE", "1")
    monkeypatch.setenv("TS_CACHE_DIR", str(tmp_path / "cache"))
    archive = tmp_path / "f.pt"
    unit().f.save(archive)
    module = ts.jit.load(archive)
    module(ts.ones(2), 1)
    assert tier(module.forward.function) == "optimized"
    assert any(path.is_file() for path in (tmp_path / "cache").rglob("*"))


def test_profiling_mode_sets_the_number_of_calls(limits):
    """As in PyTorch's profiling executor, the last executed graph is optimized after the profiled runs."""
    before = ts._C._jit_set_num_profiled_runs(2)
    try:
        f, x = unit().f, ts.ones(2)
        for runs in range(3):
            f(x, 1)
            assert tier(f) == ("optimized" if runs == 2 else "baseline")
        assert "prim::TensorExprGroup" in str(ts.jit.last_executed_optimized_graph())
    finally:
        ts._C._jit_set_num_profiled_runs(before)


def test_plan_shows_the_tier():
    f = unit().f
    f(ts.ones(2), 1)
    assert "calls so far that ran baseline code: 1 (0.0 ms)" in f.plan
    assert tier(f) == "optimized", "the report optimizes the function"


def test_threads_compile_baseline_code_once(limits):
    limits(4, 10**15)
    f, results = unit().f, []
    barrier = threading.Barrier(8)

    def run():
        barrier.wait()
        for _ in range(3):
            results.append(f(ts.ones(2), 2).tolist())

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 24 and all(result == results[0] for result in results)
    assert tier(f) == "optimized"


SCRIPT = """
import ts
u = ts.jit.CompilationUnit('def f(x):\\n  return x + 1\\ndef g(n: int):\\n  for i in range(n):\\n    n += i\\n  return n\\n')
for _ in range(2100):
    u.f(ts.ones(1))
u.g(5)
print(u.f.tier_state[0], u.g.tier_state[0])
"""


@pytest.mark.parametrize(
    "value, expected",
    [("", "optimized optimized"), ("optimized", "optimized optimized"), ("written", "baseline baseline")],
)
def test_environment_variable(monkeypatch, value, expected):
    monkeypatch.setenv("TS_TIER", value)
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected


def test_invalid_environment_variable(monkeypatch):
    monkeypatch.setenv("TS_TIER", "fast")
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert "TS_TIER must be 'optimized' or 'written', not 'fast'" in done.stderr
