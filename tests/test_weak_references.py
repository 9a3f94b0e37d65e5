"""`ts.utils.weak`: weak references and mappings by the identity of tensors."""

import copy
import gc
import weakref

import pytest

import ts
from ts.utils.weak import (
    TensorWeakRef,
    WeakIdKeyDictionary,
    WeakIdRef,
    WeakRef,
    WeakTensorKeyDictionary,
    _WeakHashRef,
)


class Key:
    """An object that equals every other object."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1


def test_keys_are_compared_by_identity():
    """Equal tensors, and equal objects, are separate keys."""
    a, b = ts.ones(3), ts.ones(3)
    mapping = WeakTensorKeyDictionary({a: 1})
    mapping[b] = 2
    assert (len(mapping), mapping[a], mapping[b], a in mapping, ts.ones(3) in mapping) == (
        2,
        1,
        2,
        True,
        False,
    )
    x, y = Key(), Key()
    assert len(WeakIdKeyDictionary([(x, 1), (y, 2)])) == 2
    assert len(WeakIdKeyDictionary([(x, 1), (y, 2)], ref_type=_WeakHashRef)) == 1


def test_entries_of_freed_keys_are_removed():
    """Entries of freed keys are removed, after the end of a running iteration."""
    keys = [ts.ones(1) for _ in range(3)]
    mapping = WeakIdKeyDictionary(zip(keys, range(3)))
    keys.pop()
    gc.collect()
    assert list(mapping.values()) == [0, 1] and len(mapping.keyrefs()) == 2
    seen = []
    for key, value in mapping.items():
        seen.append(value)
        del key
        keys.clear()
        gc.collect()
    assert seen == [0] and len(mapping) == 0 and mapping.data == {}
    with pytest.raises(KeyError, match="dictionary is empty"):
        mapping.popitem()


def test_mapping_methods():
    a, b = ts.ones(1), ts.ones(1)
    mapping = WeakIdKeyDictionary({a: [1]})
    assert mapping.setdefault(b, 2) == 2 and mapping.pop(b) == 2 and mapping.pop(b, None) is None
    assert mapping == {a: [1]} and mapping != {b: [1]} and mapping.copy() == mapping
    deep = copy.deepcopy(mapping)
    assert deep[a] == [1] and deep[a] is not mapping[a]
    assert len(mapping | {b: 3}) == 2 and len({b: 3} | mapping) == 2
    mapping |= [(b, 4)]
    assert mapping.get(b) == 4 and mapping.popitem()[1] == 4
    assert repr(mapping).startswith("<WeakIdKeyDictionary at 0x")


def test_objects_without_weak_references():
    """Objects without weak references are not in the mapping; other accesses raise TypeError."""
    mapping = WeakIdKeyDictionary()
    assert 3 not in mapping
    for access in (lambda: mapping.get(3), lambda: mapping[3], lambda: mapping.__setitem__(3, 1)):
        with pytest.raises(TypeError, match="cannot create weak reference to 'int' object"):
            access()


def test_references():
    a = ts.ones(2)
    first, second = WeakIdRef(a), WeakIdRef(a)
    assert first == second and hash(first) == id(a) and first() is a and first != WeakIdRef(ts.ones(2))
    tensor = TensorWeakRef(a)
    assert tensor() is a and type(tensor.ref) is weakref.ref is WeakRef
    del a
    gc.collect()
    assert first() is None is tensor() and first != second and first == first
    with pytest.raises(AssertionError, match=r"expected torch.Tensor, got <class 'int'>\."):
        TensorWeakRef(3)
