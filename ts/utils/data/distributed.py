"""Distributed sampler (data sharding): indices of the samples that one of several processes reads.

For example, the second of three processes reads the samples [1, 4, 7, 0]. Two of the ten samples are read
twice, because 10 is not divisible by 3:

    list(DistributedSampler(range(10), num_replicas=3, rank=1, shuffle=False))
"""

from __future__ import annotations

from ts.utils.data.sampler import DistributedSampler

__all__ = ["DistributedSampler"]
