"""Training steps of the programs in `examples/`, and batches of data loaders with worker processes.

In: nothing.  Out: two tables.  The functions of the examples run with each library and the same seed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import OURS, Case

EXAMPLES = Path(__file__).parent.parent / "examples"
BATCHES = {  # shape of a sample, samples per batch, batches per epoch
    "16 x 4": ((4,), 16, 200),
    "64 x 784": ((784,), 64, 100),
    "32 x 3 x 96 x 96": ((3, 96, 96), 32, 20),
}
WORKERS = (0, 1, 2)


def tables() -> dict[str, list[Case]]:
    """Return the tables of training steps and of batches of data loaders."""
    libraries = {OURS: ts}
    ts.set_num_threads(1)
    if peer_runtimes.has_torch():
        import torch

        torch.set_num_threads(1)
        libraries["PyTorch"] = torch
    return {
        "Training step of an example": list(_steps(libraries)),
        "Batch of a data loader": list(_batches(libraries)),
    }


def _steps(libraries: dict[str, Any]) -> Any:
    sys.path.insert(0, str(EXAMPLES))  # examples import each other from this folder
    try:
        for name, create in (("digits", _digits), ("fine-tuning", _finetune), ("character LSTM", _char_lstm)):
            yield Case(name, {peer: create(library) for peer, library in libraries.items()}, min_seconds=0.3)
    finally:
        sys.path.remove(str(EXAMPLES))


def _digits(library: Any) -> Callable[[], object]:
    digits = importlib.import_module("digits")
    library.manual_seed(0)
    model = library.jit.script(digits.network(library))
    optimizer = library.optim.Adam(model.parameters(), lr=2e-3)
    data = digits.batches(library, digits.images(library)[0], 0)
    return lambda: digits.train_model(library, model, optimizer, data, 1)


def _finetune(library: Any) -> Callable[[], object]:
    digits, finetune = importlib.import_module("digits"), importlib.import_module("finetune")
    model, optimizer = finetune.pretrained(library, finetune.CHECKPOINT)
    data = digits.batches(library, finetune.few_images(library)[0], 0)
    return lambda: digits.train_model(library, model, optimizer, data, 1)


def _char_lstm(library: Any) -> Callable[[], object]:
    example = importlib.import_module("char_lstm")
    library.manual_seed(0)
    text = library.randint(0, 96, (100_000,))
    model = example.network(library, 96)
    optimizer = library.optim.Adam(model.parameters(), lr=4e-3)
    data = example.batches(library, text, 0)
    return lambda: example.train_model(library, model, optimizer, data, 1)


def _batches(libraries: dict[str, Any]) -> Any:
    for name, (shape, size, count) in BATCHES.items():
        for workers in WORKERS:
            parameters = shape, size, count, workers
            contestants = {peer: _loaded(library, *parameters) for peer, library in libraries.items()}
            yield Case(f"{name}, {workers} workers", contestants, per_call=count)


def _loaded(
    library: Any, shape: tuple[int, ...], size: int, count: int, workers: int
) -> Callable[[], object]:
    """Return a function that iterates over all batches of a data loader with persistent workers."""

    class Samples(library.utils.data.Dataset):  # type: ignore[misc, name-defined]
        one = library.ones(shape)

        def __len__(self) -> int:
            return size * count

        def __getitem__(self, i: int) -> Any:
            return self.one.clone(), i

    loader = library.utils.data.DataLoader(
        Samples(), size, num_workers=workers, persistent_workers=workers > 0,
        multiprocessing_context="fork" if workers else None,
    )  # fmt: skip
    return lambda: [None for _ in loader]
