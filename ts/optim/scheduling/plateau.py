"""ReduceLROnPlateau (reduce on plateau), a schedule that depends on a metric, such as the validation loss.

The rates decrease if the metric does not improve for more than `patience` steps:

    scheduler = ReduceLROnPlateau(optimizer, patience=3)
    scheduler.step(validation_loss)
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from ts.optim.optimizer import Optimizer
from ts.optim.scheduling.base import EPOCH_DEPRECATION, LRScheduler, check_optimizer, for_groups, set_rate


class ReduceLROnPlateau(LRScheduler):
    """Schedule that multiplies the rates by `factor` if a metric does not improve for `patience` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        check_optimizer(optimizer)
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer = optimizer
        self.factor = factor
        if isinstance(min_lr, (list, tuple)) and len(min_lr) != len(optimizer.param_groups):
            raise ValueError(f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}")
        self.min_lrs = for_groups(optimizer, "min_lr", min_lr)
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = self.rates()
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self._reset()

    def _reset(self) -> None:
        """Reset the best metric and the counters."""
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """True during the cooldown, while metrics are ignored after a reduction of the rates."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Return True if `a` improves on `best` by more than the threshold."""
        sign = 1 if self.mode == "max" else -1
        margin = abs(best) * self.threshold if self.threshold_mode == "rel" else self.threshold
        if math.isinf(best):
            return sign * a > sign * best
        if self.threshold_mode == "rel":  # as in PyTorch, the margin is negative for negative metrics
            margin = best * self.threshold
            return a > best + margin if sign > 0 else a < best - margin
        return sign * a > sign * best + margin

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Record the value of the metric. Reduce the rates after `patience` steps without improvement."""
        figure = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warnings.warn(EPOCH_DEPRECATION, UserWarning, stacklevel=2)
        self.last_epoch = epoch
        if self.is_better(figure, self.best):
            self.best = figure
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self.rates()

    def _reduce(self) -> None:
        if len(self.optimizer.param_groups) != len(self.min_lrs):
            raise RuntimeError(
                f"The number of param groups in the `optimizer` ({len(self.optimizer.param_groups)}) "
                f"differs from "
                f"when `ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new "
                f"param group "
                "being added to the optimizer. Please modify the `min_lrs` field to match the length of the "
                "`optimizer` param groups."
            )
        for group, rate, min_lr in zip(self.optimizer.param_groups, self.rates(), self.min_lrs, strict=True):
            reduced = max(rate * self.factor, min_lr)
            if rate - reduced > self.eps:
                set_rate(group, reduced)
