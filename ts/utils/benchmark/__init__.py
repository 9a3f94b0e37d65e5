"""Timing of Python statements: `torch.utils.benchmark`.

The example prints the time of a matrix product, and a table that compares two timers:

    timer = Timer("x @ x", setup="x = torch.ones(64, 64)", label="matmul", sub_label="64 x 64", num_threads=1)
    print(timer.blocked_autorange())
    Compare([timer.timeit(100), other.timeit(100)]).print()

In statements, the name `torch` means `ts`, unless `globals` defines `torch`. Instruction counts
(`collect_callgrind`) and fuzzers are unsupported. `valgrind --tool=callgrind` counts instructions.
"""

from ts.unsupported import names_for
from ts.utils.benchmark.compare import Compare
from ts.utils.benchmark.measurement import Measurement, TaskSpec, select_unit, trim_sigfig, unit_to_english
from ts.utils.benchmark.timer import Language, Timer, timer

__all__ = [
    "Compare",
    "Language",
    "Measurement",
    "TaskSpec",
    "Timer",
    "select_unit",
    "timer",
    "trim_sigfig",
    "unit_to_english",
]
__getattr__ = names_for(__name__)
