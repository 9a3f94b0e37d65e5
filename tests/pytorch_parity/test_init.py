"""`nn.init` in scripts draws PyTorch's numbers from the same seed."""

from __future__ import annotations

import numpy as np
import pytest

import ts

torch = pytest.importorskip("torch")

CALLS = [
    "constant_(x, 2.5)",
    "ones_(x)",
    "zeros_(x)",
    "uniform_(x)",
    "normal_(x, 1.0)",
    "xavier_normal_(x)",
    "xavier_uniform_(x, 2.0)",
]


@pytest.mark.parametrize("call", CALLS)
def test_scripted_initialisation(call: str) -> None:
    source = f"def fill(x):\n    return torch.nn.init.{call}\n"
    results = []
    for library in (torch, ts):
        unit = library.jit.CompilationUnit(source)
        library.manual_seed(7)
        scripted = unit.fill(library.empty(4, 6))
        library.manual_seed(7)
        eager = eval(call, vars(library.nn.init), {"x": library.empty(4, 6)})
        assert scripted.tolist() == eager.tolist()
        results.append(scripted.numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5)
