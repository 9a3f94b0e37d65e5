"""Learning rate schedulers, which compute the rate of each parameter group from the number of steps.

A program calls `step` after each epoch. In this example, the rate is 0.1 for 30 epochs, then 0.01:

    scheduler = StepLR(SGD(params, lr=0.1), step_size=30, gamma=0.1)
    scheduler.step()

Several schedulers can change one optimizer, because the method `get_lr` computes the next rates from the
current rates. The method `closed_form` computes the rates at a step from the initial rates.
"""

from __future__ import annotations

from ts.optim.scheduling.base import EPOCH_DEPRECATION, LRScheduler
from ts.optim.scheduling.closed_form import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from ts.optim.scheduling.combined import ChainedScheduler, SequentialLR
from ts.optim.scheduling.cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from ts.optim.scheduling.plateau import ReduceLROnPlateau

_LRScheduler = LRScheduler  # name of the class before PyTorch 2

__all__ = [
    "EPOCH_DEPRECATION", "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR",
    "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip
