"""Shared functions of the training examples: arguments, progress bar and loss curve.

options = arguments("Train something.", steps=300)   exits without the extra `examples`
losses = run("training", options.steps, step)       step() trains on one batch, returns the loss
draw(losses, options.out / "curve.png", "training")
"""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Callable, Iterable, Iterator, List, Sequence, TypeVar

from ts.cli.console import progress

T = TypeVar("T")
SMOOTHING_STEPS = 20  # number of steps in the moving mean


def arguments(
    description: str, steps: int, needs: Sequence[str] = ("matplotlib", "sklearn"), **files: Path
) -> argparse.Namespace:
    """Parse `--steps`, `--seed`, file options and the folder `--out`, which is created."""
    parser = argparse.ArgumentParser(description=description.strip().partition("\n")[0])
    parser.add_argument("--steps", type=int, default=steps, help="batches to train on (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    for name, path in files.items():
        parser.add_argument(f"--{name}", type=Path, default=path, help=f"file of the {name} (%(default)s)")
    out = Path("build/examples")
    parser.add_argument("--out", type=Path, default=out, help="output folder (%(default)s)")
    options = parser.parse_args()
    missing = [name for name in needs if find_spec(name) is None]
    if missing:  # checked before the training instead of after it
        sys.exit(f"{parser.prog} needs {' and '.join(missing)}: pip install 'torchscript-ts[examples]'")
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def endless(loader: Iterable[T]) -> Iterator[T]:
    """Yield the batches of a loader in repeated passes."""
    while True:
        yield from loader


def run(text: str, steps: int, step: Callable[[], float]) -> List[float]:
    """Run `steps` training steps with a progress bar on a terminal and return the losses."""
    losses = []
    with progress(text, steps) as advance:
        for _ in range(steps):
            losses.append(step())
            advance()
    return losses


def draw(losses: List[float], path: Path, title: str) -> None:
    """Plot the losses and their moving mean."""
    from matplotlib.figure import Figure  # does not load graphical backends of matplotlib

    figure = Figure(figsize=(6, 3.5), layout="tight")
    axes = figure.add_subplot()
    axes.plot(losses, color="tab:blue", alpha=0.35, linewidth=1, label="each batch")
    last = [losses[max(0, end - SMOOTHING_STEPS) : end] for end in range(1, len(losses) + 1)]
    means = [sum(part) / len(part) for part in last]
    axes.plot(means, color="tab:blue", label=f"mean of {SMOOTHING_STEPS}")
    axes.set(title=title, xlabel="step", ylabel="loss")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)
