"""Module that combines the last linear layer of a classifier with the cross entropy loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.linear import Linear
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import constructor_text

_POLICIES = ("accurate", "balanced", "compact", "auto")


@dataclass
class LinearCrossEntropyOptions:
    """Options that PyTorch has for the computation of `linear_cross_entropy` in chunks.

    `ts` validates the options, but they have no effect.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        method = (self.chunking_method or "auto").partition(":")[0]
        if method not in ("auto", "aspect_ratio", "batch_chunk_size"):
            raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")


class LinearCrossEntropyLoss(Module):
    """Cross entropy of a linear map of the input."""

    __constants__ = ["num_classes", "out_features", "reduction", "ignore_index", "label_smoothing"]
    weight: Tensor | None

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        super().__init__()
        self.reduction = reduction
        self.register_buffer("weight", weight)
        self.num_classes = num_classes
        self.out_features = tuple(out_features)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options
        rows = num_classes * math.prod(self.out_features)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        weight: Tensor = self.linear.weight
        bias: Tensor | None = self.linear.bias
        if self.out_features:
            shape = (self.num_classes, *self.out_features)
            weight = weight.reshape(*shape, weight.size(-1))
            bias = None if bias is None else bias.reshape(shape)
        return F.linear_cross_entropy(
            input,
            weight,
            target,
            linear_bias=bias,
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        arguments = constructor_text(
            self, "num_classes", "out_features", "reduction", "ignore_index", "label_smoothing", "options"
        ).split(", reduction")
        biased = f"bias={self.linear.bias is not None}"
        return f"in_features={self.linear.in_features}, {arguments[0]}, {biased}, reduction{arguments[1]}"
