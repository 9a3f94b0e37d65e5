"""Tests of every available backend: arrays, transfers and dispatch by device."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from ts import backends, devices, dtypes
from ts._core.tensor import factories
from ts.backends.base import Backend
from ts.backends.array_namespace import WrappedNamespace
from ts.ops import registry


@pytest.fixture(params=backends.available())
def device(request):
    """Parametrize over the available device types."""
    return request.param


def test_tensors_on_the_device(device):
    """Creation, shape, dtype, device and views are equal on every device."""
    x = factories.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=device)
    assert (x.shape, x.dtype, x.device.type) == ((2, 3), dtypes.float32, device)
    assert x.stride() == (3, 1) and x.T.stride() == (1, 3) and x[1, 1:].shape == (2,)
    assert x[:, None].shape == (2, 1, 3) and x[..., 0].storage_offset() == 0 and x[1].storage_offset() == 3


def test_operators_on_the_device(device):
    """Results stay on the device; 0-dim CPU tensors and numbers are accepted as operands."""
    x = factories.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
    results = [x + x, x * 2, x.exp(), x.sum(1), x.t(), x @ x, x.reshape(4), x + factories.tensor(1.0), x < 2]
    assert all(r.device.type == device for r in results)
    assert [tuple(r.shape) for r in results] == [(2, 2), (2, 2), (2, 2), (2,), (2, 2), (2, 2), (4,), (2, 2), (2, 2)]
    x += 1
    assert x.shape == (2, 2) and x.device.type == device


def test_transfers(device):
    """Transfers to the device and back preserve the elements."""
    x = factories.tensor([1, 2, 3])
    moved = x.to(device)
    if device == "meta":
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            moved.cpu()
    else:
        assert moved.cpu().tolist() == [1, 2, 3]


def test_mixed_devices_are_rejected():
    """Operators reject tensors with dimensions on different devices."""
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        factories.tensor([1.0]) + factories.tensor([1.0], device="meta")


def test_missing_cuda_error_names_the_extra():
    """Without CuPy, the error names the package extra."""
    if "cuda" in backends.available():
        pytest.skip("CUDA is present")
    with pytest.raises(RuntimeError, match="device 'cuda'"):
        factories.tensor([1.0]).cuda()


def test_registered_backend():
    """A registered backend is a device type; its overrides replace kernels by name."""

    class Array(np.ndarray):
        pass

    class LoudBackend(Backend):
        name = "backend"
        xp = np
        array_type = Array

        def from_host(self, host, device=-1):
            return host.view(Array)

        def to_host(self, array):
            return np.asarray(array)

    backend = LoudBackend()
    backend.overrides["aten::exp"] = lambda xp, x: x + 100
    try:
        assert backends.register(backend).index == 4 and devices.device("backend").type == "backend"
        assert backends.get("backend") is backend
        assert backend.bind(registry.find("aten::exp"))(np, 1) == 101
        backend.overrides["aten::add_"] = lambda xp, x, y, alpha=1: x + y + 100
        for overload in ("Tensor", "Scalar"):
            assert backend.bind(registry.find(f"aten::add_.{overload}"))(np, 1, 2) == 103
    finally:
        backends.unregister("backend")
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        devices.device("backend")


ASKING = (
    r"xp is (not )?\w", r"xp\.__name__", r"hasattr\(xp\b", r"getattr\(xp, '\w+',", r"isinstance\(.*\bndarray",
    r"cupy\.\w", r"type\(\w+\)\.__module__", r"\w\.get\(\)", r"backends\.get\('(cpu|meta)'",
)  # fmt: skip


def test_operators_do_not_check_for_backends():
    """Operators contain no checks for a backend; device differences are in the namespaces
    (`backends/array_namespace.py`)."""
    pattern = re.compile("|".join(ASKING))
    results = []
    for path in sorted((Path(__file__).parent.parent / "ts" / "ops").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Compare, ast.Call, ast.Attribute)) and pattern.match(ast.unparse(node)):
                results.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    assert results == []


def test_a_plain_module_becomes_a_namespace():
    """`WrappedNamespace` adds to NumPy the functions that kernels need."""
    xp = WrappedNamespace(np)
    assert xp.add is np.add and xp.__name__ == "numpy" and not xp.shapes_only and xp.ranking is None
    assert xp.products(np.eye(2), np.ones((2, 3))).shape == (2, 3) and xp.to_host([1]).tolist() == [1]
