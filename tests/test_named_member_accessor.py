"""Private helpers of modules that programs import: members by name, `stateless`, `_parse_to`."""

import pytest

import ts
from ts.nn.utils import stateless
from ts.nn.utils._named_member_accessor import NamedMemberAccessor, set_tensor, swap_submodule, swap_tensor

nn = ts.nn


@pytest.fixture
def net():
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))


def test_tensors(net):
    """A parameter can be swapped with any tensor and back."""
    accessor, old = NamedMemberAccessor(net), net[0].weight
    assert accessor.swap_tensor("0.weight", ts.ones(2, 2)) is old and type(net[0].weight) is ts.Tensor
    assert accessor.get_tensor("0.weight").tolist() == [[1.0, 1.0], [1.0, 1.0]]
    accessor.set_tensors(["1.weight", "1.running_mean"], [ts.zeros(2), ts.ones(2)])
    assert [t.tolist() for t in accessor.get_tensors(["1.weight", "1.running_mean"])] == [[0.0, 0.0], [1.0, 1.0]]
    accessor.del_tensor("0.bias")
    assert list(net[0]._parameters) == ["weight"]
    assert accessor.check_keys(["0.weight", "other"])[1] == ["other"]
    assert [name for name, _ in accessor.named_tensors()][:2] == ["0.weight", "1.weight"]


def test_missing_tensors(net):
    """Missing names raise and leave the module unchanged, or are restored from the returned values."""
    accessor = NamedMemberAccessor(net)
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): '1.w'."):
        accessor.swap_tensors_dict({"1.weight": ts.zeros(2), "1.w": ts.zeros(2)})
    assert not hasattr(net[1], "w") and net[1].weight.tolist() == [1.0, 1.0]
    before, missing = accessor.swap_tensors_dict({"1.w": ts.zeros(2)}, allow_missing=True)
    assert missing == ["1.w"] and net[1].w.tolist() == [0.0, 0.0]
    accessor.swap_tensors_dict(before, allow_missing=True)
    assert not hasattr(net[1], "w")
    with pytest.raises(AttributeError, match=r"Linear has no attribute `0\.foo`"):
        accessor.get_tensor("0.foo")
    with pytest.raises(AttributeError, match="Linear has no attribute `foo`"):
        accessor.swap_tensor("0.foo", ts.ones(1))
    with pytest.raises(AssertionError, match="got 1 names and 2 values"):
        accessor.set_tensors(["1.weight"], [ts.ones(2), ts.ones(2)])


def test_submodules(net):
    accessor, old = NamedMemberAccessor(net), net[0]
    assert accessor.get_submodule("0") is old and accessor.swap_submodule("0", nn.ReLU()) is old
    assert isinstance(accessor.get_submodule("0"), nn.ReLU) and isinstance(swap_submodule(net, "0", old), nn.ReLU)
    accessor = NamedMemberAccessor(net)
    for call, error, text in (
        (lambda: accessor.get_submodule("0.weight"), TypeError, "submodule `0.weight`: "),
        (lambda: accessor.get_submodule("x"), AttributeError, "Sequential has no attribute `x`"),
        (lambda: swap_submodule(net, "x", old), KeyError, "submodule x does not exist"),
        (lambda: swap_submodule(net, "0", 3), TypeError, "3 is not an instance of torch.nn.Module"),
        (lambda: set_tensor(net, "a.b", ts.ones(1)), KeyError, "tensor name can't contain"),
        (lambda: swap_tensor(net[1], "weight", 3), TypeError, "3 is not an instance of torch.Tensor"),
    ):
        with pytest.raises(error, match=text.replace("'", ".*")):
            call()


def test_stateless():
    """The deprecated function warns; within the context, the module has other tensors."""
    layer, tensors = nn.Linear(2, 2), {"weight": ts.ones(2, 2), "bias": ts.zeros(2)}
    with pytest.warns(FutureWarning, match="`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0"):
        assert stateless.functional_call(layer, tensors, ts.ones(1, 2)).tolist() == [[2.0, 2.0]]
    with stateless._reparametrize_module(layer, tensors):
        assert type(layer.weight) is ts.Tensor
    assert type(layer.weight) is nn.Parameter


def test_parse_to():
    """`torch._C._nn._parse_to` reads the arguments of `to` as modules do."""
    parse, cpu = ts._C._nn._parse_to, ts.device("cpu")
    assert parse() == (None, None, False, None) and parse("cpu") == (cpu, None, False, None)
    assert parse("cpu", ts.float16, True) == (cpu, ts.float16, True, None) == parse("cpu", ts.float16, non_blocking=True)
    assert parse(ts.float64) == (None, ts.float64, False, None) and parse(ts.ones(1).long()) == (cpu, ts.int64, False, None)
    assert parse(device="meta", memory_format=ts.channels_last) == (ts.device("meta"), None, False, ts.channels_last)
    with pytest.raises(RuntimeError, match=r"\.to\(\) does not accept copy argument"):
        parse("cpu", copy=True)
    with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments - got \(str, bool\)"):
        parse("cpu", True)
