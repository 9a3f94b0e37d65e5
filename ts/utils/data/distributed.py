"""Distributed sampler (data sharding): indices of the samples that one of several processes reads.

list(DistributedSampler(range(10), num_replicas=3, rank=1, shuffle=False))      [1, 4, 7, 0]
"""

from __future__ import annotations

from ts.utils.data.sampler import DistributedSampler

__all__ = ["DistributedSampler"]
