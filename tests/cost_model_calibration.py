"""Compare measured operator times with the minimum times of `ts/ops/cost_model.py`.

    python -m tests.cost_model_calibration                   every family
    python -m tests.cost_model_calibration loss pool         these families

Input: each operator record with a cost rule, on arguments of about a million elements and one thread. Output: a row per record with
the measured time of its fastest dtype divided by the estimate; then the families with a median ratio above 3, and the records with a
ratio below 1, whose calls are rejected although they would finish in time. Returns 1 if there are any of the latter.

The result depends on the machine, so this is not a test.  Other load on the machine increases all ratios.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import ts
from tests import samples
from ts.ops import registry, cost_model

SHAPES = ((1000, 1000), (1_000_000,), (4, 500, 500), (8, 16, 90, 90), (2, 4, 50, 50, 50))
DTYPES = (ts.float32, ts.float64, ts.int64, ts.float16, ts.bool)
LONG = 0.5  # seconds; slower calls are measured once
MIN_SECONDS = 2e-4  # records with shorter times are omitted, because the fixed cost of a call dominates


def seconds(operator: Any, arguments: list[Any]) -> float:
    """Return the shortest time of up to three calls."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        operator(*arguments)
        best = min(best, time.perf_counter() - start)
        if best > LONG:
            break
    return best


def find_arguments(record: Any, dtype: Any) -> list[Any] | None:
    """Return large arguments that the operator accepts."""
    for values in samples.candidates(record, dtype, "cpu"):
        try:
            samples.operator(record)(*values)
        except samples.REJECTION_ERRORS + (MemoryError,):
            continue
        return values
    return None


def measure(record: Any) -> Iterator[tuple[float, float, str]]:
    """Yield the measured time, the estimated time and the dtype name for each accepted dtype."""
    rule = cost_model.rule_of(record)
    if rule is None or record.variant or record.key.removeprefix("aten::") in samples.SPECIAL:
        return
    for dtype in DTYPES:
        arguments = find_arguments(record, dtype)
        if arguments is not None:
            yield seconds(samples.operator(record), arguments), 1e-9 * rule(*arguments), str(dtype)[6:]


def main(families: list[str]) -> int:
    """Measure the operators and print estimates that are too high or too low."""
    registry.load()
    samples.PROFILES = SHAPES
    ts.set_num_threads(1)
    warnings.simplefilter("ignore")
    ratios = defaultdict(list)
    above = []
    for record in registry.records():
        if families and record.family not in families:
            continue
        results = list(measure(record))
        if not results or max(elapsed for elapsed, _, _ in results) < MIN_SECONDS:
            continue
        ratio = min(elapsed / max(estimate, 1e-12) for elapsed, estimate, _ in results)
        ratios[record.family].append(ratio)
        if ratio < 1:
            above.append(f"{ratio:6.2f} {record.key}")
        times = "  ".join(f"{dtype} {1e3 * elapsed:.3g}/{1e3 * estimate:.3g}" for elapsed, estimate, dtype in results)
        print(f"{record.family:18} {record.key:40} {ratio:8.2f}   {times} ms", flush=True)
    for family, several in ratios.items():
        if statistics.median(several) > 3:
            print(f"{family}: {statistics.median(several):.1f} times the estimates")
    print("\n".join(above) or "no estimate is above the time")
    return bool(above)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
