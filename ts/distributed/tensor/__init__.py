"""`torch.distributed.tensor`, with placements of tensors on the dimensions of a device mesh.

A library can create placements when it is imported. For example, a plan for tensors by name:

    plan = {"weight": Shard(0), "bias": Replicate()}

Placements compare, hash and print as in PyTorch. Distributed tensors are unsupported. Calls of `DTensor` and
`distribute_tensor` raise an error.
"""

from ts.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
