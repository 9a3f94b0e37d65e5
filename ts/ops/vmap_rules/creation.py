"""New tensors like those of a batch: there is one for each element, for programs write to them."""

from __future__ import annotations

from typing import Any

from ts._core.dispatch_layers.batched_tensor import Call
from ts.ops.vmap_rules.rule_registry import batch
from ts.ops.vmap_rules.views import plain, room_of, sized


def _full(call: Call) -> Any:
    """full_like and its like where the number may be of the batch too."""
    return call.run([call.expanded(0), *call.values[1:]])


def _new_empty_strided(call: Call) -> Any:
    """One element behind the other, each with the strides that were asked for."""
    size, stride = call["size"], call["stride"]
    strides = [room_of(size, stride), *stride]
    return call.run([call.values[0], [call.size, *size], strides, *call.values[3:]])


batch("zeros_like ones_like empty_like", plain)
batch("full_like", _full)
batch("new_zeros new_ones new_empty new_full", sized)
batch("new_empty_strided", _new_empty_strided)
