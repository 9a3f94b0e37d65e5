"""Parallel training of a module by several processes or GPUs.

In the state dicts of both wrappers, names have the prefix "module."

Example:

    model = ts.nn.parallel.DistributedDataParallel(model)     # gradients are the mean over the processes
    model = ts.nn.DataParallel(model)                         # calls the module on one device
"""

from __future__ import annotations

from ts.nn.parallel.data_parallel import DataParallel, data_parallel
from ts.nn.parallel.distributed import DistributedDataParallel
from ts.nn.parallel.parallel_apply import parallel_apply
from ts.nn.parallel.replicate import replicate
from ts.nn.parallel.scatter_gather import gather, scatter

__all__ = [
    "DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate",
    "scatter",
]  # fmt: skip
