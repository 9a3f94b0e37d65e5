"""Export of a model of 1,000 operators with fixed or symbolic sizes, calls of exported programs, and
loading of a `.pt2` file from process start.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.startup import best_seconds
from benchmarks.timing import Case

BLOCKS = 125  # number of blocks of eight operators
RUN = (
    "import {0} as torch; import {0}.export; torch.set_num_threads(1); torch.set_grad_enabled(False); "
    "torch.export.load({1!r}).module()(torch.ones(4, 64))"
)


def model(torch: Any, blocks: int = BLOCKS) -> Any:
    """Create a model of blocks with eight operators each: layers, norms, shapes and arithmetic."""

    class Block(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(64, 64)
            self.norm = torch.nn.LayerNorm(64)

        def forward(self, x):  # type: ignore[no-untyped-def]
            y = torch.relu(self.linear(x))
            y = self.norm(y + x)
            return torch.cat([y[:, :32], y[:, 32:] * 0.5], 1)

    return torch.nn.Sequential(*(Block() for _ in range(blocks))).eval()


def large(torch: Any) -> Any:
    """Create a model with one million parameters."""
    return torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(241))).eval()


def _export(torch: Any, module: Any, dynamic: bool) -> Any:
    shapes = ({0: torch.export.Dim("batch", min=2, max=4096)},) if dynamic else None
    return torch.export.export(module, (torch.ones(4, 64),), dynamic_shapes=shapes)


def tables() -> dict[str, list[Case]]:
    """Time exports, decompositions, calls and loads."""
    libraries: dict[str, Any] = {"ts": ts}
    if peer_runtimes.has_torch():
        import torch
        import torch.export

        torch.set_num_threads(1)
        libraries["PyTorch"] = torch
    modules = {peer: model(torch) for peer, torch in libraries.items()}
    cases = []
    for title, dynamic in (("sizes are fixed", False), ("the batch is a symbol", True)):
        calls = {peer: partial(_export, torch, modules[peer], dynamic) for peer, torch in libraries.items()}
        cases.append(Case(f"export, {title}", dict(calls)))
        programs = {peer: call() for peer, call in calls.items()}
        cases.append(
            Case(f"decompositions, {title}", {w: partial(_decomposed, p) for w, p in programs.items()})
        )
    small = {peer: model(torch, 12) for peer, torch in libraries.items()}
    x = {peer: torch.ones(4, 64) for peer, torch in libraries.items()}
    calls_of = {}
    with ts.no_grad():
        exported = {peer: _export(torch, small[peer], True).module() for peer, torch in libraries.items()}
        scripted = {peer: torch.jit.script(small[peer]) for peer, torch in libraries.items()}
        for kind, functions in (("exported", exported), ("scripted", scripted)):
            for peer, function in functions.items():
                for _ in range(3):  # the second call compiles
                    function(x[peer])
            calls_of[kind] = Case(
                f"call, {kind}, 96 operators",
                {p: partial(_without_gradients, libraries[p], f, x[p]) for p, f in functions.items()},
            )
    loads = [_loads(libraries)]
    return {"Exports": cases, "Calls": list(calls_of.values()), "From the start of a process": loads}


def _decomposed(program: Any) -> Any:
    return program.run_decompositions()


def _without_gradients(torch: Any, function: Any, x: Any) -> Any:
    with torch.no_grad():
        return function(x)


def _loads(libraries: dict[str, Any]) -> Case:
    """Return cases of loading a program with a million parameters and of its first call."""
    case = Case("load and run 1 million parameters", {})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.pt2")
        saver = libraries.get("PyTorch", ts)
        saver.export.save(_export(saver, large(saver), False), path)
        for _ in range(5):
            for peer, torch in libraries.items():
                spent = best_seconds(RUN.format(torch.__name__, path), 1)
                case.seconds[peer] = min(spent, case.seconds.get(peer, spent))
    return case
