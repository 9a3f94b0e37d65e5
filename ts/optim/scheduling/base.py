"""Base class of learning rate schedulers, which counts steps and sets the rates of parameter groups.

A subclass defines the next rates:

    class Halves(LRScheduler):
        def get_lr(self):
            return [rate / 2 for rate in self.rates()] if self.last_epoch else self.rates()
"""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.optim.optimizer import Optimizer

EPOCH_DEPRECATION = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from "
    "None, the closed form is used instead of the new chainable form, where available. Please open an "
    "issue if you are "
    "unable to replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
_LINK = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
_STEP_OVERRIDDEN_WARNING = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
    f"Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. {_LINK}"
)
_STEP_ORDER_WARNING = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
    "should "
    "call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this "
    "will "
    f"result in PyTorch skipping the first value of the learning rate schedule. {_LINK}"
)


class LRScheduler:
    """Base class of learning-rate schedules. Subclasses implement `get_lr`."""

    _unsaved_attributes = frozenset({"optimizer"})  # attributes that `state_dict` does not contain
    _get_lr_called_within_step = False
    _is_initial = False
    _last_lr: list[Any]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _value(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training "
                    "from a "
                    "checkpoint but haven't properly loaded the optimizer state\n2. You're using "
                    "last_epoch >= 0 "
                    "for a fresh training run (not recommended)"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        _wrap_step(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Run the initial step, which sets the first learning rates of the groups."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    # ---- rates of a schedule

    def get_lr(self) -> list[Any]:
        """Return the learning rate of each group at step `last_epoch`, computed from the current rates."""
        raise NotImplementedError

    def closed_form(self) -> list[Any] | None:
        """Return the rates at step `last_epoch`, computed from the initial rates.

        Return None if the schedule has no formula for these rates.
        """
        return None

    def rates(self) -> list[Any]:
        """Return the current learning rate of each group."""
        return [_value(group["lr"]) for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[Any]:
        """Return the learning rates that the last step computed."""
        return self._last_lr

    # ---- steps

    def step(self, epoch: int | None = None) -> None:
        """Advance the schedule by one step, or to the step `epoch`."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(_STEP_OVERRIDDEN_WARNING, UserWarning, stacklevel=2)
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(_STEP_ORDER_WARNING, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next step, or of the step `epoch`."""
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            rates = None if epoch is None else self.closed_form()
            self._set(self.get_lr() if rates is None else rates)
        finally:
            self._get_lr_called_within_step = False

    def _set(self, rates: Sequence[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, rate)
        self._last_lr = self.rates()

    # ---- state

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes except the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name not in self._unsaved_attributes}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state of a schedule of the same class."""
        self.__dict__.update(state_dict)


def check_optimizer(optimizer: Any) -> None:
    """Raise TypeError unless the object is an Optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def warn_outside_of_step(scheduler: LRScheduler) -> None:
    """Warn if `get_lr` is called outside of `step`: it computes the next rates, not the current ones."""
    if not scheduler._get_lr_called_within_step:
        warnings.warn(
            "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
            UserWarning,
            stacklevel=3,
        )


def for_groups(optimizer: Optimizer, name: str, value: Any) -> list[Any]:
    """Return an option as a list with one value per group. Raise ValueError if the length is wrong."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {count}."
        )
    return list(value)


def set_rate(group: dict[str, Any], rate: Any) -> None:
    """Set the learning rate of a group. If the rate is a tensor, change the tensor."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(rate)
    else:
        group["lr"] = rate


def _value(rate: Any) -> Any:
    """Return a learning rate. A tensor is copied, because the optimizer modifies its tensor in place."""
    return rate.clone() if isinstance(rate, Tensor) else rate


def _wrap_step(optimizer: Optimizer) -> None:
    """Wrap `step` of the optimizer so that each call is recorded."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    step = optimizer.step.__func__  # type: ignore[attr-defined]

    @functools.wraps(step)
    def step_and_record(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        return step(self, *args, **kwargs)

    step_and_record._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = types.MethodType(step_and_record, optimizer)  # type: ignore[method-assign]
