"""Loops over tensor elements: specialized versions have the bits of the original loop.

Each program runs unoptimized, optimized and as machine code, on tensors of all dtypes and layouts.
"""

import inspect
import random
from functools import cache
from typing import Any

import numpy as np
import pytest

import ts
from tests.fuzz import how_many
from tests.jit_helpers import needs_llvm
from ts import Tensor
from ts.bytecode.native import background_compilation
from ts.bytecode.native.side_exits import REASON_OPERATORS
from ts.passes.pass_utils import walk_nodes
from ts.runtime.executor import optimized_execution


def total(x: Tensor, y: Tensor):
    s = 0.0
    for i in range(x.size(0)):
        s += float(x[i])
    return s


def recurrence(x: Tensor, y: Tensor):
    previous = 0.0
    for i in range(x.size(0)):
        previous = 0.5 * previous + x[i]
        y[i] = previous
    return previous


def whole_sum(x: Tensor, y: Tensor):
    n = 0
    for i in range(x.size(0)):
        n = n + x[i]
        y[i] = n
    return n


def running_sum(x: Tensor, y: Tensor):
    s = ts.zeros((), dtype=x.dtype)
    for i in range(x.size(0)):
        s += x[i]
        y[i] = s
    return s


def sum_out_of_place(x: Tensor, y: Tensor):
    s = ts.zeros((), dtype=x.dtype)
    for i in range(x.size(0)):
        s = s + x[i] * y[i]
    return s


def relaxation(x: Tensor, y: Tensor):
    for i in range(1, len(x) - 1):
        y[i] = 0.25 * (y[i - 1] + x[i + 1]) - x[i] / 3
    return y


def largest(x: Tensor, y: Tensor):
    best = x[0]
    for i in range(1, len(x)):
        if bool(x[i] > best):
            best = x[i]
    return best


def largest_and_write(x: Tensor, y: Tensor):
    best = x[0]
    for i in range(1, len(x)):
        if bool(x[i] > best):
            best = x[i]
        x[i - 1] = x[i] + 1
        y[i] = best
    return best


def swap(x: Tensor, y: Tensor):
    for i in range(len(x) - 1):
        if bool(x[i] > x[i + 1]):
            value = x[i].item()
            x[i] = x[i + 1]
            x[i + 1] = value
    return x


def swap_views(x: Tensor, y: Tensor):
    for i in range(len(x) - 1):
        view = x[i]
        x[i] = x[i + 1]
        x[i + 1] = view
    return x


def counts(x: Tensor, y: Tensor):
    for i in range(len(x)):
        y[int(x[i]) % len(y)] += 1
    return y


def extremes(x: Tensor, y: Tensor):
    for i in range(1, len(x)):
        y[i] = ts.minimum(x[i], y[i - 1]) + ts.maximum(x[i - 1], y[i]) - (2 - x[i])
        x[i] = -abs(x[i])
    return y


def in_place(x: Tensor, y: Tensor):
    for i in range(len(x)):
        x[i] += 1
        x[i] *= x[i]
        y[i] -= x[i] - 2
    return x


def negative_indices(x: Tensor, y: Tensor):
    i = -1
    while i >= -len(x):
        y[i] = x[i] + x[-i - 1]
        i -= 1
    return y


def tensors_above_one(x: Tensor, y: Tensor):
    results = []
    for i in range(len(x)):
        z = x[i] * 2 + y[i]
        if bool(z > 1):
            results.append(z)
    return results


def roots(x: Tensor, y: Tensor):
    s = ts.sqrt(y[0])
    for i in range(1, len(x)):
        s = ts.sqrt(x[i] * x[i] + y[i]) - s
        y[i] = s + x[i].sqrt()
    return s


def until(x: Tensor, y: Tensor):
    s = ts.zeros((), dtype=x.dtype)
    i = 0
    while bool(s < 3) and i < len(x):
        s = s + abs(x[i])
        i += 1
    return s, i


def with_functions(x: Tensor, y: Tensor):
    for i in range(1, len(x)):
        y[i] = ts.exp(-x[i]) + y[i - 1] * 0.1
    return y


def out_of_range(x: Tensor, y: Tensor):
    for i in range(len(x) + 1):
        y[i] = x[i] + 1
    return y


def aliased(x: Tensor, y: Tensor):
    z = x[1:]
    for i in range(len(z)):
        z[i] = x[i] + z[i]
    return x


def filled(x: Tensor, y: Tensor):
    for i in range(len(x)):
        if i % 2 == 0:
            x[i] = 0.1
        else:
            x[i] = i
    return x


PROGRAMS = (
    total, recurrence, whole_sum, running_sum, sum_out_of_place, relaxation, largest, largest_and_write, swap, swap_views, counts, extremes,
    in_place, negative_indices, tensors_above_one, roots, until, with_functions, out_of_range, aliased, filled,
)  # fmt: skip


def stencil(a: Tensor):
    for i in range(1, a.size(0) - 1):
        for j in range(1, a.size(1) - 1):
            a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    return a


def product(a: Tensor):
    c = ts.zeros_like(a)
    for i in range(a.size(0)):
        for j in range(a.size(1)):
            s = 0.0
            for k in range(a.size(1)):
                s += float(a[i, k]) * float(a[k % a.size(0)][j])
            c[i, j] = s
    return c


def row_sums(a: Tensor):
    out = ts.zeros(a.size(0), dtype=a.dtype)
    for i in range(a.size(0)):
        s = ts.zeros((), dtype=a.dtype)
        for j in range(a.size(1)):
            s += a[i, j]
        out[i] = s
    return out


def by_rows(a: Tensor):
    for i in range(1, a.size(0)):
        a[i] = a[i] * 0.5 + a[i - 1]
        a[i, 0] = a[i - 1, 0] - 1
    return a


MATRICES = (stencil, product, row_sums, by_rows)


def run(f, tensors):
    """Return the result or error of a call, and the final contents of its tensors."""
    try:
        result = f(*tensors)
    except Exception as error:
        result = f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}"
    return describe(result), [describe(t) for t in tensors]


def describe(x):
    if isinstance(x, Tensor):
        return str(x.dtype), tuple(x.shape), x.detach().contiguous().numpy().tobytes()
    if isinstance(x, list | tuple):
        return [describe(item) for item in x]
    return repr(x)


@cache
def versions(program):
    """Return the program unoptimized, optimized, and with machine code."""
    text = program if isinstance(program, str) else inspect.getsource(program)
    name = "f" if isinstance(program, str) else program.__name__
    plain, optimised, machine = (getattr(ts.jit.CompilationUnit(text), name) for _ in range(3))
    return plain, optimised, machine


def check_all_versions(program, make):
    plain, optimised, machine = versions(program)
    with optimized_execution(False):
        expected = run(plain, make())
    assert run(optimised, make()) == expected
    if background_compilation.is_available():
        if machine.available_code is None:
            run(machine, make())
            reason = background_compilation.compile_now(machine.available_code)
            assert reason == (REASON_OPERATORS if program is with_functions else "")
        assert run(machine, make()) == expected


def vector(dtype, n, seed, layout):
    values = np.random.default_rng(seed).normal(size=3 * n + 3) * 4
    x = ts.tensor(values.tolist()).to(dtype)
    if layout == "strided":
        return x[: 3 * n : 3] if n else x[:0]
    if layout == "offset":
        return x[1 : n + 1]
    return x[:n].clone()


DTYPES = [ts.float32, ts.float64, ts.int64, ts.int32, ts.uint8, ts.float16, ts.bool]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_vectors(program, dtype):
    for layout in ("plain", "strided", "offset"):
        check_all_versions(program, lambda layout=layout: [vector(dtype, 7, seed, layout) for seed in (1, 2)])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_two_dtypes_and_sizes(program):
    for one, other, n in ((ts.float32, ts.float64, 5), (ts.int64, ts.float32, 5), (ts.float32, ts.int64, 5)):
        check_all_versions(program, lambda a=one, b=other, n=n: [vector(a, n, 3, "plain"), vector(b, n, 4, "plain")])
    for n in (0, 1, 2):
        check_all_versions(program, lambda n=n: [vector(ts.float32, n, s, "plain") for s in (5, 6)])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_special_values(program):
    special = [float("nan"), 0.0, -0.0, float("inf"), -float("inf"), 1e-45, 3.4e38, 1e300]
    for dtype in (ts.float32, ts.float64):
        check_all_versions(program, lambda d=dtype: [ts.tensor(special, dtype=d), ts.tensor(special[::-1], dtype=d)])


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.int64], ids=str)
@pytest.mark.parametrize("program", MATRICES, ids=lambda f: f.__name__)
def test_matrices(program, dtype):
    def matrix(layout):
        values = ts.tensor(np.random.default_rng(7).normal(size=(6, 5)).tolist()).mul(8).to(dtype)
        return [values.t() if layout == "transposed" else values[::2] if layout == "rows" else values]

    for layout in ("plain", "transposed", "rows"):
        check_all_versions(program, lambda layout=layout: matrix(layout))


def test_versioned_loops_are_created():
    for program in (*PROGRAMS, stencil, row_sums):
        if program is with_functions:  # converts more numbers to tensors than it saves
            continue
        script = ts.jit.script(program)
        text = str(script.graph_for(*([ts.rand(4, 4)] if program in MATRICES else [ts.rand(4), ts.rand(4)])))
        assert "prim::LoadElement" in text or "prim::StoreElement" in text, program.__name__


def test_numbers_that_become_elements():
    """Values become numbers before the loop; a float assigned to an int variable raises in each iteration."""
    for program, tensor in ((recurrence, ts.rand(4)), (whole_sum, ts.arange(4))):
        loops = [node for node in ts.jit.script(program).graph_for(tensor, tensor).all_nodes() if node.kind() == "prim::Loop"]
        kinds = [{node.kind() for node in walk_nodes(loop.blocks()[0])} for loop in loops]
        (first, *_) = [loop_kinds for loop_kinds in kinds if "prim::LoadElement" in loop_kinds]
        assert not any("tensor" in kind or "Implicit" in kind for kind in first)


def test_unspecialized_ranks():
    for program in (running_sum, relaxation, in_place, recurrence, whole_sum):
        check_all_versions(program, lambda: [ts.ones(3, 2), ts.ones(3, 2)])


def test_views_stay_views():
    x = ts.tensor([1.0, 5.0, 3.0])
    result = ts.jit.script(largest)(x, x)
    result += 1
    assert x.tolist() == [1.0, 6.0, 3.0]
    assert ts.jit.script(swap)(x, x) is x


def test_writes_are_counted():
    x = ts.ones(4)
    before = x._version
    ts.jit.script(filled)(x, x)
    assert x._version == before + 4
    view = x[1:]
    ts.jit.script(filled)(view, view)
    assert x._version == before + 7


def test_read_only_tensors_and_gradients_run_unspecialized():
    with_gradient = ts.ones(3, requires_grad=True)
    plain, optimised, _ = versions(filled)
    with optimized_execution(False):
        expected = run(plain, [with_gradient, with_gradient])
    assert run(optimised, [with_gradient, with_gradient]) == expected


def test_index_errors_have_source_locations():
    x = ts.ones(3)
    with pytest.raises(Exception, match=r"index 3 .*tensor.* size") as info:
        ts.jit.script(out_of_range)(x, ts.ones(4))
    assert "y[i] = x[i] + 1" in str(info.value)


def test_tensor_resized_during_the_loop():
    """A tensor resized by another thread during a loop causes no out-of-bounds access."""

    def change(x: Tensor, y: Tensor) -> int:
        x.resize_(2)
        return 0

    def program(x: Tensor, y: Tensor):
        for i in range(len(x)):
            y[i] = x[i] + change(x, y)
        return y

    change = ts.jit.ignore(change)
    ts.jit.script(total)(ts.ones(3), ts.ones(3))
    script = ts.jit.script(program)
    with pytest.raises(Exception, match="index 2 "):
        script(ts.ones(5), ts.zeros(5))


class Shrinking:
    """A context manager that removes elements from a tensor."""

    def __init__(self, x: Tensor):
        self.x = x

    def __enter__(self) -> int:
        self.x.resize_(1)
        return 0

    def __exit__(self, kind: Any, value: Any, trace: Any):
        pass


def test_with_statements_may_resize_tensors():
    script = ts.jit.script(write_under_a_block)
    assert "prim::LoadElement" not in str(script.graph_for(ts.ones(3), ts.zeros(3)))
    with pytest.raises(Exception, match="index 1 "):
        script(ts.ones(3), ts.zeros(3))


def write_under_a_block(x: Tensor, y: Tensor):
    for i in range(3):
        with Shrinking(x):
            y[i] = x[i] + 1
    return y


def test_random_programs():
    """Random loops over three vectors have equal results in all versions."""
    for seed in range(how_many(15)):
        check_all_versions(random_program(random.Random(seed)), lambda s=seed: random_tensors(random.Random(s)))


def random_tensors(rng):
    dtype = rng.choice([ts.float32, ts.float64, ts.int64])
    return [ts.tensor([rng.randint(-9, 9) for _ in range(6)]).to(dtype) for _ in range(2)]


def random_program(rng):
    def element():
        return f"{rng.choice('xy')}[{rng.choice(['i', 'i - 1', 'i + 1', '0', '-i'])}]"

    def expression(depth):
        if depth == 0:
            return rng.choice([element(), element(), "t", str(rng.randint(1, 5))])
        a, b = expression(depth - 1), expression(depth - 1)
        return rng.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"abs({a})", f"-{a}"])

    lines = ["def f(x: Tensor, y: Tensor):", "    t = ts.zeros((), dtype=x.dtype)", "    for i in range(1, 5):"]
    for _ in range(rng.randint(2, 5)):
        value = expression(rng.randint(0, 2))
        kind = rng.randrange(5)
        if kind == 0:
            lines.append(f"        {element()} = {element()} + {value}")
        elif kind == 1:
            lines.append(f"        t = t + {element()} * {value}")
        elif kind == 2:
            lines.append(f"        {element()} {rng.choice(['+=', '-=', '*='])} {value}")
        elif kind == 3:
            lines += [f"        if bool({element()} > {value}):", f"            {element()} = {element()}"]
        else:
            lines += [f"        for j in range({rng.randint(0, 3)}):", f"            t += {element()}"]
    lines.append("    return t")
    return "\n".join(lines)


def lengths(x: Tensor, y: Tensor):
    for i in range(x.size(0)):
        for j in range(y.shape[-1]):
            y[j] += x[i] * len(y) + y.size(0)
    return y


def length_of_a_later_tensor(x: Tensor, y: Tensor):
    for i in range(len(x)):
        if i < 7:
            y[i] = x[i] + 1
        else:
            y[i] = x[i] + x.size(3)
    return y


def test_lengths_are_read_before_the_loop():
    """Lengths are hoisted out of the loop only for tensors that exist before it."""
    for program in (lengths, length_of_a_later_tensor):
        for n in (0, 3, 7, 8):
            check_all_versions(program, lambda n=n: [vector(ts.float64, n, seed, "plain") for seed in (1, 2)])
    for program, left in ((lengths, set()), (length_of_a_later_tensor, {"aten::size"})):
        graph = ts.jit.script(program).graph_for(ts.rand(3), ts.rand(3))
        loops = [node for node in graph.all_nodes() if node.kind() == "prim::Loop"]
        kinds = [{node.kind() for node in walk_nodes(loop.blocks()[0])} for loop in loops]
        versions = [loop_kinds & {"aten::size", "aten::len"} for loop_kinds in kinds if "prim::LoadElement" in loop_kinds]
        assert versions and all(length_reads == left for length_reads in versions)


DROPPED = """
def f(a: Tensor, b: Tensor, c: Tensor, d: Tensor, s: float, n: int):
    u = s
    t0 = torch.minimum(c, d)
    r = t0
    e = torch.ones(9)
    for i in range(1, 9):
        if u > 1.0:
            u = u - 2.0
        e[i] = 0.5 * e[i - 1] + u
    r = r + e[n]
    t1 = r
    t2 = (d - t1)
    t3 = (t1 * c)
    t4 = torch.tanh(t2)
    e = torch.ones(9)
    for i in range(1, 9):
        if u > 1.0:
            u = u - 2.0
    t5 = r
    e = c.flatten()
    for i in range(min(e.size(0), 9)):
        if u > 1.0:
            u = u - 2.0
        u += 0.25 * float(e[i])
    t6 = r
    return (t3, t5, t6, t4,)
"""


@needs_llvm
def test_headers_are_read_when_the_register_holds_the_tensor():
    """Tensor headers are read after the register is assigned; earlier the register may hold another
    object."""
    c, d = ts.ones(33, 5).half(), ts.ones(5, 33).double().t()  # operands that are not fused
    expected = ts.jit.CompilationUnit(DROPPED).f(d, d, c, d, -1.25, -1)
    compiled = ts.jit.CompilationUnit(DROPPED).f
    assert background_compilation.compile_now(compiled.compiled_code) == ""
    assert str(compiled(d, d, c, d, -1.25, -1)) == str(expected)


def test_indexed_number_is_a_tensor():
    function = ts.jit.CompilationUnit("""
def f(a: Tensor, b: Tensor, n: int) -> Tensor:
    total = b * 1
    for k in range(n):
        x = b * 1
        for i in range(2):
            a[0] = 0.25
            x = x + x
        total = total + x[0]
    return total
""").f
    assert function(ts.ones(2), ts.tensor([1.0, 2.0]), 2).tolist() == [9.0, 10.0]
    with pytest.raises(RuntimeError, match="0-dim"):
        function(ts.ones(2), ts.tensor(1.0), 2)
    assert function(ts.ones(2), ts.tensor(1.0), 0).tolist() == 1.0


def halve(x: Tensor, y: Tensor):
    for i in range(x.size(0)):
        y[i] = 0.5 * x[i]
    return y


def operator_calls(function, *args):
    """Return the names of the operators that a call runs."""
    with ts.profiler.profile() as profile:
        function(*args)
    return [event.name for event in profile.events() if event.name.startswith("aten::")]


def test_layers_of_other_tensors_do_not_disable_versions():
    """Loops use element access after tensors with dispatch layers exist, unless a tensor of the loop has a layer."""
    function = ts.jit.script(halve)
    with ts.fake():
        ts.ones(1) + 1
    assert "aten::select" not in operator_calls(function, ts.ones(5), ts.zeros(5))

    batched, x = ts.func.vmap(lambda x: function(x, ts.zeros_like(x))), ts.arange(10.0).reshape(2, 5)
    assert ts.equal(batched(x), 0.5 * x)
    assert "aten::select" in operator_calls(batched, x)


def test_dispatch_modes_see_element_access():
    """A `TorchDispatchMode` receives the operators of a loop that has an element version."""
    function, seen = ts.jit.script(recurrence), []

    class Recorder(ts.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
            seen.append(str(operator))
            return operator(*args, **(kwargs or {}))

    function(ts.ones(5), ts.zeros(5))
    with Recorder():
        function(ts.ones(5), ts.zeros(5))
    assert any("select" in name for name in seen)
