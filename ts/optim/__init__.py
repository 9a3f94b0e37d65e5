"""Optimizers, which update parameters by means of gradients, and learning rate schedules.

Input: the gradients in `parameter.grad`. Output: changed parameters. Parameters whose `grad` is None do not
change. All parameters of a group are updated together.

Example:

    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = lr_scheduler.StepLR(optimizer, step_size=30)
    optimizer.step()
    scheduler.step()
"""

from __future__ import annotations

from ts.optim import lr_scheduler, swa_utils
from ts.optim._adafactor import Adafactor
from ts.optim._muon import Muon
from ts.optim.adadelta import Adadelta
from ts.optim.adagrad import Adagrad
from ts.optim.adam import Adam
from ts.optim.adamax import Adamax
from ts.optim.adamw import AdamW
from ts.optim.asgd import ASGD
from ts.optim.lbfgs import LBFGS
from ts.optim.nadam import NAdam
from ts.optim.optimizer import Optimizer, swap_in_optimizer_params_and_state
from ts.optim.radam import RAdam
from ts.optim.rmsprop import RMSprop
from ts.optim.rprop import Rprop
from ts.optim.sgd import SGD
from ts.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Muon", "NAdam",
    "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "lr_scheduler", "swa_utils",
    "swap_in_optimizer_params_and_state",
]  # fmt: skip
