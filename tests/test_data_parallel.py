"""Data parallel functions: results and errors on a machine without a GPU."""

import re
from collections import namedtuple

import pytest

import ts
from ts import nn
from ts.cuda import comm
from ts.cuda._utils import _get_device_index
from ts.nn.parallel import DataParallel, data_parallel, gather, parallel_apply, replicate, scatter
from ts.nn.parallel._functions import Broadcast, Gather, ReduceAddCoalesced, Scatter
from ts.nn.parallel.scatter_gather import is_namedtuple, scatter_kwargs

pytestmark = pytest.mark.skipif(ts.cuda.is_available(), reason="expects a machine without a GPU")
Pair = namedtuple("Pair", "a b")
X = ts.ones(4, 3)
NO_CPU = "Expected a non cpu device, but got: cpu"


def check_raises(error, text, function, *args, **kwargs):
    with pytest.raises(error, match=re.escape(text)):
        function(*args, **kwargs)


def test_modules_are_called_without_a_gpu_only_through_data_parallel_class():
    model = nn.Linear(3, 2)
    assert DataParallel(model)(X).shape == (4, 2)
    check_raises(RuntimeError, "device type could not be determined", data_parallel, model, X)
    check_raises(
        RuntimeError, "Cannot access accelerator device when none is available.", parallel_apply, [model], [X]
    )
    check_raises(
        AssertionError, "modules 2 is not equal to the number of inputs 1", parallel_apply, [model] * 2, [X]
    )


@pytest.mark.parametrize(
    ("value", "copies"),
    [
        ([1, "a", {"k": 2}, ()], [[1, "a", {"k": 2}, ()]] * 2),
        ((1, "a"), [(1, "a")] * 2),
        (Pair(1, 2), [Pair(1, 2)] * 2),
        ({}, [{}, {}]),
    ],
)
def test_scatter_repeats_other_values(value, copies):
    assert scatter(value, [0, 1]) == copies


def test_scatter_kwargs_fills_the_shorter_tuple():
    assert scatter_kwargs((), {"a": 1}, [0, 1]) == (((), ()), ({"a": 1}, {"a": 1}))
    assert scatter_kwargs((), None, [0, 1]) == ((), ())


def test_gather_joins_containers_of_none():
    assert gather([Pair(None, None)] * 2, 0) == Pair(None, None)
    assert gather([{"a": None}] * 2, 0) == {"a": None}
    check_raises(TypeError, "'int' object is not iterable", gather, [1, 2], 0)


def test_replicas_without_parameters():
    assert [type(each) for each in replicate(nn.ReLU(), [0, 1])] == [nn.ReLU, nn.ReLU]
    assert replicate(nn.Linear(3, 2), []) == []


def test_tensors_of_the_cpu_are_rejected():
    check_raises(AssertionError, "Gather function not implemented for CPU tensors", gather, [X, X], "cpu")
    check_raises(
        AssertionError, "Broadcast function not implemented for CPU tensors", replicate, nn.Linear(3, 2), [0]
    )
    check_raises(AssertionError, "Gather function not implemented", Gather.apply, 0, 0, X)
    check_raises(AssertionError, "reduce_add expects all inputs to be on GPUs, but input 0", comm.reduce_add, [X])
    check_raises(AssertionError, "but input 0 is on CPU", ReduceAddCoalesced.apply, 0, 1, X)
    check_raises(ValueError, NO_CPU, scatter, X, ["cpu"])
    check_raises(ValueError, NO_CPU, comm.broadcast, X, ["cpu"])
    assert Broadcast.apply([0]) == ()


def test_devices_and_out_exclude_each_other():
    check_raises(RuntimeError, "Exactly one of 'devices' and 'out' must be specified", comm.broadcast, X)
    check_raises(RuntimeError, "'devices' must not be specified when 'out' is", comm.scatter, X, [0], out=[X])
    check_raises(RuntimeError, "'destination' must not be specified", comm.gather, [X], destination=0, out=X)


def test_functions_of_a_build_with_cuda_are_missing():
    for name, call in {
        "_scatter": lambda: Scatter.apply([0], None, 0, X),
        "_broadcast": lambda: comm.broadcast(X, [0]),
        "_broadcast_coalesced": lambda: comm.broadcast_coalesced([X], [0]),
        "_gather": lambda: comm.gather([X, X]),
    }.items():
        check_raises(AttributeError, f"module 'torch._C' has no attribute '{name}'", call)


def test_index_of_a_device():
    assert [_get_device_index(d) for d in (0, -1, "cuda:1")] == [0, -1, 1]
    assert _get_device_index(ts.device("cpu"), allow_cpu=True) == -1
    assert _get_device_index(None, optional=True) is None
    check_raises(ValueError, "Expected a cuda device, but got: cpu", _get_device_index, "cpu")
    check_raises(ValueError, "with a specified index or an integer, but got:cuda", _get_device_index, "cuda")


def test_named_tuple_check_warns():
    with pytest.warns(FutureWarning, match="`is_namedtuple` is deprecated"):
        assert is_namedtuple(Pair(1, 2))
