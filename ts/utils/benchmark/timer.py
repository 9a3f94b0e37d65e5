"""Microbenchmark timer: `timeit.Timer` with a warm-up, a number of threads, and blocks of runs."""

from __future__ import annotations

import enum
import textwrap
import timeit
from collections.abc import Callable
from typing import Any, NoReturn

import ts
from ts.utils.benchmark.measurement import Measurement, TaskSpec

_MAX_BLOCK_ITERATIONS = 1e9  # maximum number of runs in one block


class Language(enum.Enum):
    """Language of the statements. Only Python is supported."""

    PYTHON = 0
    CPP = 1


def timer() -> float:
    """Return the time in seconds, after GPU synchronization if a GPU is available."""
    if ts.cuda.is_available():
        ts.cuda.synchronize()
    return timeit.default_timer()


class Timer:
    """Timer of a statement.

    stmt, setup      timed statement, and statement executed before it. Both can use the names in `globals`
    timer            function that returns seconds
    label, sub_label, description, env    texts for tables of measurements
    num_threads      value of `ts.set_num_threads` during the measurement
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError("Timer measures Python statements only; C++ is unsupported")
        if global_setup:
            raise ValueError("global_setup is C++ only; use `setup` for Python statements")
        stmt, setup = (textwrap.dedent(source).strip() or "pass" for source in (stmt, setup))
        names = {"torch": ts, **(globals or {})}
        self._timer = timeit.Timer(stmt=stmt, setup=setup, timer=timer, globals=names)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def _timeit(self, iterations: int) -> float:
        return max(self._timer.timeit(iterations), 1e-9)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Measure `number` runs as one block, after a warm-up of `number` / 100 (at least 2) runs."""
        with _Threads(self._task_spec.num_threads):
            self._timeit(max(int(number // 100), 2))
            return Measurement(number, [self._timeit(number)], self._task_spec)

    def _block_size(self, seconds: float) -> int:
        """Return the number of runs in a block.

        It is the smallest power of ten for which a block takes long enough. A block must take a thousandth of
        `seconds`, and the overhead of the timer must be negligible. A block that takes more than `seconds` or
        has `_MAX_BLOCK_ITERATIONS` runs is always sufficient.
        """
        overhead = min(self._timeit(0) for _ in range(5))
        iterations = 1
        while True:
            elapsed = self._timeit(iterations)
            if overhead / elapsed <= 1e-4 and elapsed >= seconds / 1000:
                return iterations
            if elapsed > seconds or iterations >= _MAX_BLOCK_ITERATIONS:
                return iterations
            iterations *= 10

    def blocked_autorange(
        self, callback: Callable[[int, float], NoReturn] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measure blocks of runs for at least `min_run_time` seconds in total.

        `callback(number of runs, seconds)` is called after each block.
        """
        with _Threads(self._task_spec.num_threads):
            iterations = self._block_size(min_run_time)
            times: list[float] = []
            while not times or sum(times) < min_run_time:
                times.append(self._timeit(iterations))
                if callback is not None:
                    callback(iterations, times[-1])
            return Measurement(iterations, times, self._task_spec)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], NoReturn] | None = None,
    ) -> Measurement:
        """Measure until the interquartile range is less than `threshold` times the median.

        The measurement ends after `max_run_time` seconds in any case.
        """
        with _Threads(self._task_spec.num_threads):
            iterations = self._block_size(min_run_time)
            times: list[float] = []
            while True:
                times.append(self._timeit(iterations))
                if callback is not None:
                    callback(iterations, times[-1])
                measurement = Measurement(iterations, times, self._task_spec)
                total = sum(times)
                if total > max_run_time or (
                    total >= min_run_time and len(times) >= 4 and measurement.meets_confidence(threshold)
                ):
                    return measurement


class _Threads:
    """Context manager that sets the number of threads, and restores the previous number at the end."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __enter__(self) -> None:
        self.before = ts.get_num_threads()
        ts.set_num_threads(self.n)

    def __exit__(self, *_: object) -> None:
        ts.set_num_threads(self.before)
