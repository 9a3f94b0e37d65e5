"""`torch.distributed.tensor`: placements of tensors on the dimensions of a device mesh.

    plan = {"weight": Shard(0), "bias": Replicate()}

Placements compare, hash and print as in PyTorch. They exist because some libraries create them at import.
Distributed tensors are unsupported: calls of `DTensor` and `distribute_tensor` raise an error.
"""

from ts.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
