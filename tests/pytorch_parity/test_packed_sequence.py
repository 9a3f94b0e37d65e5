"""Packed and padded sequences, and recurrent layers on them, compared with PyTorch, eager and scripted."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import pytest

import ts

torch = pytest.importorskip("torch")

LENGTHS = [[3, 2, 1], [4, 4, 4], [1, 3, 2], [2, 4, 4]]

SOURCE = """
def round_trip(x: Tensor, lengths: Tensor, batch_first: bool):
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first, enforce_sorted=False)
    return torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first, -1.0, 5)

def apart(parts: List[Tensor]):
    return torch.nn.utils.rnn.unpack_sequence(torch.nn.utils.rnn.pack_sequence(parts, enforce_sorted=False))
"""


def plain(value: Any) -> Any:
    """Convert tensors in nested containers to lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return value if value is None else [plain(item) for item in value]


def leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list) else [value]


def shape(value: Any) -> Any:
    return [shape(item) for item in value] if isinstance(value, list) else value is None


def assert_equal_outcomes(run: Any) -> None:
    """Check that results are equal up to rounding, or errors equal in class and message."""
    results = []
    for library in (torch, ts):
        try:
            results.append(plain(run(library)))
        except (RuntimeError, ValueError) as error:
            kind = "ValueError" if isinstance(error, ValueError) else "RuntimeError"
            results.append([f"{kind}: {str(error).strip().splitlines()[-1]}"])
    theirs, ours = results
    assert shape(ours) == shape(theirs)
    numbers = [pytest.approx(x, abs=1e-5) if isinstance(x, float) else x for x in leaves(theirs)]
    assert leaves(ours) == numbers


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_packing(lengths: list[int], batch_first: bool) -> None:
    def run(library: Any) -> Any:
        x = library.arange(24.0).view(4, 3, 2)
        x = x.transpose(0, 1) if batch_first else x
        rnn = library.nn.utils.rnn
        packed = rnn.pack_padded_sequence(x, lengths, batch_first, enforce_sorted=False)
        return packed, rnn.pad_packed_sequence(packed, batch_first, -1.0, 5)

    assert_equal_outcomes(run)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_packing_in_scripts(lengths: list[int], batch_first: bool) -> None:
    def run(library: Any) -> Any:
        unit = library.jit.CompilationUnit(SOURCE)
        x = library.arange(24.0).view(4, 3, 2)
        x = x.transpose(0, 1) if batch_first else x
        parts = [library.arange(float(n)) for n in lengths]
        return unit.round_trip(x, library.tensor(lengths), batch_first), unit.apart(parts)

    assert_equal_outcomes(run)


@pytest.mark.parametrize("lengths", [[4, 2, 0], [1, 2, 3], [2, 1], [[3, 2, 1]]])
def test_invalid_lengths(lengths: Any) -> None:
    assert_equal_outcomes(
        lambda library: (
            library._VF._pack_padded_sequence(library.ones(4, 3, 2), library.tensor(lengths), False)
            if library is torch
            else library._pack_padded_sequence(library.ones(4, 3, 2), library.tensor(lengths), False)
        )
    )


@pytest.mark.parametrize("side", ["left", "right", "up"])
def test_padding(side: str) -> None:
    assert_equal_outcomes(
        lambda library: library.nn.utils.rnn.pad_sequence(
            [library.ones(2, 3), library.ones(1, 3)], True, 5.0, side
        )
    )


NET = """
from typing import Optional, Tuple
import {library} as torch
from {library} import Tensor
from {library}.nn.utils.rnn import PackedSequence

class Net(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x: PackedSequence, hx: Optional[{state}] = None) -> Tuple[PackedSequence, {state}]:
        return self.layer(x, hx)
"""

LAYERS = [
    ("LSTM", {}),
    ("LSTM", {"num_layers": 2, "bidirectional": True, "proj_size": 3}),
    ("GRU", {"num_layers": 2}),
    ("GRU", {"bidirectional": True, "bias": False}),
    ("RNN", {"bidirectional": True}),
    ("RNN", {"nonlinearity": "relu"}),
]


@pytest.mark.parametrize("scripted", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize(("kind", "options"), LAYERS, ids=lambda part: str(part))
def test_layers(
    kind: str, options: dict[str, Any], lengths: list[int], scripted: bool, tmp_path: pathlib.Path
) -> None:
    def run(library: Any) -> Any:
        library.manual_seed(3)
        layer = getattr(library.nn, kind)(2, 4, **options)
        rnn = library.nn.utils.rnn
        directions = layer.num_layers * (2 if layer.bidirectional else 1)
        packed = rnn.pack_padded_sequence(
            library.arange(24.0).view(4, 3, 2) / 24, library.tensor(lengths), enforce_sorted=False
        )
        state = library.full((directions, 3, layer.proj_size or 4), 0.5)
        states = (state, library.full((directions, 3, 4), -0.5)) if kind == "LSTM" else state
        run = forward(library, layer) if scripted else layer
        output, final = run(packed)
        again, finals = run(packed, states)
        return [*output, *again], final if kind == "LSTM" else [final], list(finals)

    def forward(library: Any, layer: Any) -> Any:
        state = "Tuple[Tensor, Tensor]" if kind == "LSTM" else "Tensor"
        source_path = tmp_path / f"net_of_{library.__name__}.py"  # both compilers read the source
        source_path.write_text(NET.format(library=library.__name__, state=state))
        return library.jit.script(runpy.run_path(str(source_path))["Net"](layer))

    def detached(library: Any) -> Any:
        with library.no_grad():
            return run(library)

    assert_equal_outcomes(detached)


def test_invalid_states() -> None:
    for kind, state in (("GRU", (1, 1, 4)), ("GRU", (1, 4)), ("RNN", (1, 3, 5))):
        assert_equal_outcomes(lambda library: getattr(library.nn, kind)(2, 4)(library.ones(4, 3, 2), library.ones(state)))
    for first, second in (((1, 3, 5), (1, 3, 4)), ((1, 3, 4), (1, 2, 4)), ((3, 4), (3, 4))):
        assert_equal_outcomes(
            lambda library: library.nn.LSTM(2, 4)(
                library.ones(4, 3, 2), (library.ones(first), library.ones(second))
            )
        )
    for kind in ("LSTM", "GRU", "RNN"):
        for shape in ((2,), (2, 3)):
            assert_equal_outcomes(lambda library: getattr(library.nn, kind)(2, 4)(library.ones(shape)))
    assert_equal_outcomes(lambda library: library.nn.LSTM(2, 4)(library.ones(3, 2, dtype=library.int64)))
