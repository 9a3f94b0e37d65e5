"""Modules on several devices at once: here they run on one.

    model = ts.nn.DataParallel(model)            calls the module; its state dict has the prefix "module."
"""

from __future__ import annotations

from typing import Any

from ts.absent import names_for
from ts.nn.modules.module import Module


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


class DistributedDataParallel(Module):
    """A module whose gradients processes would share: there is no group of processes."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call init_process_group."
        )


__getattr__ = names_for(__name__)
