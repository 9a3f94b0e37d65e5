"""`torch.distributed.tensor`: placements of tensors on the dimensions of a device mesh.

    plan = {"weight": Shard(0), "bias": Replicate()}        values that compare, hash and print as PyTorch's

Placements are plain values that libraries create when they are imported.  Distributed tensors (`DTensor`,
`distribute_tensor`) are placeholders that refuse to be called.
"""

from ts.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
