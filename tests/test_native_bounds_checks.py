"""Bounds-check elimination: only loops whose indices are provably in range run without index checks."""

import random
from functools import cache
from typing import List

import pytest

import ts
from ts import Tensor
from tests.jit_helpers import fresh, native, needs_llvm, outcome_of_copies, outcomes_when_left
from ts.bytecode.native import background_compilation
from ts.bytecode.native.side_exits import find_loops
from ts.bytecode.native.bounds_check_elimination import find_hoistable_checks

pytestmark = needs_llvm


def dot(xs: List[float], ys: List[float], n: int) -> float:
    s = 0.0
    for i in range(n):
        s += xs[i] * ys[i]
    return s


def product(xs: List[int], ys: List[int], n: int) -> List[int]:
    zs = [0] * (n * n)
    for i in range(n):
        for j in range(n):
            s = 0
            for k in range(n):
                s += xs[i * n + k] * ys[k * n + j]
            zs[i * n + j] = s
    return zs


def falling(xs: List[int], first: int, n: int) -> int:
    s = 0
    for i in range(n):
        s = 3 * s + xs[first - i]
    return s


def downwards(xs: List[int], first: int, last: int) -> int:
    s = 0
    for i in range(first, last, -1):
        s = 3 * s + xs[i]
    return s


def strided(xs: List[int], first: int, step: int, n: int) -> int:
    s = 0
    for i in range(n):
        xs[first + i * step] += 1
        s = 3 * s + xs[i * step + first]
    return s


def one_place(xs: List[int], at: int, n: int) -> int:
    for i in range(n):
        xs[at] += i
    return xs[0]


def neighbours(xs: List[float], n: int) -> List[float]:
    for i in range(1, n):
        xs[i] = 0.5 * (xs[i - 1] + xs[i])
    return xs


def where_even(xs: List[int], n: int) -> int:
    s = 0
    for i in range(n):
        if i % 2 == 0:
            s = 3 * s + xs[i]
    return s


def chosen(xs: List[int], n: int, far: int) -> int:
    """Index by either of two affine expressions."""
    s = 0
    for i in range(n):
        k = i
        if i % 3 == 0:
            k = far
        s = 3 * s + xs[k]
        k = i + 1
        s += xs[k]
    return s


def carried(xs: List[int], n: int) -> int:
    """Index by a value of the previous iteration."""
    s, k = 0, 0
    for i in range(n):
        s = 3 * s + xs[k]
        k = i * 2
    return s


def growing(xs: List[int], n: int) -> int:
    s = 0
    for i in range(n):
        s += xs[i]
        xs.append(s)
    return s


def shrinking(xs: List[int], n: int) -> int:
    s = 0
    for i in range(n):
        s += xs[i]
        xs.pop()
    return s


def between(xs: List[int], n: int) -> int:
    """Change the list's length before the inner loop."""
    s = 0
    for i in range(n):
        for k in range(n):
            s = 3 * s + xs[k]
        xs.pop()
    return s


def exchanged(xs: List[int], ys: List[int], n: int) -> int:
    s = 0
    for i in range(n):
        s = 3 * s + xs[i]
        xs, ys = ys, xs
    return s


def written_to_itself(xs: List[int], n: int) -> List[int]:
    ys = xs
    for i in range(n):
        xs[i] = ys[n - 1 - i] + i
    return ys


def stopped(xs: List[int], n: int) -> int:
    s = 0
    for i in range(n):
        s += xs[i]
        if s > 20:
            raise ValueError(str(s))
        if s == 20:
            return i
    return s


def far(xs: List[int], by: int, n: int) -> int:
    """Index by products and sums that overflow."""
    s = 0
    for i in range(n):
        s = 3 * s + xs[i * by - i * by + i] + xs[by * i + 1 - by * i]
    return s


def wrapped(xs: List[int], by: int, n: int) -> int:
    s = 0
    for i in range(n):
        s = 3 * s + xs[by * i]
    return s


NUMBERS = [3, -1, 4, 1, -5, 9, 2, 6]
HALVES = [x / 2 for x in NUMBERS]
INT64_MAX = 2**63 - 1
VECTOR = ts.tensor(HALVES, dtype=ts.float64)
SINGLE = ts.tensor(HALVES)
MATRIX = ts.tensor(HALVES + [0.1, 0.2, 0.3, 0.4], dtype=ts.float64).view(3, 4)

def again(xs: List[int], first: int, by: int, step: int, n: int) -> int:
    """Enter the inner loop in machine code in its second execution, at another index."""
    s = 0
    for r in range(3):
        for i in range(n):
            s = 3 * s + xs[first + r * by + step * i]
    return s


def again_with_tensors(x: Tensor, first: int, by: int, step: int, n: int) -> float:
    s = 0.0
    for r in range(3):
        for i in range(n):
            x[first + r * by + step * i] += 1
            s += float(x[first + r * by + step * i])
    return s


def dot_of_tensors(x: Tensor, y: Tensor, n: int) -> float:
    s = 0.0
    for i in range(n):
        s += float(x[i]) * float(y[i])
    return s


def matrix_product(a: Tensor, b: Tensor, c: Tensor):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(b.shape[0]):
                s += float(a[i, k]) * float(b[k, j])
            c[i, j] = s


def relaxation(a: Tensor, n: int):
    for i in range(1, a.size(0) - 1):
        for j in range(1, n):
            a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def from_the_end(x: Tensor, first: int, n: int):
    for i in range(n):
        x[first - i] = x[first - i] + i


def across(x: Tensor, by: int, n: int):
    for i in range(n):
        x[by * i] *= 2


def counts(x: Tensor, places: Tensor, n: int):
    for i in range(n):
        x[int(places[i])] += 1


def some(x: Tensor, n: int) -> float:
    s = 0.0
    for i in range(n):
        if i % 2 == 0:
            s = 3 * s + float(x[i])
            x[i] = s
    return s


def two_kinds(x: Tensor, xs: List[float], n: int):
    for i in range(n):
        xs[i] = xs[i] + float(x[i])
        x[n - 1 - i] = xs[i]


def itself(x: Tensor, n: int):
    y = x[1:]
    for i in range(n):
        y[i] = x[i] + y[i]


def marks(xs: List[int], first: int, last: int, step: int) -> List[int]:
    for r in range(2):
        for i in range(first + r, last, step):
            xs[i] += r + 1
    return xs


def while_below(xs: List[int], i: int, n: int, step: int) -> int:
    s = 0
    while i < n:
        s = 3 * s + xs[i]
        i += step
    return s + i


def while_not_above(xs: List[int], i: int, n: int) -> int:
    s = 0
    for r in range(2):
        k = i
        while k <= n:
            k += 2
            s = 3 * s + xs[k - 2] + xs[k]
    return s


def while_above(xs: List[int], i: int, n: int, step: int) -> int:
    s = 0
    while n < i:
        s = 3 * s + xs[i]
        i -= step
    return s


def while_not_below(xs: List[int], i: int, n: int) -> int:
    s = 0
    for r in range(2):
        k = i
        while k >= n:
            s = 3 * s + xs[k]
            k -= 3
    return s


def sometimes(xs: List[int], n: int) -> int:
    """Increment the index in some iterations only."""
    s, i = 0, 0
    while i < n:
        s = 3 * s + xs[i]
        if s % 2 == 0:
            i += 1
        i += 1
    return s


def skipped(xs: List[int], n: int) -> int:
    s, i, turns = 0, 0, 0
    while i < n:
        s = 3 * s + xs[i]
        turns += 1
        if turns % 3 != 0:
            i += 1
    return s


def faster(xs: List[int], n: int) -> int:
    """Change the increment in the loop."""
    s, i, step = 0, 0, 1
    while i < n:
        s = 3 * s + xs[i]
        i += step
        step += 1
    return s


def every_other(x: Tensor, n: int) -> float:
    s, i = 0.0, 0
    while i < n:
        s += float(x[i])
        x[i + 1] = s
        i += 2
    return s


STEPS = [(0, 8, 1), (0, 8, 2), (0, 9, 3), (1, 8, 3), (0, 10, 2), (2, 8, 7), (5, 5, 1), (6, 3, 1), (-8, 0, 2), (-9, 0, 1)]
FAR = [(0, INT64_MAX, 2**61), (0, INT64_MAX, INT64_MAX), (INT64_MAX - 1, INT64_MAX, 5), (-(2**63), 0, 2**62), (-(2**63), INT64_MAX, INT64_MAX)]
AGAIN = [(0, 2, 1, 4), (0, 2, 1, 5), (7, -2, -1, 4), (7, -2, -1, 5), (5, 1, -1, 6), (6, 1, -1, 6), (2, -1, 1, 6), (1, -1, 1, 6)]

# By program: whether an unchecked version of the loop is created, and arguments.
CASES = {
    dot: (True, [(HALVES, HALVES, n) for n in (0, 1, 7, 8, 9)] + [(HALVES, HALVES[:3], 8), ([], HALVES, 1)]),
    product: (True, [(NUMBERS, NUMBERS[::-1], n) for n in (0, 1, 2, 3)] + [(NUMBERS, NUMBERS + [7], 3)]),
    falling: (True, [(NUMBERS, first, n) for first, n in ((7, 8), (6, 8), (7, 9), (3, 9), (8, 2), (-1, 8), (-1, 9))]),
    downwards: (True, [(NUMBERS, a, b) for a, b in ((7, -1), (7, 3), (8, -1), (7, -9), (7, -10), (0, 4), (-1, -9))]),
    strided: (
        True,
        [(NUMBERS, *how) for how in ((0, 1, 8), (0, 2, 4), (1, 2, 4), (1, 2, 5), (7, -1, 8), (7, -1, 9), (-1, 0, 3))]
        + [(NUMBERS, *how) for how in ((0, INT64_MAX, 2), (0, 2**62, 5), (-(2**63), 1, 2), (INT64_MAX, 1, 2), (0, 2**61, 9))],
    ),
    one_place: (True, [(NUMBERS, at, n) for at in (0, 7, -1, -8) for n in (0, 4)] + [(NUMBERS, 8, 0), (NUMBERS, 8, 4)]),
    neighbours: (True, [(HALVES, n) for n in (0, 1, 2, 8, 9)]),
    where_even: (True, [(NUMBERS, n) for n in (7, 8, 9, 10)] + [(NUMBERS[:7], 8)]),
    chosen: (True, [(NUMBERS, 7, k) for k in (7, 8, -3, -9)] + [(NUMBERS, 8, 1)]),
    carried: (False, [(NUMBERS, n) for n in (4, 5, 6)]),
    growing: (False, [(NUMBERS, n) for n in (8, 20)] + [([], 1)]),
    shrinking: (False, [(NUMBERS, n) for n in (4, 5)]),
    between: (True, [(NUMBERS, n) for n in (2, 4, 5)]),
    exchanged: (False, [(NUMBERS, NUMBERS[:5], n) for n in (5, 6, 7)]),
    written_to_itself: (True, [(NUMBERS, n) for n in (7, 8, 9)]),
    stopped: (False, [(NUMBERS, 8), ([20] + NUMBERS, 9), ([1, 2], 2), ([1, 2], 3), ([21], 4)]),
    far: (True, [(NUMBERS, by, n) for by, n in ((0, 7), (1, 7), (2**62, 7), (INT64_MAX, 7), (5, 8))]),
    wrapped: (True, [(NUMBERS, by, n) for by, n in ((1, 8), (2**61, 8), (2**61, 9), (-(2**63), 3), (2**62 + 1, 5))]),
    again: (True, [(NUMBERS, *how) for how in AGAIN]),
    again_with_tensors: (True, [(VECTOR, *how) for how in AGAIN]),
    marks: (True, [(NUMBERS, *how) for how in STEPS + FAR] + [(NUMBERS, 7, -2, -1), (NUMBERS, 6, -1, -3), (NUMBERS, 9, 0, -2)]),
    while_below: (True, [(NUMBERS, *how) for how in STEPS + FAR]),
    while_not_above: (True, [(NUMBERS, *how) for how in ((0, 5), (1, 5), (0, 6), (0, 7), (3, 2), (-8, -3), (-9, 0), (INT64_MAX - 2, INT64_MAX - 2))]),
    while_above: (True, [(NUMBERS, *how) for how in ((7, 0, 1), (7, -1, 1), (7, -2, 3), (8, 0, 1), (3, 3, 1), (7, -9, 1), (5, -(2**63) + 9, INT64_MAX))]),
    while_not_below: (True, [(NUMBERS, *how) for how in ((7, 0), (6, 0), (7, -8), (7, -9), (1, 2), (8, 0))]),
    sometimes: (False, [(NUMBERS, n) for n in (7, 8, 9)]),
    skipped: (False, [(NUMBERS, n) for n in (7, 8, 9)]),
    faster: (False, [(NUMBERS, n) for n in (7, 8, 11, 12)]),
    every_other: (True, [(VECTOR, n) for n in (0, 1, 7, 8, 9)]),
    dot_of_tensors: (True, [(VECTOR, VECTOR[::2], n) for n in (0, 1, 4, 5)] + [(SINGLE, SINGLE, n) for n in (8, 9)]),
    matrix_product: (
        True,
        [(MATRIX, MATRIX, ts.zeros(3, 3)), (MATRIX, MATRIX.t(), ts.zeros(4, 4)), (MATRIX.t(), MATRIX, ts.zeros(3, 4).t())],
    ),
    relaxation: (True, [(x, n) for x in (MATRIX, MATRIX.t(), MATRIX.float()) for n in (0, 2, 3)]),
    from_the_end: (True, [(VECTOR, *how) for how in ((7, 8), (7, 9), (-1, 8), (-1, 9), (8, 1), (3, 8))]),
    across: (True, [(VECTOR, by, n) for by, n in ((1, 8), (2, 4), (2, 5), (-1, 8), (2**61, 9), (2**62 + 1, 2))]),
    counts: (True, [(VECTOR, ts.tensor(places), n) for places, n in (([1, 7, 1, -8], 4), ([1, 8], 2), ([0, 3], 3))]),
    some: (True, [(VECTOR, n) for n in (7, 8, 9, 10)] + [(SINGLE[:7], 8)]),
    two_kinds: (True, [(VECTOR, HALVES, 8), (VECTOR, HALVES, 9), (VECTOR[:7], HALVES, 8), (VECTOR, HALVES[:7], 8)]),
    itself: (True, [(VECTOR, n) for n in (7, 8)]),
}  # fmt: skip
machine = cache(native)  # compilation takes longer than most runs
EACH = pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)


def hoistable_checks(code):
    return [find_hoistable_checks(code, loop, tensors=True) for loop in find_loops(code)]


@EACH
def test_loops_with_hoisted_checks(function):
    assert any(hoistable_checks(fresh(function).compiled_code)) == CASES[function][0]


@EACH
def test_results_and_errors_are_the_same(function):
    plain, fast = fresh(function), machine(function)
    for arguments in CASES[function][1]:
        assert outcome_of_copies(fast, arguments) == outcome_of_copies(plain, arguments)


@EACH
def test_side_exit_at_any_instruction(function):
    """After a side exit at any instruction and re-entry at the loop's end, outcomes are equal."""
    plain, fast = fresh(function), native(function, forced=True)
    for arguments in CASES[function][1]:
        expected = outcome_of_copies(plain, arguments)
        for number, actual in enumerate(outcomes_when_left(fast, arguments, 60)):
            assert actual == expected, (arguments, number)


def within(scripted, arguments, fuel):
    with ts.limits(fuel=fuel):
        return outcome_of_copies(scripted, arguments)


@EACH
def test_fuel_is_the_same(function):
    plain, fast = fresh(function), machine(function)
    for scripted in (plain, fast):
        scripted.compiled_code
    for arguments in CASES[function][1]:
        for fuel in range(1, 60):
            assert within(fast, arguments, fuel) == within(plain, arguments, fuel), (arguments, fuel)


@EACH
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_suspension(function, steps):
    def by_steps(scripted):
        def run(*arguments):
            program = scripted.start(*arguments)
            while not program.run(steps=steps):
                pass
            return program.future.wait()

        return run

    plain, fast = fresh(function), machine(function)
    for arguments in CASES[function][1]:
        expected, actual = outcome_of_copies(plain, arguments), outcome_of_copies(by_steps(fast), arguments)
        if isinstance(expected[0], str):
            assert actual == expected
        else:
            assert actual[0] is expected[0]  # its message contains other frames


# ---------------------------------------------------------------- random indices

def random_index(r):
    terms = ["i", "r", "a", "b", "i * a", "r * b", "i * r", "a * b", f"i * {r.randint(-3, 3)}", str(r.randint(-3, 9))]
    return " ".join([r.choice(terms)] + [f"{r.choice('+-')} {r.choice(terms)}" for _ in range(r.randint(0, 2))])


def random_statements(r):
    index, other = random_index(r), random_index(r)
    return r.choice([
        [f"s = s * 0.5 + xs[{index}]"],
        [f"xs[{index}] = s"],
        [f"if {other} > a:", f"    s += xs[{index}]"],
        [f"k = {index}", "s += xs[k]"],
        [f"if {other} < i:", f"    k = {index}", "s -= xs[k]"],
    ])


def random_source(r):
    """Return a random inner loop, entered in machine code in its second execution."""
    body = [line for _ in range(r.randint(1, 3)) for line in random_statements(r)]
    kind = r.randint(0, 2)
    if kind == 0:
        head, step = [f"for i in range({r.choice(['n', 'a', 'n - r', 'len(xs)'])}):"], []
    elif kind == 1:
        bounds = r.choice(["a", "r", "0", "n"]), r.choice(["n", "b", "-1"]), r.choice(["2", "-1", "b", "3"])
        head, step = [f"for i in range({', '.join(bounds)}):"], []
    else:
        first, relation, bound = r.choice(["a", "0", "n"]), r.choice(["<", "<=", ">", ">=", "!="]), r.choice(["n", "b", "-1"])
        head, step = [f"i = {first}", f"while i {relation} {bound}:"], [f"i {r.choice('+-')}= {r.choice(['1', '2', 'a', 'b'])}"]
    inner = body + step if r.random() < 0.5 else step + body
    lines = ["s = 0.0", "k = 0", "for r in range(3):", *(f"    {line}" for line in head), *(f"        {line}" for line in inner)]
    return "def f(xs: List[float], n: int, a: int, b: int) -> float:\n" + "".join(f"    {line}\n" for line in [*lines, "return s"])


@pytest.mark.parametrize("seed", range(10))
def test_random_indices(seed):
    r = random.Random(seed)
    source = random_source(r)
    plain, fast = (ts.jit.CompilationUnit(source).f for _ in range(2))
    plain.compiled_code
    assert background_compilation.compile_now(fast.compiled_code) == ""
    xs = [r.random() for _ in range(r.randint(1, 12))]
    for _ in range(20):
        far = r.choice([2**62, 2**63 - 1, -(2**63)]) if r.random() < 0.2 else r.randint(-2, 8)
        arguments = xs, r.randint(0, 12), far, r.randint(-3, 5)
        for fuel in (3000, r.randint(1, 60)):
            expected, actual = (within(function, arguments, fuel) for function in (plain, fast))
            assert actual == expected, (source, arguments, fuel)
