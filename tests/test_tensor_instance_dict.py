"""The instance dictionary of tensors, created by the first attribute and released with the tensor."""

import copy
import gc
import pickle
import weakref

import pytest

import ts


class Marked(ts.Tensor):
    pass


def makers():
    return [lambda: ts.ones(2), lambda: ts.ones(2, 3).t(), lambda: ts.nn.Parameter(ts.ones(2)), Marked]


def test_no_dictionary_without_attributes():
    assert not any(isinstance(x, dict) for x in gc.get_referents(ts.ones(2)))


@pytest.mark.parametrize("make", makers())
def test_attributes_come_and_go(make):
    x = make()
    assert vars(x) == {}
    x.mark = "a"
    assert x.mark == "a" and vars(x) == x.__dict__ == {"mark": "a"}
    del x.mark
    with pytest.raises(AttributeError, match="has no attribute 'mark'"):
        _ = x.mark


@pytest.mark.parametrize("make", makers())
def test_reference_cycle_through_an_attribute_is_collected(make):
    x = make()
    x.me = x
    seen = weakref.ref(x)
    del x
    gc.collect()
    assert seen() is None


def test_attributes_are_released_after_the_tensor():
    results = []

    class Last:
        def __init__(self, tensor):
            self.tensor = weakref.ref(tensor)

        def __del__(self):
            results.append(self.tensor())

    x = ts.ones(2)
    x.last = Last(x)
    del x
    assert results == [None]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_have_them(again):
    x = ts.ones(2)
    x.mark = [1]
    assert again(x).mark == [1]


def test_instance_dict_must_be_a_dict():
    x = ts.ones(2)
    x.__dict__ = {"mark": 1}
    assert x.mark == 1
    with pytest.raises(TypeError):
        x.__dict__ = 3


def test_backward_hooks_of_a_tensor_without_gradient():
    """`_backward_hooks` can be set on tensors without gradient; backward does not call these hooks."""
    x = ts.ones(2)
    assert x._backward_hooks is None
    x._backward_hooks = {"refused": lambda: 1 / 0}
    (x + ts.ones(2, requires_grad=True)).sum().backward()
    assert list(x._backward_hooks) == ["refused"]
