"""Automatic mixed precision (AMP) with autocast to 16-bit dtypes, and loss scaling.

The example is a training step. In the `with` block, matrix products compute in bfloat16, and sums in float32:

    scaler = ts.amp.GradScaler("cpu")
    with ts.autocast("cpu"):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

docs/reference/operators/autocast-dtypes.md lists the dtype of each operator.
"""

from ts.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from ts.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
