"""Cyclical learning rate schedules (triangular, one-cycle policy, cosine annealing with warm restarts).

For example, `OneCycleLR(optimizer, max_lr=0.1, total_steps=1000)` increases the rate to 0.1, then decreases
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ts.optim.optimizer import Optimizer
from ts.optim.scheduling.base import LRScheduler, check_optimizer, for_groups, set_rate, warn_outside_of_step


class _MomentumScheduler(LRScheduler):
    """Base class of schedules that change the momentum (in Adam, the first beta) inversely to the rate."""

    cycle_momentum: bool
    use_beta1: bool = False

    def _find_momentum(self) -> None:
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in defaults

    def _init_momentum(self, lowest: list[float], highest: list[float]) -> None:
        for low, high, group in zip(lowest, highest, self.optimizer.param_groups, strict=True):
            self._set_momentum(group, high)
            group["max_momentum"] = high
            group["base_momentum"] = low

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_MomentumScheduler):
    """Schedule in cycles: the rate rises from `base_lr` to `max_lr` and falls again.

    For some values of `mode`, the maximum decreases from cycle to cycle or from step to step.
    """

    _unsaved_attributes = frozenset({"optimizer", "_scale_fn"})
    _MODES: dict[str, str] = {"triangular": "cycle", "triangular2": "cycle", "exp_range": "iterations"}

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        lowest = for_groups(optimizer, "base_lr", base_lr)
        if last_epoch == -1:
            for rate, group in zip(lowest, optimizer.param_groups, strict=True):
                set_rate(group, rate)
        self.max_lrs = for_groups(optimizer, "max_lr", max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        if scale_fn is None and mode not in self._MODES:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else self._MODES[mode]
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum()
            self.base_momentums = for_groups(optimizer, "base_momentum", base_momentum)
            self.max_momentums = for_groups(optimizer, "max_momentum", max_momentum)
            if last_epoch == -1:
                self._init_momentum(self.base_momentums, self.max_momentums)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x: float) -> float:
        """Return the factor for the triangle's height at `x`, which is the number of a cycle or of a step."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        if self.mode == "triangular":
            return 1.0
        return float(1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x)

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        fraction = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for low, high, group in bounds:
                self._set_momentum(group, high - (high - low) * fraction * height)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [base + (high - base) * fraction * height for base, high in pairs]

    def state_dict(self) -> dict[str, Any]:
        """Return the state, with the attributes of a callable scale function.

        Plain functions are not saved.
        """
        function_state = getattr(self._scale_fn, "__dict__", None) or None
        return {**super().state_dict(), "_scale_fn_custom": dict(function_state) if function_state else None}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        function_state = state_dict.get("_scale_fn_custom")
        super().load_state_dict({name: v for name, v in state_dict.items() if name != "_scale_fn_custom"})
        if function_state is not None and self._scale_fn is not None:
            self._scale_fn.__dict__.update(function_state)


class OneCycleLR(_MomentumScheduler):
    """Schedule that rises to `max_lr` and then falls to a minimum far below the initial rate."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _count_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        highest = for_groups(optimizer, "max_lr", max_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum()
            if last_epoch == -1:
                self._init_momentum(
                    for_groups(optimizer, "base_momentum", base_momentum),
                    for_groups(optimizer, "max_momentum", max_momentum),
                )
        super().__init__(optimizer, last_epoch)

    def _between(self, start: Any, end: Any, fraction: float) -> Any:
        if self._anneal_func_type == "linear":
            return (end - start) * fraction + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * fraction) + 1)

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        start = 0.0
        phase = self._schedule_phases[-1]
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        fraction = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], fraction))
            if self.cycle_momentum:
                momentum_range = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(*momentum_range, fraction))
        return rates


def _count_steps(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    def checked(name: str, count: Any) -> int:
        if not isinstance(count, int) or count <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {count}")
        return count

    if total_steps is not None:
        return checked("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return checked("epochs", epochs) * checked("steps_per_epoch", steps_per_epoch)


def _phases(total: int, warmup_fraction: float, three: bool) -> list[dict[str, Any]]:
    """Return one dict per phase. It contains the phase's last step and four names of options.

    The options contain the rates and the momenta at the start and at the end of the phase.
    """

    def phase(end: float, rates: str, momenta: str) -> dict[str, Any]:
        names = "start_lr", "end_lr", "start_momentum", "end_momentum"
        return {"end_step": end, **dict(zip(names, [*rates.split(), *momenta.split()], strict=True))}

    up = phase(float(warmup_fraction * total) - 1, "initial_lr max_lr", "max_momentum base_momentum")
    if not three:
        return [up, phase(total - 1, "max_lr min_lr", "base_momentum max_momentum")]
    down = phase(float(2 * warmup_fraction * total) - 2, "max_lr initial_lr", "base_momentum max_momentum")
    return [up, down, phase(total - 1, "initial_lr min_lr", "max_momentum max_momentum")]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing with warm restarts: the rates fall along half a cosine to `eta_min`, then restart.

    The first period has `T_0` steps. Each later period is longer by the factor `T_mult`.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Advance by one step, or to the possibly fractional `epoch`."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self._set_epoch(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            self._set(self.get_lr())
        finally:
            self._get_lr_called_within_step = False

    def _set_epoch(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        self.T_cur, self.T_i = epoch, self.T_0
        if epoch >= self.T_0 and self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        elif epoch >= self.T_0:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
