"""Learning rate schedules in closed form (step decay, exponential decay, polynomial decay, linear warmup).

The module also contains cosine annealing and schedules by user functions. For example,
`CosineAnnealingLR(optimizer, T_max=100)` decreases the rates along a cosine in 100 steps.
"""

from __future__ import annotations

import math
import types
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ts.optim.optimizer import Optimizer
from ts.optim.scheduling.base import LRScheduler, warn_outside_of_step


class _ByFactor(LRScheduler):
    """Base class of schedules that multiply the rates by `factor()` in each step."""

    def factor(self) -> float:
        """Return the factor from the current rates to the next rates."""
        raise NotImplementedError

    def total_factor(self) -> float:
        """Return the factor from the initial rates to the rates at step `last_epoch`."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        factor = self.factor()
        return self.rates() if factor == 1 else [rate * factor for rate in self.rates()]

    def closed_form(self) -> list[Any] | None:
        factor = self.total_factor()
        return [base * factor for base in self.base_lrs]


class StepLR(_ByFactor):
    """Schedule that multiplies the rates by `gamma` every `step_size` steps."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor(self) -> float:
        return self.gamma if self.last_epoch and self.last_epoch % self.step_size == 0 else 1

    def total_factor(self) -> float:
        return float(self.gamma ** (self.last_epoch // self.step_size))


class MultiStepLR(_ByFactor):
    """Schedule that multiplies the rates by `gamma` at each milestone."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor(self) -> float:
        return float(self.gamma ** self.milestones[self.last_epoch])

    def total_factor(self) -> float:
        return float(self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch))


class ExponentialLR(_ByFactor):
    """Schedule that multiplies the rates by `gamma` at every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor(self) -> float:
        return 1 if self._is_initial else self.gamma

    def total_factor(self) -> float:
        return float(self.gamma**self.last_epoch)


class ConstantLR(_ByFactor):
    """Schedule that multiplies the initial rates by `factor` during the first `total_iters` steps."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.__dict__["factor"] = factor  # stored in `__dict__`, because the class has a method `factor`
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        factor: float = self.__dict__["factor"]
        if self.last_epoch == 0:
            return [rate * factor for rate in self.rates()]
        return (
            [rate * (1 / factor) for rate in self.rates()]
            if self.last_epoch == self.total_iters
            else self.rates()
        )

    def total_factor(self) -> float:
        factor: float = self.__dict__["factor"]
        return 1 if self.last_epoch >= self.total_iters else factor


class LinearLR(_ByFactor):
    """Schedule that multiplies the initial rates by a factor that changes linearly in `total_iters` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        climb = self.end_factor - self.start_factor
        return 1 + climb / (self.total_iters * self.start_factor + (self.last_epoch - 1) * climb)

    def total_factor(self) -> float:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * done


class PolynomialLR(_ByFactor):
    """Schedule that multiplies the initial rates by a power of the remaining fraction of `total_iters`."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def factor(self) -> float:
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        remaining, before = (1 - step / self.total_iters for step in (self.last_epoch, self.last_epoch - 1))
        return float((remaining / before) ** self.power)

    def total_factor(self) -> float:
        return float((1 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power)


class CosineAnnealingLR(LRScheduler):
    """Cosine annealing: in `T_max` steps, rates fall along half a cosine to `eta_min`, then rise again."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        step, low, length = self.last_epoch, self.eta_min, self.T_max
        if step == 0:
            return self.rates()
        if self._step_count == 1:
            return self.closed_form()
        # At the start of a rise, the current rate is `eta_min`, and the quotient below would be a division by
        # 0.
        if (step - 1 - length) % (2 * length) == 0:
            rise = (1 - math.cos(math.pi / length)) / 2
            return [
                rate + (base - low) * rise for rate, base in zip(self.rates(), self.base_lrs, strict=True)
            ]
        current, before = (1 + math.cos(math.pi * n / length) for n in (step, step - 1))
        return [current / before * (rate - low) + low for rate in self.rates()]

    def closed_form(self) -> list[Any]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class _ByFunctions(LRScheduler):
    """Base class of schedules with one user function per group."""

    _unsaved_attributes = frozenset({"optimizer", "lr_lambdas"})

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        functions = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(functions) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(functions)}")
        self.lr_lambdas: list[Callable[[int], Any]] = functions
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return the state. It contains the attributes of callable objects, but no plain functions."""
        function_states = [
            None if isinstance(f, types.FunctionType) else dict(f.__dict__) for f in self.lr_lambdas
        ]
        return {**super().state_dict(), "lr_lambdas": function_states}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for function, function_state in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if function_state is not None:
                function.__dict__.update(function_state)


class LambdaLR(_ByFunctions):
    """Schedule that multiplies the initial rate by a function of the step."""

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_ByFunctions):
    """Schedule that multiplies the current rate by a function of the step."""

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        if self._is_initial:
            return self.rates()
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, self.rates(), strict=True)]
