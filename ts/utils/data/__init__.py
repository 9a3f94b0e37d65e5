"""Data sets, samplers and data loaders.

The loop receives batches of 32 samples in random order:

    data = TensorDataset(inputs, targets)
    for x, y in DataLoader(data, batch_size=32, shuffle=True): ...

With equal seeds, the order of samples is equal to PyTorch's.
"""

from __future__ import annotations

from ts.unsupported import names_for
from ts.utils.data.collate import default_collate, default_convert
from ts.utils.data.dataloader import DataLoader
from ts.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from ts.utils.data.distributed import DistributedSampler
from ts.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from ts.utils.data.worker import get_worker_info

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
    "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
    "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate", "default_convert",
    "get_worker_info", "random_split",
]  # fmt: skip


__getattr__ = names_for(__name__)
