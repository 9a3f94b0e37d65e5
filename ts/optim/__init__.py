"""Optimizers: rules that change parameters by their gradients, and schedules of their learning rates.

    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = lr_scheduler.StepLR(optimizer, step_size=30)
    optimizer.step()                    changes every parameter whose `grad` is a tensor
    scheduler.step()

A gradient is what stands in `parameter.grad`, whoever put it there.
"""

from __future__ import annotations

from ts.optim import lr_scheduler, swa_utils
from ts.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from ts.optim.adaptive import Adadelta, Adagrad, RMSprop
from ts.optim.descent import ASGD, SGD, Rprop
from ts.optim.optimizer import Optimizer

__all__ = [
    "ASGD", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer", "RAdam", "RMSprop",
    "Rprop", "lr_scheduler", "swa_utils",
]  # fmt: skip
