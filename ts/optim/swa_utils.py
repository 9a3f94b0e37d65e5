"""Stochastic weight averaging (Polyak averaging) and exponential moving averages of model parameters.

Example:

    averaged = AveragedModel(model)
    scheduler = SWALR(optimizer, swa_lr=0.05)
    averaged.update_parameters(model)           # after each epoch
    scheduler.step()                            # after each epoch
    update_bn(loader, averaged)                 # at the end
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

import ts
from ts import nn
from ts._core.tensor.tensor import Tensor
from ts.nn.modules.batchnorm import _BatchNorm
from ts.optim.optimizer import Optimizer
from ts.optim.scheduling.base import LRScheduler, for_groups, warn_outside_of_step

Average = Callable[[Tensor, Tensor, Any], Tensor]
Averages = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip


def get_swa_avg_fn() -> Average:
    """Return the averaging function for the mean of all models."""

    def average(averaged: Tensor, x: Tensor, count: Any) -> Tensor:
        with ts.no_grad():
            result: Tensor = averaged + (x - averaged) / (count + 1)
            return result

    return average


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return the averaging function for an exponential moving average of models."""
    _check_decay(decay)

    def average(averaged: Tensor, x: Tensor, count: Any) -> Tensor:
        with ts.no_grad():
            result: Tensor = averaged * decay + x * (1 - decay)
            return result

    return average


def get_swa_multi_avg_fn() -> Averages:
    """Return a function that updates a list of averages in place to the mean of all models."""
    return _in_place(lambda count: 1 / (float(count) + 1), get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """Return a function that updates a list of averages in place to an exponential moving average."""
    _check_decay(decay)
    return _in_place(lambda count: 1 - decay, get_ema_avg_fn(decay))


def _in_place(weight_of: Callable[[Any], float], general: Average) -> Averages:
    """Return a function that updates averages in place. New values have the weight `weight_of(count)`.

    For tensors that are neither floating nor complex, it instead copies the result of `general(mean, x,
    count)` to the average.
    """

    def average(averaged: Sequence[Tensor], current: Sequence[Tensor], count: Any) -> None:
        with ts.no_grad():
            pairs = list(zip(averaged, current, strict=True))
            float_pairs = [(mean, x) for mean, x in pairs if mean.is_floating_point() or mean.is_complex()]
            if float_pairs:
                ts._foreach_lerp_(
                    [mean for mean, _ in float_pairs], [x for _, x in float_pairs], weight_of(count)
                )
            for mean, x in pairs:
                if not (mean.is_floating_point() or mean.is_complex()):
                    mean.copy_(general(mean, x, count))

    return average


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(nn.Module):
    """Copy of a model with averaged parameters. `update_parameters` updates the averages."""

    n_averaged: Tensor

    def __init__(
        self,
        model: nn.Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", ts.tensor(0, dtype=ts.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the output of the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: nn.Module) -> None:
        """Update the averages with the parameters of `model`."""
        averaged, current = self._tensors(self.module), self._tensors(model)
        current = [x.detach().to(mean.device) for mean, x in zip(averaged, current, strict=True)]
        averaged = [mean.detach() for mean in averaged]
        count = self.n_averaged
        if not bool(count):
            for mean, x in zip(averaged, current, strict=True):
                mean.copy_(x)
        elif self.avg_fn is not None:
            for mean, x in zip(averaged, current, strict=True):
                mean.copy_(self.avg_fn(mean, x, count.to(mean.device)))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averaged, current, count)
        if not self.use_buffers:
            for mean, x in zip(self.module.buffers(), model.buffers(), strict=True):
                mean.detach().copy_(x.detach().to(mean.device))
        self.n_averaged += 1

    def _tensors(self, model: nn.Module) -> list[Tensor]:
        buffers = model.buffers() if self.use_buffers else ()
        return list(itertools.chain(model.parameters(), buffers))


def update_bn(loader: Iterable[Any], model: nn.Module, device: Any = None) -> None:
    """Recompute the batch normalization statistics of a model from the batches of `loader`."""
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    training = model.training
    model.train()
    with ts.no_grad():
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
        for batch in loader:
            model_input = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(model_input if device is None else model_input.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Schedule that changes the rates to `swa_lr` in `anneal_epochs` steps and then keeps them constant."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(for_groups(optimizer, "swa_lr", swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _swa_weight(self, step: int) -> float:
        """Return the weight of `swa_lr` in the learning rate at `step`."""
        progress = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return progress if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * progress)) / 2

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        previous_weight, weight = self._swa_weight(step - 1), self._swa_weight(step)
        rates = []
        for group in self.optimizer.param_groups:
            target_lr, rate = group["swa_lr"], group["lr"]
            start = (
                target_lr
                if previous_weight == 1
                else (rate - previous_weight * target_lr) / (1 - previous_weight)
            )
            rates.append(target_lr * weight + start * (1 - weight))
        return rates
