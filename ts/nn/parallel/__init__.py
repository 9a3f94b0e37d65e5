"""Modules in several processes, and on several devices at once, of which there is one.

model = ts.nn.parallel.DistributedDataParallel(model)     gradients are the mean over the processes
model = ts.nn.DataParallel(model)                         calls the module

The state dicts of both have the prefix "module."
"""

from __future__ import annotations

from typing import Any

from ts.absent import names_for
from ts.nn.modules.module import Module
from ts.nn.parallel.distributed import DistributedDataParallel


class DataParallel(Module):
    """A module whose batches could be shared among GPUs; the whole batch goes to one device."""

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []
        self.output_device = output_device
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's result."""
        return self.module(*inputs, **kwargs)


__all__ = ["DataParallel", "DistributedDataParallel"]
__getattr__ = names_for(__name__)
