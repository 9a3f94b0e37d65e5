"""Schedules that combine other schedules, in sequence or as a chain.

This example uses a linear schedule for 5 steps, then an exponential schedule:

    SequentialLR(optimizer, [LinearLR(optimizer), ExponentialLR(optimizer, 0.9)], milestones=[5])
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from ts.optim.optimizer import Optimizer
from ts.optim.scheduling.base import LRScheduler, check_optimizer, set_rate
from ts.optim.scheduling.plateau import ReduceLROnPlateau


class _CombinedScheduler(LRScheduler):
    """Base class of schedules that combine other schedules."""

    _unsaved_attributes = frozenset({"optimizer", "_schedulers"})
    _schedulers: list[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """Return the state, including the states of the combined schedules."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class SequentialLR(_CombinedScheduler):
    """Schedule that uses a sequence of schedules and switches to the next one at each milestone."""

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        _check("SequentialLR", optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the "
                "number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of "
                f"milestones "
                f"to be equal to {len(milestones)}"
            )
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:  # the constructors of `schedulers` have changed the rates
            set_rate(group, group["initial_lr"])
        for scheduler in _leaf_schedulers(self):
            scheduler.last_epoch -= 1
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def _initial_step(self) -> None:
        self._schedulers[0]._initial_step()

    def step(self, epoch: int | None = None) -> None:
        """Advance the active schedule by one step."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def _update_lr(self, epoch: int | None = None) -> None:
        """Restart at the first schedule. An enclosing `SequentialLR` calls this to start this schedule."""
        self.last_epoch = 0
        self._schedulers[0]._update_lr(0)
        self._last_lr = self._schedulers[0].get_last_lr()


class ChainedScheduler(_CombinedScheduler):
    """Schedule that applies several schedules at every step, each to the rates set by its predecessor."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if schedulers and optimizer is None:
            optimizer = getattr(schedulers[0], "optimizer", None)
        _check("ChainedScheduler", optimizer, schedulers)
        assert optimizer is not None
        self.optimizer = optimizer
        self._schedulers = list(schedulers)
        self._last_lr = self.rates()

    def step(self, epoch: int | None = None) -> None:
        """Advance each schedule by one step."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self.rates()


def _leaf_schedulers(scheduler: LRScheduler) -> Iterator[LRScheduler]:
    """Yield recursively the schedules in a combined schedule that are not combined schedules themselves."""
    for inner in scheduler._schedulers if isinstance(scheduler, _CombinedScheduler) else []:
        yield from _leaf_schedulers(inner) if isinstance(inner, _CombinedScheduler) else [inner]


def _check(name: str, optimizer: Any, schedulers: Sequence[LRScheduler]) -> None:
    if not schedulers:
        chained = " to be chained" if name == "ChainedScheduler" else ""
        raise ValueError(f"{name} expects at least one scheduler{chained}, but got no scheduler.")
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs "
                f"to be "
                f"specified when calling `step`, but got one at index {i} in the given schedulers sequence."
            )
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                f"{type(optimizer).__name__}."
            )
