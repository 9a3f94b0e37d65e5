"""`ts.jit.from_torch` converts PyTorch modules of the same process."""

import sys

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU())

    def forward(self, x):
        return self.layers(x).flatten(1)


@pytest.mark.parametrize("scripted", [False, True])
def test_modules(scripted):
    """`from_torch` converts an eager or scripted module with equal results and separate memory."""
    net = Net().eval()
    converted = ts.jit.from_torch(torch.jit.script(net) if scripted else net)
    assert isinstance(converted, ts.jit.ScriptModule)
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    expected = net(x).tolist()
    assert converted(ts.tensor(x.tolist())).tolist()[0] == pytest.approx(expected[0], abs=1e-5)
    assert not converted.training
    with ts.no_grad():
        getattr(converted.layers, "0").weight.zero_()
    assert net(x).tolist() == expected


def test_functions():
    """A scripted PyTorch function becomes a module with this function as `forward`."""

    @torch.jit.script
    def scaled(x, n: int):
        return x * n

    assert ts.jit.from_torch(scaled)(ts.ones(1), 3).tolist() == [3.0]


def test_traces():
    traced = torch.jit.trace(lambda x: x.relu() + 1, torch.ones(2))
    assert ts.jit.from_torch(traced)(ts.tensor([-1.0, 2.0])).tolist() == [1.0, 3.0]


def test_other_objects(monkeypatch):
    """`from_torch` rejects other objects by type, and any object if PyTorch is not imported."""
    for other in (ts.nn.Linear(1, 1), torch.ones(1), "text", None):
        with pytest.raises(
            TypeError, match="from_torch: expected a PyTorch module or scripted function, got"
        ):
            ts.jit.from_torch(other)
    monkeypatch.delitem(sys.modules, "torch")
    with pytest.raises(RuntimeError, match="PyTorch is not imported"):
        ts.jit.from_torch(Net())


def test_tensors_of_pytorch():
    """PyTorch tensors are accepted for Tensor parameters without a copy, and rejected elsewhere."""

    @ts.jit.script
    def doubled(x: ts.Tensor) -> ts.Tensor:
        return x.mul_(2)

    @ts.jit.script
    def print_and_return(s: str) -> str:
        return s

    x = torch.ones(2)
    result = doubled(x)
    assert type(result) is ts.Tensor and result.tolist() == x.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="Expected a value of type 'str'"):
        print_and_return(torch.ones(1))
