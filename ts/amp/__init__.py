"""Automatic mixed precision: blocks whose operators compute in 16 bits where that is safe, and scaled losses.

    scaler = ts.amp.GradScaler("cpu")
    with ts.autocast("cpu"):                        products in bfloat16, what loses digits in float32
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

Which operator computes in what, its record says: docs/reference/operators/autocast-dtypes.md lists it.
"""

from ts.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from ts.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
