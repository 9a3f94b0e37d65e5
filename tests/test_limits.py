"""`ts.limits`: resource limits of programs, which are checked before the use of a resource."""

import io
import os
import re
import subprocess
import sys
import threading
import time
from functools import wraps
from typing import Any, Dict, List

import numpy as np
import pytest

import ts
from ts._core.dispatch.operator import Operator
from ts.cli import limit_options
from ts.errors import FuelExceeded, LimitExceeded, MemoryExceeded, StackExceeded, TimeExceeded
from ts.ops.operator_record import OperatorRecord
from ts.runtime.limits import bytes_in

MEGABYTE = 1 << 20

usual_memory = pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="AddressSanitizer keeps what is freed, and its notes about memory are memory of the process",
)


def in_a_fresh_process(test):
    """Run a test in a new process without free memory, because strings and results are counted by process
    growth."""

    @wraps(test)
    def run(*args, **kwargs):
        if "TS_FRESH_PROCESS" in os.environ:
            return test(*args, **kwargs)
        name = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", name]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | {"TS_FRESH_PROCESS": "1"}
        )
        assert done.returncode == 0, done.stdout

    return run


@ts.jit.script
def one_tensor(n: int) -> int:
    return ts.zeros([n * 1000]).numel()


@ts.jit.script
def tensors(n: int) -> int:
    results: List[ts.Tensor] = []
    for i in range(n):
        results.append(ts.zeros([1000 + i % 2]))
    return len(results)


@ts.jit.script
def doubled_text(n: int) -> int:
    text = "a"
    for _ in range(n // 10):
        text = text + text
    return len(text)


@ts.jit.script
def padded_text(n: int) -> int:
    return len("a".ljust(n * 1000)) + len("b".zfill(n * 1000))


@ts.jit.script
def replaced_text(n: int) -> int:
    return len("a".ljust(n, "a").replace("a", "b".ljust(n)))


@ts.jit.script
def formatted_text(n: int) -> int:
    return len("{:500d}".format(n)) + len(("a" + "b").center(n * 1000))


@ts.jit.script
def texts(n: int) -> int:
    results: List[str] = []
    for i in range(n):
        results.append(str(i).zfill(3000))
    return len(results)


@ts.jit.script
def appended(n: int) -> int:
    xs: List[int] = []
    for i in range(n * 100):
        xs.append(i)
    return len(xs)


@ts.jit.script
def doubled_list(n: int) -> int:
    xs = [1]
    for _ in range(n // 12):
        xs = xs + xs
    return len(xs)


@ts.jit.script
def lists(n: int) -> int:
    results: List[List[int]] = []
    for i in range(n * 10):
        results.append([i])
    return len(results)


@ts.jit.script
def a_dict(n: int) -> int:
    xs: Dict[int, float] = {}
    for i in range(n * 10):
        xs[i] = 1.0
    return len(xs)


@ts.jit.script
def forked(n: int) -> int:
    return ts.jit.wait(ts.jit.fork(one_tensor, n))


@ts.jit.script
def generators(n: int) -> int:
    results: List[ts.Generator] = []
    for _ in range(n):
        results.append(ts.Generator())
    return len(results)


@ts.jit.script
def short_texts(n: int) -> int:
    results: List[str] = []
    for i in range(n * 50):
        results.append(str(i))
    return len(results)


@ts.jit.script
def complex_numbers(n: int) -> int:
    results: List[complex] = []
    for i in range(n * 50):
        results.append(complex(i, i))
    return len(results)


@ts.jit.script
def chosen(n: int) -> int:
    return ts.combinations(ts.arange(n // 10), 3).numel()


@ts.jit.script
def mapped_text(n: int) -> int:
    return len("ß".ljust(n * 100, "ß").upper())


@ts.jit.script
def wide_text(n: int) -> int:
    return len("a".ljust(n * 300, "\U0001f600"))


@ts.jit.script
def text_of_nest(n: int) -> int:
    nest: Any = (1, 2)
    for _ in range(n // 12):
        nest = (nest, nest)
    return len(str(nest))


@ts.jit.script
def programs(n: int) -> int:
    futures: List[ts.jit.Future[int]] = []
    for i in range(n // 5):
        futures.append(ts.jit.fork(one_tensor, 0))
    return len(futures)


@ts.jit.script
def temporary(n: int) -> int:
    total = 0
    for i in range(n):
        xs = [i, i]
        counts = {i: i}
        x = ts.zeros([100 + i % 2])
        total += len(xs) + len(counts) + x.numel() + len(str(i).zfill(100))
    return total


GREEDY = (
    one_tensor, tensors, padded_text, replaced_text, formatted_text, appended, doubled_list, lists, a_dict,
    forked, chosen,
)  # fmt: skip
BY_MEMORY_TAKEN = (doubled_text, texts, generators, short_texts, complex_numbers, mapped_text, wide_text)


def test_strings_in_freed_memory():
    """Strings count against the memory limit even in reused memory."""
    before = [str(i).zfill(3000) for i in range(10000)]
    between = before[::50]
    del before
    with ts.limits(bytes=MEGABYTE), pytest.raises(MemoryExceeded, match="more memory than"):
        texts(3000)
    assert len(between) == 200


@usual_memory
@pytest.mark.parametrize("function", BY_MEMORY_TAKEN, ids=lambda f: f.name)
@in_a_fresh_process
def test_memory_limit_of_process_memory(function):
    """Operators whose results would exceed the limit of process memory are rejected."""
    function(10)  # compiles the function and imports its modules
    test_memory_limit_of_operators(function)


@pytest.mark.parametrize("function", GREEDY, ids=lambda f: f.name)
def test_memory_limit_of_operators(function):
    """Small inputs fit in a limit of one megabyte, large inputs raise `MemoryExceeded`; without limits large
    inputs run."""
    with ts.limits(bytes=MEGABYTE):
        assert function(100) > 0
        with pytest.raises(MemoryExceeded, match="more memory than"):
            function(3000)
        assert function(100) > 0
    assert function(200) > 0


def test_pending_tasks_count():
    """Pending tasks count against the memory limit, since each has a frame."""
    with ts.limits(bytes=MEGABYTE):
        assert programs(100) == 20
    with ts.limits(bytes=MEGABYTE), pytest.raises(MemoryExceeded):
        programs(100_000)


@usual_memory
@in_a_fresh_process
def test_results_and_texts_count():
    """The Python values of a program's results, and the texts of containers with shared elements, count
    against the limit."""

    @ts.jit.script
    def numbers(n: int) -> List[List[int]]:
        rows: List[List[int]] = []
        for i in range(n):
            rows.append([1000 + i, 2000 + i])
        return rows

    with ts.limits(bytes=3 * MEGABYTE):
        assert len(numbers(1000)) == 1000
        with pytest.raises(MemoryExceeded):
            numbers(25_000)
        with pytest.raises(MemoryExceeded):
            text_of_nest(300)


@usual_memory
def test_freed_memory_can_be_reused():
    """Released memory can be allocated again: the total may exceed the limit many times."""
    expected = temporary(20_000)
    with ts.limits(bytes=MEGABYTE):
        assert temporary(20_000) == expected


def test_inner_limits_cannot_exceed_outer_limits():
    """Memory counts against all enclosing limits; the outer limit is restored when the inner block ends."""
    with ts.limits(bytes=MEGABYTE):
        with ts.limits(bytes=100 * MEGABYTE), pytest.raises(MemoryExceeded):
            one_tensor(1000)
        with ts.limits(bytes=1000), pytest.raises(MemoryExceeded):
            one_tensor(100)
        assert one_tensor(100) == 100_000
    assert one_tensor(1000) == 1_000_000


def test_numpy_allocator_is_restored():
    """NumPy arrays are counted inside of the block only, and can outlive it."""
    name = np._core.multiarray.get_handler_name
    before = name()
    with ts.limits(bytes=MEGABYTE):
        array = np.zeros(1000)
        assert name() != before
        with ts.limits(fuel=10):
            assert name() != before
    assert name() == before
    del array
    with ts.limits(fuel=10):
        assert name() == before


def test_fuel_of_operators():
    """The fuel of an operator on objects is 16, of an iteration 1, of arithmetic 0."""

    @ts.jit.script
    def turns(n: int) -> int:
        total = 0
        for i in range(n):
            total += i * i
        return total

    @ts.jit.script
    def operators(n: int) -> int:
        total = 0
        for i in range(n):
            total += len(str(i))
        return total

    with ts.limits(fuel=5000):
        assert turns(4000) > 0
    with ts.limits(fuel=5000), pytest.raises(FuelExceeded):
        turns(6000)
    with ts.limits(fuel=5000), pytest.raises(FuelExceeded):
        operators(400)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"fuel": "x"}, TypeError, "fuel must be an int, not str"),
        ({"bytes": 1.5}, TypeError, "bytes must be an int, not float"),
        ({"depth": True}, TypeError, "depth must be an int, not bool"),
        ({"seconds": "1"}, TypeError, "seconds must be a number, not str"),
        ({"seconds": float("nan")}, ValueError, "seconds must not be negative"),
        ({"fuel": -1}, ValueError, "fuel must not be negative, got -1"),
        ({"bytes": "64 apples"}, ValueError, "bytes: '64 apples' is not a number of bytes, such as 4096, 512M or 1.5G"),
        ({"bytes": "-1"}, ValueError, "'-1' is not a number of bytes"),
    ],
)
def test_invalid_arguments(arguments, kind, message):
    with pytest.raises(kind, match=message):
        ts.limits(**arguments)


SIZES = {"4096": 4096, "512k": 1 << 19, "1 MiB": MEGABYTE, "1.5gb": 3 << 29, "2T": 2 << 40}


def test_sizes_with_unit_suffixes():
    """Sizes with unit suffixes are accepted in Python as on the command line."""
    for text, size in SIZES.items():
        assert bytes_in(text) == limit_options.size(text) == size
    with ts.limits(bytes="1M"):
        ts.zeros(MEGABYTE // 2, dtype=ts.int8)
        with pytest.raises(MemoryExceeded):
            ts.zeros(MEGABYTE + 1, dtype=ts.int8)


# ---------------------------------------------------------------- operators called from Python


def spread(n: int, dtype: Any = ts.float32) -> ts.Tensor:
    return ts.zeros(1, dtype=dtype).expand(n)


@pytest.mark.parametrize("call", [
    lambda: ts.zeros(MEGABYTE), lambda: spread(MEGABYTE) + 1, lambda: spread(MEGABYTE).contiguous(),
    lambda: ts.cat([spread(MEGABYTE), spread(MEGABYTE)]), lambda: ts.ones(1000, 1) + ts.ones(1000),
    lambda: ts.ops.aten.cat([spread(MEGABYTE)]),
], ids=["zeros", "add", "contiguous", "cat", "broadcast", "ops"])  # fmt: skip
def test_eager_allocations_raise_memory_exceeded(call):
    with ts.limits(bytes=MEGABYTE):
        with pytest.raises(MemoryExceeded, match="more memory than"):
            call()
        assert ts.zeros(10).numel() == 10


def test_numpy_memory_error_becomes_memory_exceeded():
    """A MemoryError of NumPy outside of operators becomes `MemoryExceeded` at the end of the limits block."""
    with pytest.raises(MemoryExceeded), ts.limits(bytes=MEGABYTE):
        np.zeros(2 * MEGABYTE)
    with pytest.raises(MemoryError), ts.limits(bytes=MEGABYTE):
        raise MemoryError
    with pytest.raises(ZeroDivisionError), ts.limits(bytes=MEGABYTE):
        np.ones(0) / (1 // 0)


def nap(xp, x):
    time.sleep(0.2)
    return x + 1


def test_the_last_operator_ends_in_time_or_fails():
    """An operator that exceeds its time limit raises `TimeExceeded` when it returns, even as the last
    operation of the block."""
    operator = Operator("aten::nap(Tensor x) -> Tensor", OperatorRecord("aten::nap(Tensor x) -> Tensor", nap, "unary"))
    with ts.limits(seconds=100):
        assert operator(ts.zeros(2)).tolist() == [1, 1]
    with pytest.raises(TimeExceeded, match="took more time"), ts.limits(seconds=0.1):
        operator(ts.zeros(2))


# ---------------------------------------------------------------- error messages


@ts.jit.script
def count(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


@ts.jit.script
def recurse(n: int) -> int:
    if n == 0:
        return 0
    return recurse(n - 1) + 1


@ts.jit.script
def forked_count(n: int) -> int:
    first = ts.jit.fork(count, n)
    second = ts.jit.fork(count, n)
    return ts.jit.wait(first) + ts.jit.wait(second)


class Counter(ts.nn.Module):
    def forward(self, n: int) -> int:
        total = 0
        for i in range(n):
            total += i * 3  # only the original source has this comment
        return total


def fuel_figures(message):
    """Return (limit, used) in the message of a FuelExceeded."""
    match = re.match(r"the program used more fuel than ts.limits\(fuel=(\d+)\) allows: (\d+) units were used", message)
    assert match, message
    return int(match[1]), int(match[2])


def time_figures(message):
    """Return (limit, used) in seconds in the message of a TimeExceeded."""
    pattern = r"the program took more time than ts.limits\(seconds=([\d.e+-]+)\) allows: ([\d.e+-]+) seconds have passed"
    match = re.match(pattern, message)
    assert match, message
    return float(match[1]), float(match[2])


def memory_figures(message):
    """Return (limit, in use, requested) in bytes in the message of a MemoryExceeded."""
    match = re.match(
        r"the program used more memory than ts.limits\(bytes=(\d+)\) allows: (\d+) bytes were in use"
        r"(?: and (\d+) more were requested)?$",
        message,
    )
    assert match, message
    return int(match[1]), int(match[2]), int(match[3] or 0)


def limit_error(call, **limits):
    """Return the error of a call within limits."""
    with pytest.raises(LimitExceeded) as caught, ts.limits(**limits):
        call()
    return caught.value


def test_errors_contain_limit_and_use():
    limit, used = fuel_figures(limit_error(lambda: count(10**9), fuel=5000).message)
    assert limit == 5000 and 5000 <= used < 5100
    limit, used = fuel_figures(limit_error(lambda: texts(10**6), fuel=5000).message)
    assert limit == 5000 and 5000 <= used < 5100  # an operator costs 16
    assert fuel_figures(limit_error(lambda: recurse(1), fuel=0).message)[0] == 0
    limit, used = time_figures(limit_error(lambda: count(10**12), seconds=0.05).message)
    assert limit == 0.05 and used >= 0.05
    for call in (lambda: appended(10**6), lambda: one_tensor(3000), lambda: ts.zeros(3_000_000)):
        limit, used, requested = memory_figures(limit_error(call, bytes=MEGABYTE).message)
        assert limit == MEGABYTE and used <= MEGABYTE < used + requested
    error = limit_error(lambda: ts.zeros(3_000_000), bytes="1M")
    limit, used, requested = memory_figures(error.message)
    assert limit == MEGABYTE and used < 1000 and requested == 12_000_000
    error = limit_error(lambda: recurse(1000), depth=100)
    assert isinstance(error, StackExceeded)
    assert error.message.startswith("more than the 100 nested calls that ts.limits(depth=100) allows: ")
    with pytest.raises(StackExceeded, match=r"the 65536 nested calls that the interpreter allows"):
        recurse(10**6)


def test_error_of_an_estimate_contains_the_remaining_time():
    x = ts.zeros(1, 1).expand(10**6, 10**6)
    message = limit_error(lambda: x @ x, seconds=5).message
    pattern = r"takes at least \d+ seconds: ts.limits\(seconds=5\) leaves ([\d.]+) seconds after ([\d.e-]+) seconds$"
    left, used = map(float, re.search(pattern, message).groups())
    assert abs(left + used - 5) < 0.01


@pytest.mark.parametrize("inner, outer", [(10**12, 3000), (3000, 10**12)], ids=["outer", "inner"])
def test_errors_name_the_limit_that_was_reached_first(inner, outer):
    with ts.limits(fuel=outer):
        assert fuel_figures(limit_error(lambda: count(10**9), fuel=inner).message)[0] == 3000
    with ts.limits(bytes=outer):
        assert memory_figures(limit_error(lambda: ts.zeros(10**6), bytes=inner).message)[0] == 3000
    with ts.limits(seconds=outer / 60_000):
        assert time_figures(limit_error(lambda: count(10**13), seconds=inner / 60_000).message)[0] == 0.05
    with ts.limits(depth=outer):
        assert "ts.limits(depth=3000)" in limit_error(lambda: recurse(10**6), depth=inner).message


def test_inner_fuel_counts_in_the_outer_block():
    with ts.limits(fuel=5000):
        with ts.limits(fuel=4000):
            count(3000)
        limit, used = fuel_figures(limit_error(lambda: count(3000), fuel=4000).message)
    assert limit == 5000 and 5000 <= used < 5100


def test_each_thread_reports_its_own_limit():
    errors = {}

    def run(i):
        errors[i] = limit_error(lambda: count(10**9), fuel=1000 * i), limit_error(lambda: appended(10**6), bytes=i << 16)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, (fuel, memory) in errors.items():
        assert fuel_figures(fuel.message)[0] == 1000 * i
        assert memory_figures(memory.message)[0] == i << 16


def test_forked_tasks_report_the_limit_that_they_share():
    limit, used = fuel_figures(limit_error(lambda: forked_count(10**9), fuel=20_000).message)
    assert limit == 20_000 and 20_000 <= used < 40_000
    assert time_figures(limit_error(lambda: forked_count(10**12), seconds=0.05).message)[0] == 0.05
    assert memory_figures(limit_error(lambda: forked(3000), bytes=MEGABYTE).message)[0] == MEGABYTE
    assert memory_figures(limit_error(lambda: programs(100_000), bytes=MEGABYTE).message)[0] == MEGABYTE


@pytest.mark.parametrize("limits", [{"fuel": 1000}, {"seconds": 0.05}], ids=["fuel", "seconds"])
def test_errors_of_archives_show_the_original_source(limits):
    file = io.BytesIO()
    ts.jit.save(ts.jit.script(Counter()), file)
    loaded = ts.jit.load(io.BytesIO(file.getvalue()))
    text = str(limit_error(lambda: loaded(10**12), **limits))
    assert "test_limits.py" in text and "# only the original source has this comment" in text
    assert "code/__torch__" not in text and "torch.mul" not in text


def test_archives_load_within_limits_with_figures():
    file = io.BytesIO()
    ts.jit.save(ts.jit.script(ts.nn.Linear(1000, 1000)), file)
    with pytest.raises(MemoryExceeded) as caught:
        ts.jit.load(io.BytesIO(file.getvalue()), limits=ts.limits(bytes=MEGABYTE))
    assert memory_figures(caught.value.message)[0] == MEGABYTE


def test_a_limits_object_can_be_entered_again():
    """A limits object can be entered repeatedly; each block counts from zero."""
    limits = ts.limits(fuel=3000)
    for _ in range(2):
        with limits:
            count(2000)
    with pytest.raises(FuelExceeded) as caught, limits:
        count(10**9)
    assert fuel_figures(caught.value.message)[1] < 3100


def test_tensors_on_the_meta_device_take_no_time():
    """`empty`, `zeros` and `rand` of any size start within a limit; compiling a derivative creates such tensors, too."""
    with ts.limits(seconds=1):
        for create in (ts.empty, ts.zeros, ts.rand):
            assert create(10**6, 10**6, device="meta").shape == (10**6, 10**6)
    with pytest.raises(TimeExceeded), ts.limits(seconds=1):
        ts.rand(10**6, 10**5)
