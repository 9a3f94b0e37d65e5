"""`ts.limits(seconds=...)`: a thread respects its deadline in every operation.

A test that does not end is stopped with the test run. Other tests compare the CPU time of interrupted work
with that of the whole work.
"""

import contextlib
import itertools
import re
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any, List

import pytest

import ts
from tests import samples
from ts.analysis.alias import AliasDb
from ts.errors import CompilationError, FuelExceeded, LimitExceeded, MemoryExceeded, StackExceeded, TimeExceeded
from ts.ir.graph_parser import parse_ir
from ts.ir.type_parser import parse_type
from ts.ir.types import INT, DictType, TupleType, Type
from ts.ops import registry, cost_model

ROOT = Path(__file__).parent.parent


def spread(n: int) -> ts.Tensor:
    return ts.zeros(1).expand(n)


@ts.jit.script
def summed(n: int) -> ts.Tensor:
    return spread(n).sum()


@ts.jit.script
def largest(n: int) -> ts.Tensor:
    return spread(n).max()


@ts.jit.script
def multiplied(n: int) -> ts.Tensor:
    return spread(n // 10).prod()


@ts.jit.script
def dotted(n: int) -> ts.Tensor:
    return ts.dot(spread(n), spread(n))


@ts.jit.script
def matrix_times_matrix(n: int) -> ts.Tensor:
    x = ts.zeros(1).expand(n // 1000000, n // 1000000)
    return (x @ x).sum()


@ts.jit.script
def singular_values(n: int) -> ts.Tensor:
    return ts.linalg.svdvals(ts.zeros(1).expand(n // 1000000, n // 1000000))


@ts.jit.script
def contracted(n: int) -> ts.Tensor:
    x = ts.zeros(1).expand(n // 1000000, n // 1000000)
    return ts.einsum("ij,jk->ik", [x, x])


@ts.jit.script
def contracted_in_turn(n: int) -> ts.Tensor:
    x = ts.zeros(1).expand(n // 1000000, n // 1000000)
    return ts.einsum("ij,jk,kl,lm", [x, x, x, x])


@ts.jit.script
def convolved(n: int) -> ts.Tensor:
    return ts.conv1d(ts.zeros(1).expand(1, 1000, n // 100000), ts.zeros(1).expand(1000, 1000, 10))


@pytest.mark.parametrize(
    "function",
    [summed, largest, multiplied, dotted, matrix_times_matrix, singular_values, contracted, contracted_in_turn]
    + [convolved],
    ids=lambda f: f.name,
)
def test_operators_above_the_limit_do_not_start(function):
    """An operator whose estimated minimum time exceeds the limit raises `TimeExceeded` before it starts; a
    small input is accepted."""
    with ts.limits(seconds=5):
        function(10_000_000)
        with pytest.raises(TimeExceeded, match="the next operation takes at least"):
            function(10**12)


def test_lists_of_tensors_check_the_deadline():
    """Operators on many small tensors check the deadline."""
    xs = [ts.ones(1)] * 400_000
    start = time.monotonic()
    with ts.limits(seconds=0.3), pytest.raises(TimeExceeded):
        ts.broadcast_tensors(*xs)
    assert time.monotonic() - start < 2


@ts.jit.script
def inspect_views(n: int) -> int:
    x = ts.zeros(1).expand(n)
    return x[3:7].numel() + x.numel() + x.unsqueeze(0).size(1) + int(x[n - 1].item())


def test_views_take_no_time():
    """Sizes and views of huge tensors need no time."""
    with ts.limits(seconds=5):
        assert inspect_views(10**12) == 2 * 10**12 + 4


@ts.jit.script
def popped(n: int) -> int:
    xs = [0] * n
    while len(xs) > 0:
        xs.pop(0)
    return len(xs)


@ts.jit.script
def products(n: int) -> ts.Tensor:
    x = ts.zeros([n, n])
    for _ in range(1000000):
        x = x @ x
    return x


@pytest.mark.parametrize("function, n", [(popped, 5_000_000), (products, 500)], ids=["pop", "products"])
def test_deadline_between_operators(function, n):
    with ts.limits(seconds=0.3), pytest.raises(TimeExceeded, match=r"took more time|next operation"):
        function(n)


def recurrent(name, gates):
    """Run a recurrent network with one feature over millions of time steps."""
    x, h = ts.zeros(8_000_000, 1, 1), ts.zeros(1, 1, 1)
    weights = [ts.zeros(gates, 1), ts.zeros(gates, 1)]
    state = (h, h) if name == "lstm" else h
    return getattr(ts, name)(x, state, weights, False, 1, 0.0, False, False, False)


LONG = {
    "lstm": lambda: recurrent("lstm", 4),
    "gru": lambda: recurrent("gru", 3),
    "rnn_tanh": lambda: recurrent("rnn_tanh", 1),
    "ctc_loss": lambda: ts.ctc_loss(ts.zeros(500_000, 1, 3), ts.ones(1, 5, dtype=ts.int64), [500_000], [5]),
    "polynomial": lambda: ts.special.chebyshev_polynomial_t(spread(20_000_000) + 1.5, 60),  # by recurrence: seconds
    "zeta": lambda: ts.special.zeta(ts.zeros(10_000_000) + 1.5, 2.5),
    "gammaincc": lambda: ts.special.gammaincc(ts.zeros(10_000_000) + 0.5, spread(10_000_000) + 0.7),
    "polygamma": lambda: ts.special.polygamma(2, ts.zeros(10_000_000) + 0.7),
    "airy": lambda: ts.special.airy_ai(ts.zeros(20_000_000) + 0.7),
    "lu": lambda: ts.lu_unpack(ts.zeros(1, 1).expand(30_000, 30_000), ts.ones(1, dtype=ts.int32).expand(30_000)),
    "tolist": lambda: spread(100_000_000).tolist(),
    "list": lambda: list(spread(5_000_000)),
    "unbind": lambda: spread(5_000_000).unbind(),
    "split": lambda: spread(5_000_000).split(1),
    "tensor": lambda: ts.tensor([0.5] * 20_000_000),
    "nested": lambda: ts.tensor([[1]] * 5_000_000),
}


@pytest.mark.parametrize("name", LONG)
def test_deadline_inside_of_operators(name):
    """Deadlines interrupt time steps, slow special functions, and conversions of tensors to numbers."""
    with ts.limits(seconds=0.2), pytest.raises(TimeExceeded):
        LONG[name]()


def test_printing_tensors_respects_the_deadline():
    ts.set_printoptions(threshold=10**9)
    try:
        with ts.limits(seconds=0.2), pytest.raises(TimeExceeded):
            str(spread(3_000_000))
    finally:
        ts.set_printoptions(profile="default")


ROWS = ts.zeros(1, dtype=ts.int64)


@pytest.mark.parametrize("name, call", [
    ("index_select", lambda x, n: ts.index_select(x, 0, ROWS.expand(n))),
    ("index_add", lambda x, n: ts.index_add(x, 0, ROWS.expand(n), x[:1].expand(n, 1000))),
    ("index_fill", lambda x, n: ts.index_fill(x, 0, ROWS.expand(n), 1.0)),
    ("embedding", lambda x, n: ts.embedding(x, ROWS.expand(n))),
    ("repeat", lambda x, n: x.repeat(n, 1)),
    ("tile", lambda x, n: x.tile((n, 1))),
    ("diag_embed", lambda x, n: ts.diag_embed(x[0, 0].expand(n))),
])  # fmt: skip
def test_large_results_are_counted(name, call):
    """Operators whose result exceeds the time limit, such as indexing and repetition, do not start."""
    x = ts.zeros(3, 1000)
    with ts.limits(seconds=1):
        call(x, 2)
        with pytest.raises(TimeExceeded, match="the next operation takes at least"):
            call(x, 10**8)


def test_pieces_equal_the_whole_computation():
    """Operators that are computed in pieces under a time limit return the values, shape and dtype of an
    uninterrupted call."""
    x, y = ts.rand(3, 20_000) + 0.5, ts.rand(20_000, dtype=ts.float64) + 0.5
    for compute in (
        lambda: ts.special.zeta(x + 1, y), lambda: ts.special.legendre_polynomial_p(x - 0.5, 7), lambda: ts.remainder(x, y),
        lambda: ts.special.airy_ai(x.t()), lambda: ts.special.multigammaln(x + 2, 2), lambda: ts.isnan(x),
    ):  # fmt: skip
        expected = compute()
        with ts.limits(seconds=100):
            pieces = compute()
        assert pieces.dtype is expected.dtype and pieces.stride() == expected.stride()
        assert ts.equal(pieces, expected)


def test_cost_rules_use_sizes():
    """Every operator record has a cost rule that is None or returns a number; variants use the rule of their
    base."""
    registry.load()
    x = ts.rand([30, 20])
    estimate = {key: cost_model.rule_of(registry.find(f"aten::{key}")) for key in ("mm", "mm.out", "mul_.Tensor", "t")}
    assert estimate["t"] is None
    assert estimate["mm"](x, x.t()) == estimate["mm.out"](x, x.t(), ts.empty(30, 30)) > 0
    assert estimate["mul_.Tensor"](x, x) > 0
    for record in registry.records():
        assert record.work is None or callable(record.work) or record.work > 0, record.key


@pytest.mark.filterwarnings("ignore")
def test_cost_rules_accept_operator_arguments():
    """Cost rules accept all sample arguments, because a failing rule would fail the operator under limits."""
    registry.load()
    for record in registry.records():
        ruled = cost_model.rule_of(record) is not None and not record.variant
        for values in itertools.islice(samples.candidates(record, ts.float32, "cpu"), 3 if ruled else 0):
            with contextlib.suppress(*samples.REJECTION_ERRORS), ts.limits(seconds=60):
                samples.operator(record)(*values)


# ---------------------------------------------------------------- values and strings


@ts.jit.script
def nest(n: int) -> Any:
    nested: Any = (1, 2)
    for _ in range(n):
        nested = (nested, nested)
    return nested


@ts.jit.script
def rows(n: int) -> List[List[List[List[int]]]]:
    return [[[[1] * n] * n] * n] * n


@ts.jit.script
def text_of_nest(n: int) -> str:
    return str(nest(n))


@ts.jit.script
def printed(n: int) -> int:
    print(rows(n))
    return 0


@ts.jit.script
def error_text(n: int) -> int:
    raise ValueError("{}".format(nest(n)))


def test_results_keep_shared_containers():
    """The result of a program keeps shared containers shared: it contains as many containers as the value,
    not one per path."""
    nested = nest(60)
    assert nested[0] is nested[1]
    nested = rows(100)
    assert nested[0] is nested[99]
    assert nested[0][0][0] == [1] * 100


@pytest.mark.parametrize("function, n", [(text_of_nest, 60), (printed, 200), (error_text, 60)], ids=lambda x: "")
def test_endless_strings_are_stopped(function, n, capsys):
    with ts.limits(seconds=0.3), pytest.raises(TimeExceeded):
        function(n)


def test_conversions_check_for_signals():
    """Ctrl-C ends the conversion of nested containers to a string, with and without limits."""
    program = """
import signal, ts
from tests.test_deadline import text_of_nest
signal.setitimer(signal.ITIMER_REAL, 0.3)
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    text_of_nest(60)
except KeyboardInterrupt:
    print("interrupted")
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.stdout == "interrupted\n", ended.stderr


# ---------------------------------------------------------------- forked programs


@ts.jit.script
def bomb(n: int) -> int:
    one = ts.jit.fork(bomb, n + 1)
    other = ts.jit.fork(bomb, n + 1)
    return ts.jit.wait(one) + ts.jit.wait(other)


@ts.jit.script
def doubled(n: int) -> int:
    return 2 * n


@ts.jit.script
def first_of(futures: List[ts.jit.Future[int]]) -> int:
    while len(futures) == 0:
        pass
    return ts.jit.wait(futures[0])


@ts.jit.script
def waits_for_itself(n: int) -> int:
    futures: List[ts.jit.Future[int]] = []
    futures.append(ts.jit.fork(first_of, futures))
    return ts.jit.wait(futures[0])


def test_a_fork_bomb_ends():
    """A forked program checks the deadline before it runs and before it forks."""
    with ts.limits(seconds=0.3), pytest.raises(TimeExceeded):
        bomb(0)
    with ts.limits(fuel=1000), pytest.raises(FuelExceeded):
        bomb(0)


@ts.jit.script
def doubled_elsewhere(n: int) -> int:
    return ts.jit.wait(ts.jit.fork(doubled, n))


def test_fork_bomb_is_stopped_by_the_memory_limit():
    """A program that forks without end raises `MemoryExceeded`; memory released by its failed tasks is
    available to new programs only after all have ended."""
    with ts.limits(bytes=8_000_000, seconds=20):
        with pytest.raises(MemoryExceeded):
            bomb(0)
        last = time.monotonic() + 60
        while True:
            try:
                assert doubled_elsewhere(4) == 8
                break
            except MemoryExceeded:
                assert time.monotonic() < last
                time.sleep(0.01)


def test_a_program_that_waits_for_itself_fails():
    with pytest.raises(RuntimeError, match=r"the future waits for the program that waits for it \(a deadlock\)"):
        waits_for_itself(1)


# ---------------------------------------------------------------- error locations


@ts.jit.script
def deep(n: int) -> int:
    return 1 + deep(n + 1)


@ts.jit.script
def endless(n: int) -> int:
    while n > 0:
        n += 1
    return n


@ts.jit.script
def hoarded(n: int) -> List[int]:
    xs: List[int] = []
    while True:
        xs.append(n)
    return xs


@pytest.mark.parametrize(
    "function, limits, error",
    [
        (endless, {"seconds": 0.05}, TimeExceeded),
        (endless, {"fuel": 1000}, FuelExceeded),
        (hoarded, {"bytes": 1 << 20}, MemoryExceeded),
        (summed, {"seconds": 1}, TimeExceeded),
        (deep, {"depth": 100}, StackExceeded),
    ],
    ids=["seconds", "fuel", "bytes", "operator", "depth"],
)
def test_errors_contain_the_script_stack(function, limits, error):
    """The error contains file, line and the calling lines."""
    with ts.limits(**limits), pytest.raises(error) as caught:
        function(10**12)
    assert isinstance(caught.value, LimitExceeded)
    assert 'test_deadline.py", line ' in str(caught.value)
    assert f"in {function.name}\n" in str(caught.value)
    assert caught.value.stack[0][0] == function.name


def test_a_long_stack_is_shortened():
    with ts.limits(depth=5000), pytest.raises(StackExceeded, match=r"\.\.\. \d+ more calls \.\.\.") as caught:
        deep(0)
    assert len(str(caught.value).splitlines()) < 200


# ---------------------------------------------------------------- compilation

BODY = "".join(f"    x = x + {i} * x - (x + {i})\n" for i in range(3000))
LARGE = f"def large(x: int) -> int:\n{BODY}    return x\n"


@pytest.mark.parametrize(
    "limits, error", [({"seconds": 0.2}, TimeExceeded), ({"bytes": 8 << 20}, MemoryExceeded)], ids=["seconds", "bytes"]
)
def test_compiling_is_limited(limits, error):
    """Compilation limits raise an error with the source line; the text compiles afterwards without limits.
    Runs in a new process, because memory released earlier would be reused without measurable growth.
    """
    small = LARGE.replace(BODY, BODY[:200].rpartition("\n")[0] + "\n")
    program = f"""
import ts
try:
    with ts.limits(**{limits}):
        ts.jit.CompilationUnit({LARGE!r})
except ts.errors.{error.__name__} as error:
    print(error)
assert ts.jit.CompilationUnit({small!r}).large(0) is not None
"""
    done = subprocess.run([sys.executable, "-"], input=program, capture_output=True, text=True, check=True)
    assert re.search(r"line \d+, in (large|<module>)", done.stdout)  # while the function was compiled, or while its source was parsed


@pytest.mark.parametrize("container", [lambda t: TupleType((t, t)), lambda t: DictType(t, t)], ids=["tuple", "dict"])
def test_types_with_shared_parts(container):
    """A container type with more than 65536 parts raises `CompilationError`."""
    kind: Type = INT
    for _ in range(14):
        kind = container(kind)
    with pytest.raises(CompilationError, match="is too large: a type may have 65536"):
        for _ in range(60):
            kind = container(kind)


def test_doubled_tuples():
    """Nested pairs whose type exceeds the size limit raise `CompilationError` at the line of the pair."""
    lines = "".join(f"    a{i + 1} = (a{i}, a{i})\n" for i in range(30))
    with pytest.raises(CompilationError, match=r"TupleType of 131\d\d\d parts is too large") as caught:
        ts.jit.CompilationUnit(f"def pairs(a0: int) -> int:\n{lines}    return a0\n").pairs(0)
    assert "a16 = (a15, a15)" in caught.value.range.highlight()


def visits(graph, results):
    for _ in graph.nodes():
        pass


def create_node(graph, results):
    results.append(graph.create("aten::neg", [graph.inputs()[0]]))


def copies(graph, results):
    results.append(graph.copy())


def analyses(graph, results):
    AliasDb(graph)


def reads_types(graph, results):
    results.append(parse_type("Dict(str, (int, Tensor)?)[]"))


@pytest.mark.parametrize("step", [visits, create_node, copies, analyses, reads_types], ids=lambda f: f.__name__)
def test_every_pass_respects_the_deadline(step):
    """Every step that visits, creates or copies nodes, or reads types, checks the deadline."""
    nodes = "".join(f"  %y{i} : Tensor = aten::neg(%x)\n" for i in range(20))
    graph = parse_ir(f"graph(%x : Tensor):\n{nodes}  return (%y0)\n")
    results: list[Any] = []
    with ts.limits(seconds=0.02), pytest.raises(TimeExceeded):
        for _ in range(1_000_000):
            step(graph, results)


@pytest.mark.parametrize("step", [create_node, copies, reads_types], ids=lambda f: f.__name__)
def test_every_pass_respects_the_memory_limit(step):
    graph = parse_ir("graph(%x : Tensor):\n  %y : Tensor = aten::neg(%x)\n  return (%y)\n")
    results: list[Any] = []
    with ts.limits(bytes=1 << 23), pytest.raises(MemoryExceeded):
        for _ in range(1_000_000):
            step(graph, results)


@pytest.mark.parametrize(
    "text",
    [LARGE, f"def wide(x: int) -> int:\n    y = [{', '.join('x' for _ in range(100_000))}]\n    return x\n"],
    ids=["long", "wide"],
)
def test_limits_report_the_source_location(text):
    """A deadline during parsing reports the source location."""
    with ts.limits(seconds=0), pytest.raises(TimeExceeded, match=r'File "<string>", line \d+, in '):
        ts.jit.CompilationUnit(text)


def test_every_operator_has_a_cost_rule_or_none():
    """Every operator record has a cost rule without errors or None; operators that only read tensor metadata
    have None."""
    rules = {record.key: cost_model.rule_of(record) for record in registry.records()}
    for name in ("aten::zeros.out", "aten::sum_to_size", "aten::clone", "aten::_to_copy"):
        assert rules[name] is not None, name
    for name in ("aten::is_floating_point", "aten::to.dtype", "aten::detach", "aten::requires_grad_", "aten::size"):
        assert rules.get(name) is None, name
    with ts.limits(seconds=10):
        assert ts.zeros(3, out=ts.empty(3)).tolist() == [0, 0, 0]
        assert ts.arange(3, out=ts.empty(3)).tolist() == [0, 1, 2]


def test_slow_sum_to_size_does_not_start():
    summed = ts.jit.CompilationUnit("def f(x):\n    return x.sum_to_size([1])\n").f
    with pytest.raises(TimeExceeded, match=r"takes at least \d{4} seconds"), ts.limits(seconds=5):
        summed(ts.ones(1).expand(30_000_000_000_000))  # this sum would take hours


# ---------------------------------------------------------------- strings

MILLION = 1_000_000
TEXTS = ts.jit.CompilationUnit("""
def split(x: str) -> int:
    return len(x.split(","))
def rsplit(x: str) -> int:
    return len(x.rsplit(","))
def words(x: str) -> int:
    return len(x.replace(",", " ").split())
def lines(x: str) -> int:
    return len(x.replace(",", "\\n").splitlines())
def characters(x: str) -> int:
    return len(list(x))
def stripped(x: str) -> int:
    return len(x.strip("a,"))
def replaced(x: str) -> int:
    return len(x.replace("a", "bc"))
def fields(x: str) -> int:
    return len(x.replace("a,", "{0}").format(1))
def percents(x: str) -> int:
    return len(("%d" + x.replace("a,", "%%")) % 1)
def titled(x: str) -> int:
    return len(x.replace("a", "\\u00e9").title())
""")


def processor_time(function, *arguments):
    """Return the CPU time that the current thread uses for a call, independent of other processes."""
    start = time.thread_time()
    function(*arguments)
    return time.thread_time() - start


def raises_in_time(work, seconds):
    with ts.limits(seconds=seconds), pytest.raises(TimeExceeded):
        work()


@pytest.mark.parametrize("name", [f.name for f in TEXTS.get_functions()])
def test_string_operators_check_the_deadline(name):
    """String operators check the deadline: with 5 % of the needed time they stop before half of the work."""
    text, work = "a," * (2 * MILLION), getattr(TEXTS, name)
    work("a,")
    total_time = processor_time(work, text)
    assert processor_time(raises_in_time, lambda: work(text), total_time / 20) < total_time / 2


def test_split_strings_are_limited_early():
    """The memory limit applies to the first parts of a split string, before all parts exist."""
    text = "ab," * MILLION
    TEXTS.split("a,")
    tracemalloc.start()
    try:
        with ts.limits(bytes=4 * MILLION), pytest.raises(MemoryExceeded):
            TEXTS.split(text)
        assert tracemalloc.get_traced_memory()[1] < 20 * MILLION  # of more than 50 million bytes
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------- cost estimates by dtype, values and sizes


def half(n):
    return ts.zeros(1, dtype=ts.float16).expand(n)


def square(n, dtype):
    return ts.zeros(1, 1, dtype=dtype).expand(n, n)


@pytest.mark.parametrize("call", [
    lambda: ts.dot(spread(10**11), spread(10**11)), lambda: ts.amin(half(3 * 10**9)), lambda: ts.aminmax(half(3 * 10**9)),
    lambda: square(3000, ts.int64) @ square(3000, ts.int64), lambda: ts.fft.fft(ts.zeros(15_000_017)),
    lambda: ts.linalg.matrix_norm(square(5000, ts.float32), 2), lambda: spread(10**11).to(ts.float64).sum(),
    lambda: ts.zeros(3, 1000)[ROWS.expand(10**8)], lambda: ts.zeros(3, 1000).index_put_((ROWS.expand(10**8),), ts.zeros(1)),
], ids=["dot", "amin", "aminmax", "integers", "prime", "norm", "to", "index", "index_put"])  # fmt: skip
def test_slow_operators_do_not_start(call):
    with ts.limits(seconds=1), pytest.raises(TimeExceeded, match="the next operation takes at least"):
        call()


def test_estimates_count_computed_elements():
    """Cost estimates count computed elements, not input elements: a first power, one searched number, a
    result of two elements."""
    x, long = square(2000, ts.float32), spread(10**9)
    for name, arguments in (
        ("linalg_matrix_power", (x, 1)), ("any", (spread(10**6),)), ("bucketize.Scalar", (0.5, spread(10**7))),
        ("upsample_nearest1d", (long.reshape(1, 1, -1), [2])),
    ):  # fmt: skip
        rule = cost_model.rule_of(registry.find(f"aten::{name}"))
        assert rule(*arguments) < 1e6, name


def test_numbers_for_python_count():
    """Python lists of numbers need eight times the tensor's memory and are limited."""
    for x in (spread(5_000_000), spread(5_000_000).to(ts.int64) + 1000):
        tracemalloc.start()
        try:
            with ts.limits(bytes=60_000_000), pytest.raises(MemoryExceeded):
                x.tolist()
            assert tracemalloc.get_traced_memory()[1] < 120_000_000  # of 200 million bytes
        finally:
            tracemalloc.stop()


def test_temporary_memory_of_transforms_is_counted():
    with ts.limits(bytes=100_000_000), pytest.raises(MemoryExceeded):
        ts.fft.fft(ts.zeros(2_000_003))
