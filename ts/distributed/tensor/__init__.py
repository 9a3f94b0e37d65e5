"""`torch.distributed.tensor`: placements of tensors on the dimensions of a device mesh.

    plan = {"weight": Shard(0), "bias": Replicate()}        values that compare, hash and print as PyTorch's

Placements exist, since some libraries create placements at import. Distributed tensors are unsupported:
`DTensor` and `distribute_tensor` raise an error when they are called.
"""

from ts.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
