"""Private helpers of PyTorch that programs import: `torch._utils`, indentation, decorators, names of constraints."""

import re

import pytest

import ts
from ts import _utils
from ts.nn.modules.module import _addindent, _IncompatibleKeys
from ts.utils._contextlib import _DecoratorContextManager


def test_tensors_are_flattened_and_unflattened():
    tensors = [ts.arange(3.0), ts.ones(2, 2), ts.zeros(0), ts.tensor(5.0)]
    flat = _utils._flatten_dense_tensors(tensors)
    assert flat.tolist() == [0, 1, 2, 1, 1, 1, 1, 5]
    unflattened = _utils._unflatten_dense_tensors(flat, tensors)
    assert isinstance(unflattened, tuple) and all(map(ts.equal, unflattened, tensors))
    flat.zero_()
    assert unflattened[1].sum() == 0  # the results are views


def test_tensors_are_grouped_by_type_and_size():
    tensors = [ts.ones(3), ts.ones(2, dtype=ts.int32), ts.ones(5), ts.ones(4)]
    groups = list(_utils._take_tensors(tensors, 20))
    assert [[tuple(t.shape) for t in group] for group in groups] == [[(3,)], [(5,)], [(4,)], [(2,)]]
    ordered = _utils._reorder_tensors_as([t for group in groups for t in group], tensors)
    assert all(map(ts.equal, ordered, tensors))


@pytest.mark.parametrize(
    ("device", "options", "expected"),
    [
        ("cpu", {"allow_cpu": True}, -1),
        (0, {}, 0),
        ("cuda:1", {}, 1),
        ("cpu", {}, "Expected a non cpu device, but got: cpu"),
        (None, {}, "Expected a torch.device with a specified index or an integer, but got:None"),
    ],
)
def test_index_of_a_device(device, options, expected):
    if isinstance(expected, int):
        assert _utils._get_device_index(device, **options) == expected
    else:
        with pytest.raises(ValueError, match=re.escape(expected)):
            _utils._get_device_index(device, **options)


def test_an_object_by_its_dotted_name():
    import os.path

    assert _utils._import_dotted_name("os.path.join") is os.path.join
    assert _utils._element_size(ts.float64) == 8


def test_indentation_and_keys():
    assert _addindent("a\nb\nc", 2) == "a\n  b\n  c" and _addindent("a", 2) == "a"
    assert repr(_IncompatibleKeys([], [])) == "<All keys matched successfully>"
    assert repr(_IncompatibleKeys(["x"], [])) == "_IncompatibleKeys(missing_keys=['x'], unexpected_keys=[])"


def test_context_managers_are_decorators():
    entered = []

    class Block(_DecoratorContextManager):
        def __init__(self, name):
            self.name = name

        def clone(self):
            return Block(self.name)

        def __enter__(self):
            entered.append(self.name)

        def __exit__(self, *error):
            entered.append(None)

    @Block("a")
    def function(x):
        return x + 1

    @Block("b")
    def steps():
        yield 1
        yield 2

    assert function(1) == 2 and list(steps()) == [1, 2]
    assert entered == ["a", None, "b", None, "b", None, "b", None]


def test_names_of_constraints():
    names = {}
    exec("from ts.distributions.constraints import *", names)
    assert names["positive"] is ts.distributions.constraints.positive and "Real" not in names
    assert ts.distributions.Distribution._validate_args is True


def test_tracing_state():
    assert ts._C._is_tracing() is False
    seen = []
    ts.jit.trace(lambda x: (seen.append(ts._C._is_tracing()), x * 2)[1], ts.ones(1), check_trace=False)
    assert seen == [True]
    assert isinstance(ts.Tensor, ts._C._TensorMeta)
