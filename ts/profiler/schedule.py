"""Schedules (wait, warmup, active, repeat) that select the steps that a profiler records.

A schedule maps the number of a step to an action. With `schedule(wait=1, warmup=1, active=2, repeat=1)`, the
actions are NONE, WARMUP, RECORD, RECORD_AND_SAVE, NONE, NONE ...
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

_MIN_STEPS = {"wait": 0, "warmup": 0, "active": 1, "repeat": 0, "skip_first": 0}


class ProfilerAction(Enum):
    """Action of the profiler during a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Return a schedule of cycles: `wait` ignored steps, `warmup` discarded steps, `active` recorded steps.

    `repeat` is the number of cycles, or 0 for no limit. `skip_first` steps precede the first cycle. If
    `skip_first_wait` is true, the first cycle has no `wait` steps. Raise ValueError for too small numbers.
    """
    step_counts = {
        "wait": wait,
        "warmup": warmup,
        "active": active,
        "repeat": repeat,
        "skip_first": skip_first,
    }
    for name, min_steps in _MIN_STEPS.items():
        if step_counts[name] < min_steps:
            raise ValueError(f"schedule: {name} must be at least {min_steps}, not {step_counts[name]}")

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"the step number must not be negative, got {step}")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        cycle, cycle_step = divmod(step, wait + warmup + active)
        if (repeat and cycle >= repeat) or cycle_step < wait:
            return ProfilerAction.NONE
        if cycle_step < wait + warmup:
            return ProfilerAction.WARMUP
        return (
            ProfilerAction.RECORD_AND_SAVE
            if cycle_step == wait + warmup + active - 1
            else ProfilerAction.RECORD
        )

    return action
