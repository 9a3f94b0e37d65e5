"""Batch normalization and instance normalization, with common base classes."""

from __future__ import annotations

from dataclasses import KW_ONLY, InitVar
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn import init
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter


@hyperparameters
class _NormBase(Module):
    """Base class of normalizations with scale, shift and running statistics for each channel."""

    _version = 2  # version of the state dict, which contains `num_batches_tracked` since version 2
    num_features: int
    eps: float = 1e-5
    momentum: float | None = 0.1
    affine: bool = True
    track_running_stats: bool = True
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None
    _: KW_ONLY
    bias: InitVar[bool] = True

    def __post_init__(self, device: Any, dtype: Any, bias: bool) -> None:
        options = {"device": device, "dtype": dtype}
        for name, has_parameter in (("weight", self.affine), ("bias", self.affine and bias)):
            tensor = Parameter(ts.empty(self.num_features, **options)) if has_parameter else None
            self.register_parameter(name, tensor)
        if self.track_running_stats:
            self.register_buffer("running_mean", ts.zeros(self.num_features, **options))
            self.register_buffer("running_var", ts.ones(self.num_features, **options))
            self.register_buffer("num_batches_tracked", ts.tensor(0, dtype=ts.long, device=device))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Set the running mean and the number of batches to 0, and the running variance to 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset the scale to 1, the shift to 0, and the running statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):  # type: ignore[no-untyped-def]  # overridden in subclasses
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        version = local_metadata.get("version", None)
        key = f"{prefix}num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            batch_count = self.num_batches_tracked
            state_dict[key] = ts.tensor(0, dtype=ts.long) if batch_count is None else batch_count
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    """Base class of batch normalizations, which use statistics of the batch or running statistics."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        average = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:  # running statistics are plain means over all batches
                    average = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or ((self.running_mean is None) and (self.running_var is None))
        return F.batch_norm(
            input,
            self.running_mean if not self.training or self.track_running_stats else None,
            self.running_var if not self.training or self.track_running_stats else None,
            self.weight,
            self.bias,
            by_batch,
            average,
            self.eps,
        )


class SyncBatchNorm(_BatchNorm):
    """Batch normalization with the interface of PyTorch's SyncBatchNorm.

    Unlike in PyTorch, statistics are not synchronized: each process normalizes by its own statistics.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):  # type: ignore[no-untyped-def]
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """Replace each batch normalization in `module` by one of this class with the same state.

        Return `module`, or its replacement if `module` is itself a batch normalization.
        """
        converted = module
        if isinstance(module, _BatchNorm):
            converted = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group, bias=module.bias is not None,
            )  # fmt: skip
            for table in ("_parameters", "_buffers"):
                converted.__dict__[table].update(module.__dict__[table])
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (N, C) or (N, C, L)."""

    def _check_input_dim(self, input):  # type: ignore[no-untyped-def]
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (N, C, H, W)."""

    def _check_input_dim(self, input):  # type: ignore[no-untyped-def]
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Batch normalization of (N, C, D, H, W)."""

    def _check_input_dim(self, input):  # type: ignore[no-untyped-def]
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")
