"""Lists and dictionaries that Python code and scripts share: `ts.jit.script([1])`, `ts.jit.script({"a": 1})`."""

import copy
import gc
import threading
import weakref
from typing import Dict, List

import pytest

import ts


@ts.jit.script
def append(x: List[int], v: int) -> List[int]:
    x.append(v)
    return x


@ts.jit.script
def assign(x: Dict[str, int], key: str, v: int) -> int:
    x[key] = v
    return len(x)


@ts.jit.script
def append_float(x: List[float], v: float) -> List[float]:
    x.append(v)
    return x


def test_scripts_and_python_change_the_same_list():
    x = ts.jit.script([1, 2])
    result = append(x, 3)
    x.append(4)
    assert list(x) == [1, 2, 3, 4]
    assert type(result) is list and result == [1, 2, 3]
    assert append(x, 5) == [1, 2, 3, 4, 5] and x[-1] == 5


def test_scripts_and_python_change_the_same_dict():
    x = ts.jit.script({"a": 1})
    assert assign(x, "b", 2) == 2
    x["c"] = 3
    assert dict(x) == {"a": 1, "b": 2, "c": 3} and assign(x, "a", 7) == 3 and x["a"] == 7
    del x["b"]
    assert list(x.items()) == [("a", 7), ("c", 3)]


def test_shared_list_inside_of_python_containers():
    @ts.jit.script
    def first(x: Dict[str, List[int]]) -> int:
        x["a"].append(5)
        return len(x["a"])

    x = ts.jit.script([1])
    assert first({"a": x}) == 2 and list(x) == [1, 5]


def test_list_of_another_type_is_rejected():
    x = ts.jit.script([1])
    with pytest.raises(RuntimeError, match=r"Unable to cast a value of type List\[int\] to List\[float\]"):
        append_float(x, 1.5)
    assert list(x) == [1]


def test_empty_list_takes_the_type_of_the_first_script():
    x = ts.jit.script([])
    assert append(x, 5) == [5] and list(x) == [5]
    with pytest.raises(RuntimeError, match="Unable to cast"):
        append_float(x, 1.5)


def test_empty_list_in_another_list_keeps_its_type():
    """A change of the type would let scripts read floats as items of the outer List[List[int]]."""
    outer, x = ts.jit.script([[1]]), ts.jit.script([2])
    outer.append(x)
    x.clear()
    with pytest.raises(RuntimeError, match="Unable to cast"):
        append_float(x, 1.5)
    assert append(x, 3) == [3] and list(outer) == [[1], [3]]


def test_insert_and_slices_at_all_positions():
    for items in ([1, 2, 3], ["a", "b", "c"], [1.5, 2.5, 3.5], [True, False, True], [[1], [2], [3]]):
        for i in range(-3, 4):
            x, expected = ts.jit.script(items), list(items)
            x.insert(i, items[0])
            expected.insert(i, items[0])
            assert list(x) == expected
            assert list(x[i:]) == expected[i:] and list(x[::-2]) == expected[::-2]
            x[1:3] = expected[0:2]
            expected[1:3] = expected[0:2]
            assert list(x) == expected


def test_failed_operations_change_nothing():
    x = ts.jit.script([1, 2])
    for fails in (
        lambda: x.append("a"), lambda: x.extend([3, "a"]), lambda: x.insert(9, 1), lambda: x.insert(0, "a"),
        lambda: x.pop(2), lambda: x.remove(7), lambda: x.__setitem__(slice(0, 2), [1]), lambda: x.__setitem__(0, None),
    ):  # fmt: skip
        with pytest.raises((TypeError, IndexError, ValueError, RuntimeError)):
            fails()
        assert list(x) == [1, 2]
    d = ts.jit.script({"a": 1})
    for fails in (lambda: d.__setitem__("b", "x"), lambda: d.__setitem__(1, 1), lambda: d["b"], lambda: d.__delitem__("b")):
        with pytest.raises((TypeError, KeyError)):
            fails()
        assert dict(d) == {"a": 1}


def test_iteration_during_changes_ends():
    x = ts.jit.script([1, 2, 3])
    for item in x:
        x.pop()
    assert list(x) == [1]
    d = ts.jit.script({"a": 1, "b": 2})
    for key in d:
        del d[key]
    assert len(d) == 0


def test_copies_are_independent():
    x = ts.jit.script([[1], [2]])
    for duplicate in (copy.copy(x), copy.deepcopy(x), x[:]):
        duplicate.append([3])
        assert len(x) == 2 and len(duplicate) == 3 and type(duplicate) is type(x)
    x[0].append(9)
    assert list(x) == [[1], [2]]  # an item is converted to a new Python list


def test_items_are_released():
    class Marked(ts.Tensor):
        pass

    t = ts.ones(2).as_subclass(Marked)
    x, d, alive = ts.jit.script([t, t]), ts.jit.script({"a": t}), weakref.ref(t)
    del t
    x.pop()
    x.insert(0, x[0])
    x[1] = ts.zeros(1)
    d["a"] = ts.zeros(1)
    assert alive() is not None
    x.clear()
    gc.collect()
    assert alive() is None


def test_attribute_of_a_module_needs_an_annotation():
    class Inferred(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.items = ts.jit.script([1])

        def forward(self, v: int) -> int:
            return len(self.items)

    with pytest.raises(RuntimeError, match="instead got value of type ScriptList"):
        ts.jit.script(Inferred())

    class Annotated(ts.nn.Module):
        items: List[int]

        def __init__(self):
            super().__init__()
            self.items = []

        def forward(self, v: int) -> int:
            self.items.append(v)
            return len(self.items)

    scripted, shared = ts.jit.script(Annotated()), ts.jit.script([1])
    scripted.items = shared
    assert scripted(5) == 2 and list(shared) == [1, 5]


def test_threads_share_a_list():
    x = ts.jit.script([0])
    threads = [threading.Thread(target=lambda: [append(x, 1) and x.append(2) for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(x) == 1601 and sum(x) == 2400
