"""Unboxed lists of ints, floats and bools behave as Python lists."""

import copy
import math
import random
from typing import Any, List, Optional

import pytest

import ts
from tests.jit_helpers import native, needs_llvm, outcome_of_copies, outcomes_when_left

INF, NAN = math.inf, math.nan
VALUES = {
    int: [0, 1, -1, 2, 255, 256, -(2**63), 2**63 - 1],
    float: [0.0, 1.5, -2.25, 1e300, INF, -INF, 3.0],
    bool: [False, True],
}


def edit_ints(xs: List[int], ys: List[int], i: int, x: int) -> List[List[int]]:
    zs = xs + ys
    zs.append(x)
    zs.insert(i, x)
    zs[i] = x
    last = zs.pop(i)
    zs.reverse()
    zs.extend(ys)
    part = zs[i::2]
    part *= 2
    zs.remove(x)
    copied = zs.copy()
    zs.clear()
    zs.append(last)
    return [copied, zs, part, [x] * i, [x, last] * 3, list(ys), copied[1:-1], copied[::-1]]


def edit_floats(xs: List[float], ys: List[float], i: int, x: float) -> List[List[float]]:
    zs = xs + ys
    zs.append(x)
    zs.insert(i, x)
    zs[i] = x
    last = zs.pop(i)
    zs.reverse()
    zs.extend(ys)
    part = zs[i::2]
    part *= 2
    zs.remove(x)
    copied = zs.copy()
    zs.clear()
    zs.append(last)
    return [copied, zs, part, [x] * i, [x, last] * 3, list(ys), copied[1:-1], copied[::-1]]


def edit_bools(xs: List[bool], ys: List[bool], i: int, x: bool) -> List[List[bool]]:
    zs = xs + ys
    zs.append(x)
    zs.insert(i, x)
    zs[i] = x
    last = zs.pop(i)
    zs.reverse()
    zs.extend(ys)
    part = zs[i::2]
    part *= 2
    copied = zs.copy()
    zs.clear()
    zs.append(last)
    return [copied, zs, part, [x] * i, [x, last] * 3, list(ys), copied[1:-1], copied[::-1]]


@pytest.mark.parametrize(("edit", "kind"), [(edit_ints, int), (edit_floats, float), (edit_bools, bool)])
def test_list_mutations_equal_python(edit: Any, kind: type) -> None:
    scripted = ts.jit.script(edit)
    rng = random.Random(0)
    for _ in range(200):
        xs, ys = (rng.choices(VALUES[kind], k=rng.randrange(3, 20)) for _ in range(2))
        i, x = rng.randrange(len(xs)), rng.choice(VALUES[kind])
        expected = edit(list(xs), list(ys), i, x)
        actual = scripted(xs, ys, i, x)
        assert actual == expected
        assert [[type(item) for item in row] for row in actual] == [[kind] * len(row) for row in expected]


def ask_ints(xs: List[int], ys: List[int], x: int) -> List[int]:
    where = xs.index(x) if x in xs else -1
    return [xs.count(x), where, sum(xs), max(xs), min(xs), int(xs == ys), int(xs != ys), int(all(xs)), int(any(xs))]


def ask_floats(xs: List[float], ys: List[float], x: float) -> List[float]:
    where = float(xs.index(x)) if x in xs else -1.0
    truths = [float(xs == ys), float(xs != ys), float(all(xs)), float(any(xs))]
    return [float(xs.count(x)), where, sum(xs), max(xs), min(xs)] + truths


def ask_bools(xs: List[bool], ys: List[bool], x: bool) -> List[int]:
    return [xs.count(x), sum(xs), int(xs == ys), int(xs != ys), int(all(xs)), int(any(xs))]


@pytest.mark.parametrize(("ask", "kind"), [(ask_ints, int), (ask_floats, float), (ask_bools, bool)])
def test_list_queries_equal_python(ask: Any, kind: type) -> None:
    scripted = ts.jit.script(ask)
    rng = random.Random(1)
    for _ in range(200):
        xs = rng.choices(VALUES[kind][:6], k=rng.randrange(1, 12))
        ys = rng.choice([list(xs), rng.choices(VALUES[kind], k=len(xs)), xs[1:]])
        x = rng.choice(VALUES[kind])
        actual, expected = scripted(xs, ys, x), ask(xs, ys, x)
        if kind is int:  # sums wrap around
            actual[2], expected[2] = actual[2] % 2**64, expected[2] % 2**64
        assert repr(actual) == repr(expected)


def sort_all(
    i: List[int], x: List[float], b: List[bool], down: bool
) -> tuple[List[int], List[float], List[bool], List[float]]:
    i.sort(reverse=down)
    x.sort(reverse=down)
    b.sort(reverse=down)
    return i, x, b, sorted(x)


def test_sorting_is_stable_and_puts_nan_last() -> None:
    scripted = ts.jit.script(sort_all)
    rng = random.Random(2)
    floats = [0.0, -0.0, 1.0, -1.0, INF, -INF]
    for n in [*range(20), 100, 1000]:
        for down in (False, True):
            arguments = [rng.choices(values, k=n) for values in (range(-9, 9), floats, (False, True))]
            assert repr(scripted(*arguments, down)) == repr(sort_all(*map(list, arguments), down))
    assert repr(scripted([], [NAN, 1.0, NAN, -INF], [], False)[1]) == "[-inf, 1.0, nan, nan]"
    assert repr(scripted([], [1.0, NAN, INF], [], True)[1]) == "[nan, inf, 1.0]"


def mix(
    n: int, xs: List[Optional[int]], ys: List[int], zs: List[bool], fs: List[float]
) -> tuple[int, List[Optional[int]], List[int], List[bool], List[float]]:
    total = 0
    for i in range(n):
        xs.append(i)
        ys.append(i)
        zs.append(i % 3 == 0)
        fs.append(0.5 * i)
        x = xs[i // 2]
        if x is not None and zs[-1]:
            total += x + ys[i // 3] + int(fs[i // 2])
        zs[i // 2] = not zs[i // 2]
        ys[-2] += int(zs[i // 2])
    return total, xs, ys, zs, fs


@needs_llvm
def test_machine_code_checks_list_element_types() -> None:
    """Machine code checks the element type of a list at each append of a number."""
    arguments = (40, [None, 1], [5, 6], [True], [1.0])
    expected = outcome_of_copies(ts.jit.script(mix), arguments)
    assert expected[1] == repr(mix(*copy.deepcopy(arguments)))
    for actual in outcomes_when_left(native(mix, forced=True), arguments):
        assert actual == expected


def of_any(x: Any) -> int:
    if isinstance(x, List[int]):
        x.append(3)
        return x[0] + x[-1]
    if isinstance(x, List[bool]):
        x.append(True)
        return 10 * int(x[0]) + int(x[-1])
    if isinstance(x, List[Optional[int]]):
        x.append(4)
        return 100 * len(x)
    return -1


def test_lists_of_any_keep_their_element_type() -> None:
    scripted = ts.jit.script(of_any)
    assert [scripted([1, 2]), scripted([True, False]), scripted([1, None]), scripted([1.0])] == [4, 11, 300, -1]


def test_a_list_of_bools_takes_a_byte_for_each() -> None:
    @ts.jit.script
    def filled(n: int) -> int:
        return len([True] * n)

    with ts.limits(bytes=1 << 20):
        assert filled(900_000) == 900_000
    with pytest.raises(ts.errors.MemoryExceeded), ts.limits(bytes=1 << 20):
        filled(1 << 20)
