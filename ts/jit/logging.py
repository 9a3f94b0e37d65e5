"""Named counters that programs increment, in a logger. The module is also available as `ts.jit._logging`.

Example: `ts.jit.logging.add_stat_value("steps", 1)` adds 1 to the counter "steps", in Python and in scripts.
"""

from __future__ import annotations

from ts import ops
from ts._core.builtin_ops.stat_counters import AggregationType, LockingLogger, NoopLogger, set_logger

__all__ = ["AggregationType", "LockingLogger", "NoopLogger", "add_stat_value", "set_logger", "time_point"]

add_stat_value = ops.prim.AddStatValue
time_point = ops.prim.TimePoint
