"""Exports have PyTorch's constraints for sizes that operators make constant or equal."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sympy")

from tests.export.size_guard_cases import cases, sizes_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def test_sizes_that_fit():
    found = [(call, sizes_of(torch, call, shapes)) for call, shapes, _ in cases()]
    assert found == [(call, sizes) for call, _, sizes in cases()]
