"""Named counters of `torch.jit._logging`, to which programs add numbers.

Input: calls of `add_stat_value(key, number)` in scripts and Python. Output: the sum of the added numbers for
each key. Example:

    logger = LockingLogger()
    before = set_logger(logger)
    logger.get_counter_val("steps")         # the sum, or 0 for an unused key
"""

from __future__ import annotations

import enum
import threading


class AggregationType(enum.Enum):
    """Quantity that `get_counter_val` returns: the sum or the mean of the added numbers."""

    SUM = 0
    AVG = 1


class NoopLogger:
    """Logger that discards all values."""

    def add_stat_value(self, key: str, value: int) -> None:
        """Discard the number `value`."""

    def get_counter_val(self, key: str) -> int:
        return 0


class LockingLogger(NoopLogger):
    """Thread-safe logger that sums the values of each key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # name of a counter -> (sum of its values, number of values)
        self._sums: dict[str, tuple[int, int]] = {}
        self._kinds: dict[str, AggregationType] = {}

    def add_stat_value(self, key: str, value: int) -> None:
        with self._lock:
            total, count = self._sums.get(key, (0, 0))
            self._sums[key] = total + value, count + 1

    def get_counter_val(self, key: str) -> int:
        """Return the sum of the values added for `key`.

        For the aggregation type AVG, return the mean as an int.
        """
        with self._lock:
            total, count = self._sums.get(key, (0, 0))
            mean = self._kinds.get(key) is AggregationType.AVG
            return total // count if mean and count else total

    def set_aggregation_type(self, key: str, kind: AggregationType) -> None:
        with self._lock:
            self._kinds[key] = kind


_logger: NoopLogger = NoopLogger()


def logger() -> NoopLogger:
    """Return the logger to which `add_stat_value` in scripts adds numbers."""
    return _logger


def set_logger(new: NoopLogger) -> NoopLogger:
    """Set the logger to which `add_stat_value` in scripts adds numbers. Return the previous logger."""
    global _logger
    before, _logger = _logger, new
    return before
