"""Batching rules of tensor constructors.

The results are always batched, because programs may write batched values to them.
"""

from __future__ import annotations

from typing import Any

from ts._core.dispatch_layers.batched_tensor import Call
from ts.ops.vmap_rules.rule_registry import batch
from ts.ops.vmap_rules.views import run_unchanged, storage_span, with_batched_size


def _full(call: Call) -> Any:
    """Apply the batching rule of `full_like`. The fill value may be batched."""
    return call.run([call.expanded(0), *call.values[1:]])


def _new_empty_strided(call: Call) -> Any:
    """Apply the batching rule of `new_empty_strided`.

    Batch elements are consecutive in memory, each with the requested strides.
    """
    size, stride = call["size"], call["stride"]
    strides = [storage_span(size, stride), *stride]
    return call.run([call.values[0], [call.size, *size], strides, *call.values[3:]])


batch("zeros_like ones_like empty_like", run_unchanged)
batch("full_like", _full)
batch("new_zeros new_ones new_empty new_full", with_batched_size)
batch("new_empty_strided", _new_empty_strided)
