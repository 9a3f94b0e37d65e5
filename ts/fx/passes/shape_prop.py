"""Shape propagation: `ShapeProp` runs a graph and records metadata of each result in `meta` of its node.

Example:

    ShapeProp(module).propagate(x)
    node.meta["tensor_meta"]                    a TensorMetadata, or a container of these
"""

from __future__ import annotations

import traceback
from typing import Any, Final, NamedTuple

import ts
from ts._core.tensor.tensor import Tensor
from ts.fx.graph_module import GraphModule
from ts.fx.interpreter import Interpreter
from ts.fx.node import Node, map_aggregate
from ts.unsupported import names_for

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """Metadata of a tensor: shape, dtype, strides and memory format."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


# number of dimensions -> channels-last format
_CHANNELS_LAST: Final = {4: ts.channels_last, 5: ts.channels_last_3d}


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """Return the metadata of a tensor.

    The memory format in it is the first format in which the tensor is contiguous, or None if there is none or
    `include_contiguity` is False.
    """
    memory_format = _memory_format(result) if include_contiguity else None
    return TensorMetadata(
        result.shape,
        result.dtype,
        result.requires_grad,
        result.stride(),
        memory_format,
        result.is_quantized,
        {},
    )


def _memory_format(x: Tensor) -> Any:
    """Return the memory format of a contiguous or channels-last tensor, None for other strides."""
    if x.is_contiguous():
        return ts.contiguous_format
    last = _CHANNELS_LAST.get(x.dim())
    return last if last is not None and x.is_contiguous(memory_format=last) else None


class ShapeProp(Interpreter):
    """Interpreter that records the metadata of results in `meta`."""

    def __init__(self, gm: GraphModule, fake_mode: Any = None) -> None:
        if fake_mode is not None:
            raise NotImplementedError(
                'ShapeProp does not support fake modes: pass tensors with device="meta" instead'
            )
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        """Run the node and record `tensor_meta` and `type` in its `meta`."""
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        has_tensor = False

        def record_meta(x: Any) -> Any:
            nonlocal has_tensor
            if not isinstance(x, Tensor):
                return x
            has_tensor = True
            return _extract_tensor_metadata(x)

        meta = map_aggregate(result, record_meta)
        if has_tensor:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph and return its result."""
        return super().run(*args)


__getattr__ = names_for(__name__)
