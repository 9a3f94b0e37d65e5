"""Timing of contestants in interleaved rounds, and tables of the best times.

Input: cases, each with one callable per contestant.  Output: a table of the seconds per call, with ratios and
their geometric means.

    measure([Case("sum", {"ts": f, "CPython": g})], rounds=5)
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

# The tables compare single-threaded execution; NumPy's and PyTorch's pools read these at import.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

OURS = "ts"


@dataclass
class Case:
    """Benchmark case: a program, with the function of each contestant."""

    name: str
    contestants: dict[str, Callable[[], object]]
    per_call: int = 1  # steps inside one call; the table shows time per step
    note: str = ""
    min_seconds: float = 0.02  # minimum seconds of a round
    family: str = ""  # row of the summary of a large table
    seconds: dict[str, float] = field(default_factory=dict)


def repetitions(run: Callable[[], object], min_seconds: float = 0.02) -> int:
    """Return the number of calls that take at least `min_seconds` seconds, after a warm-up."""
    run()
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            run()
        spent = time.perf_counter() - start
        if spent >= min_seconds or count >= 1_000_000:
            return count
        count = max(count * 2, math.ceil(count * min_seconds / max(spent, 1e-9)))


def measure(cases: list[Case], rounds: int = 5) -> list[Case]:
    """Set missing `case.seconds` to the best round of each contestant, with interleaved rounds."""
    for case in cases:
        if case.seconds:  # cases that measure themselves, in separate processes
            continue
        counts = {peer: repetitions(run, case.min_seconds) for peer, run in case.contestants.items()}
        best = dict.fromkeys(case.contestants, math.inf)
        for _ in range(rounds):
            for peer, run in case.contestants.items():
                start = time.perf_counter()
                for _ in range(counts[peer]):
                    run()
                best[peer] = min(best[peer], (time.perf_counter() - start) / counts[peer])
        case.seconds = {peer: seconds / case.per_call for peer, seconds in best.items()}
    return cases


def show_seconds(seconds: float | None) -> str:
    """Format a time with three significant digits and a unit."""
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def geometric_mean(values: list[float]) -> float:
    """Return the geometric mean of positive values."""
    return math.exp(sum(map(math.log, values)) / len(values))


def table(title: str, cases: list[Case]) -> str:
    """Return a Markdown table of the times of each case, with the ratios to `ts` in brackets."""
    peers = list(dict.fromkeys(peer for case in cases for peer in case.seconds if peer != OURS))
    lines = [f"### {title}", "", "| | " + " | ".join([OURS, *peers]) + " |", "|---" * (len(peers) + 2) + "|"]
    for case in cases:
        ours = case.seconds.get(OURS)
        cells = [show_seconds(ours)]
        for peer in peers:
            theirs = case.seconds.get(peer)
            ratio = f" ({theirs / ours:.2f}x)" if theirs is not None and ours else ""
            cells.append(show_seconds(theirs) + ratio)
        name = f"{case.name}, {case.note}" if case.note else case.name
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    means = []
    for peer in peers:
        ratios = [c.seconds[peer] / c.seconds[OURS] for c in cases if peer in c.seconds and OURS in c.seconds]
        means.append(f"**{geometric_mean(ratios):.2f}x**" if ratios else "-")
    if len(cases) > 1 and peers:
        lines.append("| geometric mean, ts = 1 | | " + " | ".join(means) + " |")
    return "\n".join(lines)
