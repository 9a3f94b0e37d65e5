"""Dictionaries equal Python's for keys with equal lengths, hashes and hash groups."""

import random
from typing import Dict, List, Optional

import pytest

from tests.jit_helpers import fresh, native, needs_llvm, outcome_of_copies, outcomes_when_left

TEXTS = [
    *("", "\0", "\0\0", "a", "a\0", "\0a", "ab", "ba", "abcdef", "abcdefg", "abcdefgh", "abcdefg\0", "abcdefghijklmnopq"),
    *("abcdefghijklmnopr", "\x7f" * 7, "\x7f" * 8, "é", "éa", "aé", "abcdefé", "€", "日本", "日本語日本語日本", "😀", "a😀"),
]
INTS = [
    *range(-20, 40),
    *(k << 3 for k in range(60)),  # the same position within each group
    *(k << 20 for k in range(60)),  # the same position in any table
    *(k << 32 for k in range(1, 60)),  # equal lower halves
    *(k * ((1 << 32) + 1) for k in range(60)),  # halves that cancel in the hash
    *(-(2**63), 2**63 - 1),
]
FLOATS = [0.0, 1.0, -1.0, 0.5, 1e300, -1e-300, float("inf"), *(2.0**k for k in range(-40, 40))]


def edit_texts(keys: List[str], steps: List[int], d: Dict[str, int]) -> List[int]:
    seen: List[int] = []
    for i in range(len(keys)):
        key = keys[i]
        step = steps[i]
        if step == 0:
            if key in d:
                d[key] += 1
            else:
                d[key] = 1
        elif step == 1:
            d[key] = d.get(key, 7) + 1
        elif step == 2 and key in d:
            del d[key]
        elif step == 3:
            seen.append(d.setdefault(key, i))
        else:
            result = d.get(key)
            seen.append(-1 if result is None else result)
    for key in d:
        seen.append(d[key])
    return seen


def edit_ints(keys: List[int], steps: List[int], d: Dict[int, float]) -> List[float]:
    seen: List[float] = []
    for i in range(len(keys)):
        key = keys[i]
        step = steps[i]
        if step == 0:
            if key in d:
                d[key] += 1.0
            else:
                d[key] = 1.0
        elif step == 1:
            d[key] = d.get(key, 7.0) + 1.0
        elif step == 2 and key in d:
            del d[key]
        elif step == 3:
            seen.append(d.setdefault(key, 0.5))
        else:
            result = d.get(key)
            seen.append(-1.0 if result is None else result)
    for key in d:
        seen.append(d[key])
    return seen


def edit_floats(keys: List[float], steps: List[int], d: Dict[float, bool]) -> List[bool]:
    seen: List[bool] = []
    for i in range(len(keys)):
        key = keys[i]
        step = steps[i]
        if step == 0:
            if key in d:
                d[key] = not d[key]
            else:
                d[key] = True
        elif step == 1:
            d[key] = not d.get(key, False)
        elif step == 2 and key in d:
            del d[key]
        else:
            seen.append(d.get(key, True))
    for key in d:
        seen.append(d[key])
    return seen


CASES = [(edit_texts, TEXTS), (edit_ints, INTS), (edit_floats, FLOATS)]


def calls(pool, seed, length):
    chosen = random.Random(seed)
    keys = chosen.choices(pool, k=length)
    if isinstance(pool[0], str):
        keys = ["".join([*key]) for key in keys]  # equal strings that are separate objects
    return keys, [chosen.randrange(5) for _ in keys], {}


@pytest.mark.parametrize(("function", "pool"), CASES)
def test_edits_are_pythons(function, pool):
    scripted = fresh(function)
    for seed in range(20):
        arguments = calls(pool, seed, 1 + 40 * seed)
        assert outcome_of_copies(scripted, arguments)[:2] == outcome_of_copies(function, arguments)[:2]


@needs_llvm
@pytest.mark.parametrize(("function", "pool"), CASES)
def test_dict_edits_after_side_exits(function, pool):
    arguments = calls(pool, 1, 60)
    expected = outcome_of_copies(function, arguments)[:2]
    assert outcome_of_copies(native(function), arguments)[:2] == expected
    for actual in outcomes_when_left(native(function, forced=True), arguments):
        assert actual[:2] == expected


def count(keys: List[str], limit: int) -> List[int]:
    d: Dict[str, int] = {"a": 1, "abcdefghij": 2}
    done = 0
    for key in keys:
        if done < limit:
            d[key] += 1
        done += 1
    return [d["a"], d["abcdefghij"]]


def test_missing_key_raises_at_the_read():
    """The superinstruction for `d[key] += n` raises the KeyError of its read."""
    scripted = fresh(count)
    keys = ["a", "abcdefghij", "a", "b", "a"]
    assert scripted(keys, 3) == count(keys, 3)
    kind, text, _ = outcome_of_copies(scripted, (keys, 4))
    assert kind is RuntimeError and "KeyError: b" in text and "d[key] += 1" in text


def first_or(d: Dict[str, List[int]], key: str, other: List[int]) -> List[int]:
    return d.get(key, other)


def maybe(d: Dict[str, Optional[int]], key: str, other: Optional[int]) -> Optional[int]:
    return d.get(key, other)


def test_defaults_are_not_copied():
    """`get` returns the stored list or the given default object, not a copy."""
    scripted = fresh(first_or)
    assert scripted({"a": [1]}, "a", [2]) == [1]
    assert scripted({"a": [1]}, "b", [2]) == [2]
    optional = fresh(maybe)
    assert [optional({"a": None, "b": 3}, key, 4) for key in ("a", "b", "c")] == [None, 3, 4]


def test_cached_key_position_is_invalidated():
    """The cached position of the last key is invalid after the table has grown."""

    def grow(n: int) -> List[int]:
        d: Dict[str, int] = {}
        d["key"] = 1
        seen: List[int] = []
        for i in range(n):
            d["key"] += 1
            d[str(i)] = i
            seen.append(d["key"])
        del d["key"]
        d["key"] = 5
        d.clear()
        d["key"] = 6
        seen.append(d["key"])
        return seen

    assert fresh(grow)(3000) == grow(3000)
