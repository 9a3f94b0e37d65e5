"""Keyword names of PyTorch's functions in Python, and the names of types in error messages."""

import collections

import numpy as np
import pytest

import ts


@pytest.mark.parametrize(
    ("arguments", "lengths"),
    [
        ({"split_size_or_sections": 4}, [4, 2]),
        ({"split_size_or_sections": [1, 5]}, [1, 5]),
        ({"split_size_or_sections": (2, 4), "dim": 0}, [2, 4]),
    ],
)
def test_split(arguments, lengths):
    """`torch.split(tensor, split_size_or_sections, dim)`."""
    x = ts.arange(6.0)
    assert [len(part) for part in ts.split(x, **arguments)] == lengths
    assert [len(part) for part in ts.split(tensor=x, **arguments)] == lengths


@pytest.mark.parametrize("new", [ts.Tensor, ts.ones(1).new, ts.FloatTensor], ids=["Tensor", "new", "FloatTensor"])
def test_constructors_by_keyword(new):
    """Tensor constructors accept `size`, `data` and `other` as keywords."""
    assert new(size=(2, 3)).shape == (2, 3) and new(size=[2]).shape == (2,) and new(size=ts.Size([4, 1])).shape == (4, 1)
    assert new(data=[1, 2]).tolist() == [1.0, 2.0] and new(other=ts.ones(2)).tolist() == [1.0, 1.0]
    assert new(size=()).shape == () == new(ts.Size([])).shape
    assert new(size=(2,), device="cpu").shape == (2,)
    with pytest.raises(RuntimeError, match=r"negative dimension -1: \[-1\]"):
        new(size=[-1])
    with pytest.raises(TypeError, match=r"data must be a sequence \(got int\)"):
        new(data=3)


def test_constructors_with_other_keywords():
    """The error for an unknown keyword lists the constructor signatures with reasons."""
    expected = """new() received an invalid combination of arguments - got (foo=int, ), but expected one of:
 * (*, torch.device device = None)
 * (torch.Storage storage)
      didn't match because some of the keywords were incorrect: foo
 * (Tensor other)
      didn't match because some of the keywords were incorrect: foo
 * (tuple of ints size, *, torch.device device = None)
 * (object data, *, torch.device device = None)
"""
    for new in (ts.Tensor, ts.ones(1).new, ts.LongTensor):
        with pytest.raises(TypeError) as error:
            new(foo=1)
        assert str(error.value) == expected
    with pytest.raises(TypeError, match=r"got \(int, foo=int\), but expected one of:"):
        ts.Tensor(1, foo=2)


class Other:
    """Class of a program."""


NAMES = [
    (Other(), "Other"), ([1], "list"), (None, "NoneType"), (np.ones(2), "numpy.ndarray"), (np.float32(1), "numpy.float32"),
    (np.bool_(1), "numpy.bool"), (collections.OrderedDict(), "collections.OrderedDict"), (ts.float32, "torch.dtype"),
    (ts.device("cpu"), "torch.device"), (ts.strided, "torch.layout"), (ts.Size([1]), "torch.Size"),
    (ts.Generator(), "torch._C.Generator"), (ts.finfo(ts.float32), "torch.finfo"), (ts.relu, "builtin_function_or_method"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "name"), NAMES, ids=[name for _, name in NAMES])
def test_names_of_types(value, name):
    """Error messages contain the module of types written in C, but not of classes."""
    with pytest.raises(TypeError) as error:
        ts.relu(value)
    assert str(error.value).split("\n")[0] == f"relu(): argument 'input' (position 1) must be Tensor, not {name}"


@pytest.mark.parametrize(("value", "name"), [*NAMES[:7], (ts.ones(2), "Tensor"), (True, "bool"), (1.5, "float")])
def test_lists_of_integers(value, name):
    """The first element selects an integer list; errors show the position of a later invalid element."""
    with pytest.raises(TypeError) as error:
        ts.zeros([value, 1])
    message = f"but found element of type {name} at pos 0"
    assert str(error.value).split("\n")[0] == f"zeros(): argument 'size' (position 1) must be tuple of ints, {message}"
    if value is not True:
        with pytest.raises(TypeError) as error:
            ts.zeros([1, value])
        failed = f'failed to unpack the object at pos 2 with error "type must be tuple of ints,but got {name}"'
        assert str(error.value).split("\n")[0] == f"zeros(): argument 'size' {failed}"


def test_bool_after_an_integer():
    """A bool after a first integer element counts as 0 or 1, because PyTorch checks only the first element's
    type."""
    assert ts.zeros([2, True]).shape == (2, 1)
