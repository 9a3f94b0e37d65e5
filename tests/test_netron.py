"""Netron reads archives of `ts.jit.save` with their operators, weights and shapes."""

import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

import ts

pytestmark = pytest.mark.long


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = ts.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = ts.nn.BatchNorm2d(8)
        self.layers = ts.nn.ModuleList([ts.nn.Linear(8, 8), ts.nn.Linear(8, 4)])

    def forward(self, x):
        y = ts.relu(self.norm(self.conv(x))).mean(dim=[2, 3])
        for layer in self.layers:
            y = layer(y)
        return y


class Branching(ts.nn.Module):
    def forward(self, x, n: int):
        total = ts.zeros_like(x)
        for i in range(n):
            total = total + x if i % 2 == 0 else total * 2
        return {"total": total}, [str(n)]


@pytest.fixture(scope="module")
def netron(tmp_path_factory):
    """Copy the modules of Netron for Node.js and return a function that opens files."""
    node, package = shutil.which("node"), find_spec("netron")
    if node is None:
        pytest.skip("needs node")
    if package is None:
        pytest.skip("needs Netron: pip install netron")
    folder = tmp_path_factory.mktemp("netron")
    for path in Path(package.origin).parent.glob("*.js*"):
        shutil.copy(path, folder)
    (folder / "package.json").write_text('{"type": "module"}')

    def open(*models):
        script = Path(__file__).parent / "netron" / "open.mjs"
        done = subprocess.run([node, script, folder, *models], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return open


def operators(model):
    (graph,) = model["graphs"]
    return [node["type"] for node in graph["nodes"]]


def weights(model):
    (graph,) = model["graphs"]
    return {
        value["name"]: value["type"]
        for node in graph["nodes"]
        for argument in node["inputs"]
        for value in argument["values"]
        if argument["name"] in ("weight", "bias")
    }


def test_models_in_each_format(netron, tmp_path):
    """Scripted, traced and frozen archives show the operators in order, and weights with names and sizes."""
    net = Net().eval()
    scripted = ts.jit.script(net)
    ts.jit.save(scripted, tmp_path / "scripted.pt")
    ts.jit.save(ts.jit.trace(net, (ts.rand(1, 3, 8, 8),)), tmp_path / "traced.pt")
    ts.jit.save(ts.jit.freeze(scripted), tmp_path / "frozen.pt")
    result = netron(tmp_path / "scripted.pt", tmp_path / "traced.pt", tmp_path / "frozen.pt")
    for model, convolution in zip(result, ("conv2d", "_convolution", "conv2d"), strict=True):
        assert model["errors"] == [] and model["format"].startswith("TorchScript")
        (graph,) = model["graphs"]
        assert [argument["name"] for argument in graph["inputs"]] == ["x.1"] and len(graph["outputs"]) == 1
        kinds = [name for name in operators(model) if name in (convolution, "relu", "mean", "linear")]
        assert kinds == [convolution, "relu", "mean", "linear", "linear"]
    shapes = {"conv.weight": "float32[8,3,3,3]", "conv.bias": "float32[8]", "layers.1.weight": "float32[4,8]"}
    for model in result[:2]:
        assert "batch_norm" in operators(model) and shapes.items() <= weights(model).items()
    assert "float32[8,3,3,3]" in weights(result[2]).values()


@pytest.mark.parametrize(
    ("module", "expected"),
    (
        (Branching(), {"Loop"}),
        (ts.nn.LSTM(4, 8, num_layers=2, batch_first=True), {"torch.nn.modules.rnn.LSTM"}),
        (ts.nn.TransformerEncoderLayer(16, 4, 32), {"layer_norm"}),
        (ts.nn.Sequential(ts.nn.Conv1d(2, 4, 3), ts.nn.GELU(), ts.nn.MaxPool1d(2)), {"conv1d", "gelu", "max_pool1d"}),
        (ts.nn.Embedding(10, 4).to(ts.float16), {"embedding"}),
    ),
    ids=["branching", "lstm", "transformer", "sequential", "half"],
)
def test_models_have_expected_operators(netron, tmp_path, module, expected):
    ts.jit.save(ts.jit.script(module.eval()), tmp_path / "model.pt")
    (model,) = netron(tmp_path / "model.pt")
    assert model["errors"] == [] and expected <= set(operators(model))
