"""The command line on PyTorch's archives, and its output files in PyTorch."""

import numpy as np
import pytest
import torch

from tests.test_cli import output


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv1d(2, 3, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.lstm = torch.nn.LSTM(4, 5)

    def forward(self, x: torch.Tensor, n: int = 2) -> tuple[torch.Tensor, torch.Tensor]:
        y, (h, _) = self.lstm(torch.dropout(self.norm(self.conv(x)), 0.5, self.training))
        return y * n, h

    @torch.jit.export
    def width(self) -> int:
        return self.conv.kernel_size[0]


@pytest.fixture
def model(tmp_path):
    """Return a module, its archive, an input file and the expected results."""
    torch.manual_seed(0)
    net = Net()
    net(torch.randn(8, 2, 6))  # updates running statistics
    torch.jit.script(net).save(str(tmp_path / "net.pt"))  # in training mode
    net.eval()
    x = torch.randn(5, 2, 6)
    np.save(tmp_path / "x.npy", x.numpy())
    with torch.no_grad():
        return net, tmp_path / "net.pt", tmp_path / "x.npy", [y.numpy() for y in net(x)]


def test_run(model, tmp_path, capsys):
    _, path, x, expected = model
    assert output(capsys, "run", path, x, "-o", tmp_path / "y.npz") == (0, "", "")
    found = np.load(tmp_path / "y.npz")
    assert found.files == ["0", "1"]
    for name, value in zip(found.files, expected, strict=True):
        assert np.allclose(found[name], value, atol=1e-6)
    assert output(capsys, "run", f"{path}:width") == (0, "3\n", "")


def test_info(model, capsys):
    net, path, _, _ = model
    code, out, _ = output(capsys, "info", path)
    count = sum(p.numel() for p in net.parameters())
    assert code == 0 and f"{count:,} in {len(list(net.parameters()))} tensors" in out
    assert "  PyTorch\n" in out and "forward(Tensor x, int n=2) -> (Tensor, Tensor)" in out


def test_check(model, capsys):
    _, path, _, _ = model
    assert output(capsys, "check", path, "--input", "x=float32[5,2,6]")[0] == 0
    code, _, err = output(capsys, "check", path, "--input", "x=float32[5,2,7]")
    assert code == 1 and "input.size(-1) must be equal to input_size. Expected 4, got 5" in err


@pytest.mark.parametrize("options", [[], ["--strip-debug"], ["--freeze", "--strip-debug"]])
def test_archives_for_pytorch(model, tmp_path, capsys, options):
    """PyTorch loads converted archives with equal results."""
    _, path, x, expected = model
    converted = tmp_path / "made.pt"
    assert output(capsys, "convert", path, converted, *options)[0] == 0
    with torch.no_grad():
        found = torch.jit.load(converted).eval()(torch.from_numpy(np.load(x)))
    for value, other in zip(found, expected, strict=True):
        assert np.allclose(value.numpy(), other, atol=1e-6)


def test_weights_for_pytorch(model, tmp_path, capsys):
    """Weights are converted through safetensors to files for `torch.load`, and from files of `torch.save`
    into a model."""
    pytest.importorskip("safetensors")
    net, path, x, _ = model
    weights, state, tuned = (tmp_path / name for name in ("w.safetensors", "w.pt", "tuned.pt"))
    assert output(capsys, "convert", path, weights)[0] == 0
    assert output(capsys, "convert", weights, state)[0] == 0
    loaded = torch.load(state)
    assert loaded.keys() == net.state_dict().keys()
    for name, value in net.state_dict().items():
        assert torch.equal(loaded[name], value), name
    with torch.no_grad():
        net.lstm.bias_ih_l0.zero_()
    torch.save({"model": net.state_dict()}, state)
    code, _, err = output(capsys, "convert", state, tuned, "--into", path)
    assert code == 1 and "model.lstm.bias_ih_l0" in err  # names must match exactly
    torch.save(net.state_dict(), state)
    assert output(capsys, "convert", state, tuned, "--into", path)[0] == 0
    with torch.no_grad():
        found, expected = (m.eval()(torch.from_numpy(np.load(x)))[0] for m in (torch.jit.load(tuned), net))
    assert torch.allclose(found, expected, atol=1e-6)


def test_diff(model, tmp_path, capsys):
    """`diff` reports equal weights for a converted PyTorch archive, and no difference without debug
    records."""
    _, path, _, _ = model
    converted = tmp_path / "made.pt"
    assert output(capsys, "convert", path, converted, "--strip-debug")[0] == 0
    assert output(capsys, "diff", path, converted) == (0, "", "")
    assert output(capsys, "convert", path, converted)[0] == 0
    assert output(capsys, "diff", path, converted, "--weights") == (0, "", "")
