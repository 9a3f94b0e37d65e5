"""First- and second-order gradients compared with PyTorch's for every call of OpInfo (`gradients.py`)."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import ts  # noqa: E402
from tests.pytorch_parity import gradients  # noqa: E402
from tests.sharding import some  # noqa: E402

ROOT = Path(__file__).parents[2]
PARTS = 2  # importing the database takes half the time of eight parts
SAMPLES = some(1, of=(1, 4))


@pytest.mark.parametrize("samples", SAMPLES)
@pytest.mark.parametrize("part", range(PARTS))
def test_gradients_equal_pytorch(part, samples):
    command = [sys.executable, "-m", "tests.pytorch_parity.opinfo_gradients", str(part), str(PARTS), str(samples)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr[-2000:]


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("mode, n", [(0, 2), (1, 2), (2, 2), (0, 3), (1, 3)])
def test_sampling_by_a_grid(mode, n, padding, align):
    """Gradients of grid sampling equal PyTorch's for all modes and paddings, with points outside."""
    draw = np.random.default_rng(0)
    images = draw.standard_normal((2, 2, 3, 4, 5)[: n + 2])
    grid = draw.uniform(-1.6, 1.6, (2, 3, 2, 2, 3)[: n + 1] + (n,))

    def found(library):
        leaves = [library.from_numpy(x.copy()).requires_grad_() for x in (images, grid)]
        result = library.grid_sampler(*leaves, mode, padding, align)
        first = library.autograd.grad(gradients.weighted([result], library), leaves, create_graph=True)
        second = library.autograd.grad(gradients.weighted(list(first), library), leaves, allow_unused=True)
        return [*first, *second]

    assert not gradients.difference(found(ts), found(torch), 1e-9)


@pytest.mark.parametrize("samples", SAMPLES)
def test_tangents_equal_pytorch(samples):
    command = [sys.executable, "-m", "tests.pytorch_parity.opinfo_forward_mode", "0", "1", str(samples)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr[-2000:]
