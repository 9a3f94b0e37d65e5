"""Multi-GPU data parallelism in one process: `data_parallel` splits a batch, `DataParallel` does not."""

from __future__ import annotations

from typing import Any

import ts
from ts.cuda._devices import usable
from ts.cuda._utils import gpu_index
from ts.nn.modules.module import Module
from ts.nn.parallel.parallel_apply import parallel_apply
from ts.nn.parallel.replicate import replicate
from ts.nn.parallel.scatter_gather import gather, scatter_kwargs

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Wrapper that calls its module with the whole batch on one device.

    Unlike in PyTorch, batches are not split.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []
        self.output_device = output_device
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the module's result."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """Call copies of a module on parts of a batch, one on each GPU, and concatenate the results.

    Raise RuntimeError without a GPU, as in PyTorch.
    """
    inputs = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    if not usable():
        raise RuntimeError("device type could not be determined")
    indices = [gpu_index(d) for d in (device_ids or range(ts.cuda.device_count()))]
    output = indices[0] if output_device is None else gpu_index(output_device)
    scattered_inputs, kwargs = scatter_kwargs(inputs, module_kwargs, indices, dim)
    if not scattered_inputs and not kwargs:
        scattered_inputs, kwargs = ((),), ({},)
    used_indices = indices[: len(scattered_inputs)]
    if len(used_indices) == 1:
        return module(*scattered_inputs[0], **kwargs[0])
    return gather(
        parallel_apply(replicate(module, used_indices), scattered_inputs, kwargs, used_indices), output, dim
    )
