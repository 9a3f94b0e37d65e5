"""Load times, first calls and later calls of the models of `tests/pytorch_parity/models`, from TorchScript
archives. A first call compiles the model; with cached code, an earlier process has compiled it.

PyTorch writes the archives if it is installed, and `ts` otherwise. The code cache is
`ts.runtime.code_cache`.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import OURS, Case
from tests.pytorch_parity import models

ROUNDS = 3  # number of interleaved rounds of loads and first calls


def contestants() -> dict[str, ModuleType]:
    """Return the installed packages, set to one thread and without gradients."""
    found = {OURS: ts}
    if peer_runtimes.has_torch():
        import torch

        torch.set_num_threads(1)
        found["PyTorch"] = torch
    ts.set_num_threads(1)
    for package in found.values():
        package.set_grad_enabled(False)
    return found


def tables() -> dict[str, list[Case]]:
    """Return a table for each measured quantity, with a row per model."""
    packages = contestants()
    kinds = ("load", "first call", "first call, cached code", "call")
    found: dict[str, list[Case]] = {f"Models: {kind}": [] for kind in kinds}
    for family, name in models.names(OURS):
        archive, method = saved(next(reversed(packages.values())), family, name)
        with code_cache("0"):
            loads, firsts, calls = timed(packages, family, name, archive, method)
        with TemporaryDirectory() as folder, code_cache("1", folder):
            _, cached, _ = timed({OURS: ts}, family, name, archive, method)
        title = f"{family}, {name}"
        for cases, seconds in zip(found.values(), (loads, firsts, firsts | cached, {}), strict=True):
            cases.append(Case(title, calls, seconds=seconds, family=family))
    return found


@contextmanager
def code_cache(switch: str, folder: str = "") -> Iterator[None]:
    """Enable or disable the code cache, and set its folder."""
    before = {name: os.environ.get(name) for name in ("TS_CACHE", "TS_CACHE_DIR")}
    os.environ.update(TS_CACHE=switch, TS_CACHE_DIR=folder)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def timed(
    packages: dict[str, ModuleType], family: str, name: str, archive: bytes, method: str
) -> tuple[Any, Any, Any]:
    """Return the best times of loading and first calls in seconds, and functions for further calls."""
    best: tuple[dict[str, float], dict[str, float]] = {}, {}
    calls = {}
    for _ in range(ROUNDS):
        for peer, package in packages.items():
            args = arguments(package, family, name)
            start = time.perf_counter()
            module = package.jit.load(io.BytesIO(archive))
            loaded = time.perf_counter()
            run = partial(getattr(module, method), *args)
            run()
            for seconds, spent in zip(best, (loaded - start, time.perf_counter() - loaded), strict=True):
                seconds[peer] = min(seconds.get(peer, spent), spent)
            calls[peer] = run
    return *best, calls


def saved(package: ModuleType, family: str, name: str) -> tuple[bytes, str]:
    """Return an archive of a model, saved by a package, and the name of the method to call."""
    case = models.family(family, package.__name__).CASES[name]
    mode = "script" if "script" in case.ways else case.ways[0]
    calls = case.calls()
    buffer = io.BytesIO()
    package.jit.save(models.compiled(package, models.build(package, family, name), case, mode, calls), buffer)
    return buffer.getvalue(), calls[0].method


def arguments(package: ModuleType, family: str, name: str) -> tuple[Any, ...]:
    """Return the arguments of the first call."""
    package.manual_seed(0)
    first: models.Call = models.family(family, package.__name__).CASES[name].calls()[0]
    return first.args
