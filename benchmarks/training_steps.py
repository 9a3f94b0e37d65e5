"""Training steps of scripted models in both libraries: forward, loss, backward and optimizer.

`STEPS[name](library)` creates a model and returns a function that runs one training step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

BATCH, HIDDEN, LENGTH = 16, 128, 20
Step = Callable[[], object]

CELLS = """
def unrolled(x, h, c, input_weight, weight, bias):
    # type: (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor) -> Tensor
    for t in range(x.size(0)):
        i, f, g, o = (x[t].mm(input_weight) + h.mm(weight) + bias).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    return h
"""

# Loss with ten one-element parameters and a hundred operators.
SMALL = """
def small(x, {names}):
    # type: (Tensor, {types}) -> Tensor
{lines}
    return x.sum()
""".format(
    names=", ".join(f"p{i}" for i in range(10)),
    types=", ".join(["Tensor"] * 10),
    lines="\n".join(f"    x = (x * p{i % 10}).tanh() + p{(i + 3) % 10}" for i in range(33)),
)


def tensor(library: Any, seed: int, *shape: int) -> Any:
    """Return a tensor of normal random numbers, which are equal in both libraries."""
    return library.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype("float32") * 0.1)


def parameters(library: Any, *shapes: tuple[int, ...]) -> list[Any]:
    """Return leaves that require grad."""
    return [tensor(library, i, *shape).requires_grad_() for i, shape in enumerate(shapes)]


def stepped(library: Any, loss: Callable[[], Any], leaves: Any) -> Step:
    """Return a function that runs one Adam step for a loss."""
    optimizer = library.optim.Adam(leaves, lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def lstm_layer(library: Any) -> Step:
    """Train a scripted LSTM layer of the library."""

    class Model(library.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.lstm = library.nn.LSTM(HIDDEN, HIDDEN)

        def forward(self, x):  # type: ignore[no-untyped-def]
            return self.lstm(x)[0]

    library.manual_seed(0)
    model = library.jit.script(Model())
    x = tensor(library, 0, LENGTH, BATCH, HIDDEN)
    return stepped(library, lambda: model(x).square().mean(), model.parameters())


def lstm_cells(library: Any) -> Step:
    """Train LSTM cells written as a loop over time steps."""
    run = library.jit.CompilationUnit(CELLS).unrolled
    leaves = parameters(library, (HIDDEN, 4 * HIDDEN), (HIDDEN, 4 * HIDDEN), (4 * HIDDEN,))
    x, h, c = tensor(library, 7, LENGTH, BATCH, HIDDEN), *[library.zeros(BATCH, HIDDEN)] * 2
    return stepped(library, lambda: run(x, h, c, *leaves).square().mean(), leaves)


def small_graph(library: Any) -> Step:
    """Train ten parameters with a graph of a hundred operators."""
    run = library.jit.CompilationUnit(SMALL).small
    leaves = parameters(library, *[(1,)] * 10)
    x = tensor(library, 11, 1)
    return stepped(library, lambda: run(x, *leaves), leaves)


def network(library: Any, layers: Callable[[Any], list[Any]], x: tuple[int, ...], classes: int) -> Step:
    """Train a scripted sequence of layers with cross entropy."""
    library.manual_seed(0)
    model = library.jit.script(library.nn.Sequential(*layers(library.nn)))
    images = tensor(library, 0, *x)
    labels = library.arange(x[0]) % classes
    entropy = library.nn.functional.cross_entropy
    return stepped(library, lambda: entropy(model(images), labels), model.parameters())


def mlp(library: Any) -> Step:
    """Train an MLP with a batch of 64, 256 inputs and outputs, and a hidden size of 1,024."""

    def layers(nn: Any) -> list[Any]:
        return [
            nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 256),
        ]  # fmt: skip

    return network(library, layers, (64, 256), 10)


def digits(library: Any) -> Step:
    """Train the network of `examples/digits.py`."""

    def layers(nn: Any) -> list[Any]:
        return [
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10),
        ]  # fmt: skip

    return network(library, layers, (64, 1, 8, 8), 10)


STEPS: dict[str, Callable[[Any], Step]] = {
    f"LSTM layer, {LENGTH} steps, {BATCH} x {HIDDEN}": lstm_layer,
    f"LSTM cells, {LENGTH} steps, {BATCH} x {HIDDEN}": lstm_cells,
    "digits net, 64 images": digits,
    "MLP, 64 x 256": mlp,
    "10 parameters, 100 operators": small_graph,
}
