"""Names that are no operators, but used by PyTorch programs: files, devices, deprecated methods and arguments."""

import os
import subprocess
import sys

import pytest

import ts
from ts.utils import collect_env
from ts.utils.file_baton import FileBaton


def test_from_file(tmp_path):
    """`from_file` maps a file; shared mappings write to it and create or extend it."""
    path = str(tmp_path / "data")
    ts.arange(5.0).numpy().tofile(path)
    assert ts.from_file(path, size=5).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0] and ts.from_file(path).shape == (0,)
    private = ts.from_file(path, size=2)
    private[0] = 9
    shared = ts.from_file(path, True, 2, dtype=ts.float32)
    shared[1] = 7
    assert ts.from_file(path, size=2).tolist() == [0.0, 7.0] and shared.untyped_storage().filename == path
    assert ts.from_file(path + "2", shared=True, size=4, dtype=ts.float64).tolist() == [0.0] * 4
    assert os.path.getsize(path + "2") == 32 and ts.from_file(path, size=1, requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="size <20> is smaller than the required mapping size <200>"):
        ts.from_file(path, size=50)
    with pytest.raises(RuntimeError, match="tensors constructed from a file cannot be pinned"):
        ts.from_file(path, size=1, pin_memory=True)
    with pytest.raises(TypeError, match=r"from_file\(\): argument 'filename' \(position 1\) must be str, not int"):
        ts.from_file(3)


def test_get_device_module():
    assert ts.get_device_module("cuda") is ts.cuda and ts.get_device_module(ts.device("cpu")) is ts.cpu
    assert ts.get_device_module() is (ts.cuda if ts.cuda.is_available() else ts.cpu)
    with pytest.raises(RuntimeError, match=r"Device 'meta' does not have a corresponding module registered as 'torch\.meta'"):
        ts.get_device_module("meta")
    with pytest.raises(RuntimeError, match="Invalid value of device '3', expect"):
        ts.get_device_module(3)


def test_resize():
    """`resize` and `resize_as` change the shape for an equal number of elements, and warn."""
    x = ts.arange(4.0).requires_grad_()
    with pytest.warns(UserWarning, match="non-inplace resize is deprecated"):
        y = x.resize(2, 2)
    assert y.shape == (2, 2) and y.requires_grad
    with pytest.warns(UserWarning, match="non-inplace resize_as is deprecated"):
        assert x.resize_as(ts.ones(2, 2)).shape == (2, 2)
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match=r"requested resize to 2x3 \(6 elements in total\), but the given"):
        x.resize(2, 3)


def test_volatile():
    """The former argument `volatile` has no effect, and warns."""
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        assert not ts.autograd.Variable(ts.ones(1), volatile=True).requires_grad
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="can't be volatile and require_grad at the same time!"):
        ts.autograd.Variable(ts.ones(1), requires_grad=True, volatile=True)
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got int"):
        ts.autograd.Variable(3)
    assert ts.autograd.Variable().shape == (0,)


def test_transposed_mixin():
    """The deprecated base class can be used, and warns."""

    class Layer(ts.nn.modules.conv._ConvTransposeMixin, ts.nn.ConvTranspose1d):
        pass

    with pytest.warns(FutureWarning, match="`_ConvTransposeMixin` is a deprecated internal class"):
        layer = Layer(1, 2, 3)
    assert layer(ts.ones(1, 1, 4)).shape == (1, 2, 6)


def test_file_baton(tmp_path):
    """The creator of the file holds the baton; other processes wait for the file's removal."""
    first, second = FileBaton(str(tmp_path / "lock"), 0.01), FileBaton(str(tmp_path / "lock"), 0.01)
    assert first.try_acquire() is True and second.try_acquire() is False
    first.release()
    second.wait()
    assert second.try_acquire() is True
    second.release()
    assert not (tmp_path / "lock").exists()


def test_collect_env():
    """`collect_env` prints PyTorch's fields and lines, also as a program."""
    result = collect_env.get_env_info()
    assert result.python_version.startswith(sys.version.split()[0]) and result.is_cuda_available in ("True", "False")
    assert ts.version.ts in result.torch_version and "numpy==" in result.pip_packages
    done = subprocess.run([sys.executable, "-m", "ts.utils.collect_env"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Collecting environment information..." and lines[1].startswith("PyTorch version: 2.13")
    assert any(line.startswith("[pip3] numpy==") for line in lines) and "Versions of relevant libraries:" in lines
    assert collect_env.run_and_parse_first_match(collect_env.run, "echo gcc 12", r"gcc (\d+)") == "12"
    assert collect_env.run(["no such command"])[0] == 127
