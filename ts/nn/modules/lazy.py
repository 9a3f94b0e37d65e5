"""Lazy layers (lazy initialization), which infer the number of input features from the first input.

Example:

    layer = LazyLinear(3)          # LazyLinear(in_features=0, out_features=3, bias=True)
    layer(ts.ones(2, 4))           # becomes Linear(in_features=4, out_features=3, bias=True)

Before the first call, parameters have a device and a dtype, but no shape. The first call, or
`load_state_dict`, creates the parameters. The first call also changes the class of the module to the ordinary
class.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ts._core.tensor.tensor import Tensor
from ts.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from ts.nn.modules.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ts.nn.modules.instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from ts.nn.modules.linear import Linear
from ts.nn.modules.module import Module
from ts.nn.parameter import UninitializedBuffer, UninitializedParameter, is_uninitialized


class LazyModuleMixin(Module):
    """Mixin for user-defined lazy modules, whose constructors register uninitialized parameters.

    At the first call of the module, `initialize_parameters` gets the arguments of the call and creates the
    parameters. Then, if `cls_to_become` is not None, the module changes its class to `cls_to_become`.
    """

    cls_to_become: ClassVar[type[Module] | None] = None

    def has_uninitialized_params(self) -> bool:
        """Return True if a parameter or buffer has no shape yet."""
        tensors = (*self._parameters.values(), *self._buffers.values())
        return any(is_uninitialized(tensor) for tensor in tensors)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the uninitialized parameters a shape that fits the arguments of the first call."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        becomes = self.cls_to_become
        if becomes is not None or self.has_uninitialized_params():
            self.initialize_parameters(*args, **kwargs)
            if self.has_uninitialized_params():
                raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        if becomes is None:
            return super().__call__(*args, **kwargs)
        self.__class__ = becomes  # type: ignore[assignment]
        return self(*args, **kwargs)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name, tensor in (*self._parameters.items(), *self._buffers.items()):
            loaded = state_dict.get(prefix + name)
            if is_uninitialized(tensor) and loaded is not None and not is_uninitialized(loaded):
                tensor.materialize(loaded.shape)  # type: ignore[union-attr]
        super()._load_from_state_dict(state_dict, prefix, *rest)


class _LazyLayer(LazyModuleMixin):
    """Base class of lazy layers whose parameters depend on the number of input features."""

    cls_to_become: ClassVar[type[Module]]
    _width_name: ClassVar[str]  # name of the attribute with the number of input features
    _constructor_arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, *args, **kwargs)  # 0 stands for the unknown number of input features
        self._constructor_arguments = args, kwargs
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = UninitializedParameter(
                    parameter.requires_grad, parameter.device, parameter.dtype
                )
        for name, buffer in self._buffers.items():
            # The number of batches, a 0-d tensor, exists from the start. It does not depend on the number of
            # features.
            if buffer is not None and buffer.dim():
                self._buffers[name] = UninitializedBuffer(False, buffer.device, buffer.dtype)

    def reset_parameters(self) -> None:
        """Initialize the parameters with random numbers if they already have a shape."""
        if getattr(self, self._width_name) != 0:
            super().reset_parameters()  # type: ignore[misc]

    def reset_running_stats(self) -> None:
        """Reset the running statistics, unless they have no shape yet."""
        if getattr(self, self._width_name) != 0:
            super().reset_running_stats()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor) -> None:
        """Create the parameters for the number of features of `input`."""
        if getattr(self, self._width_name) == 0:
            self._materialize_parameters(self._width_of(input))

    def _width_of(self, input: Tensor) -> int:
        return int(input.shape[-1])

    def _width_of_weight(self, weight: Tensor) -> int:
        return int(weight.shape[-1])

    def _materialize_parameters(self, width: int) -> None:
        """Create the parameters of an ordinary layer with `width` input features."""
        args, kwargs = self._constructor_arguments
        layer = self.cls_to_become(width, *args, **kwargs)
        for uninitialized, materialized in (
            (self._parameters, layer._parameters),
            (self._buffers, layer._buffers),
        ):
            for name, tensor in uninitialized.items():
                if is_uninitialized(tensor):
                    tensor.become(materialized[name].to(tensor.device, tensor.dtype))  # type: ignore[union-attr]
        del self._constructor_arguments
        setattr(self, self._width_name, width)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name in ("weight", "running_mean"):
            loaded = state_dict.get(prefix + name)
            if self.has_uninitialized_params() and loaded is not None and not is_uninitialized(loaded):
                self._materialize_parameters(self._width_of_weight(loaded))
        super()._load_from_state_dict(state_dict, prefix, *rest)


class LazyLinear(_LazyLayer, Linear):
    """Linear layer with inferred `in_features`."""

    cls_to_become = Linear
    _width_name = "in_features"


class _LazyConv(_LazyLayer):
    """Convolution with inferred `in_channels`."""

    _width_name = "in_channels"
    ndim: int
    groups: int
    transposed: bool

    def _width_of(self, input: Tensor) -> int:
        batched, single = self.ndim + 2, self.ndim + 1
        if input.dim() not in (batched, single):
            raise RuntimeError(
                f"Expected {single}D (unbatched) or {batched}D (batched) input to {type(self).__name__}, but "
                f"got input of size: {input.shape}"
            )
        return int(input.shape[-self.ndim - 1])

    def _width_of_weight(self, weight: Tensor) -> int:
        return int(weight.shape[0]) if self.transposed else int(weight.shape[1]) * self.groups


class LazyConv1d(_LazyConv, Conv1d):
    """Conv1d with inferred `in_channels`."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """Conv2d with inferred `in_channels`."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """Conv3d with inferred `in_channels`."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    """ConvTranspose1d with inferred `in_channels`."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    """ConvTranspose2d with inferred `in_channels`."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    """ConvTranspose3d with inferred `in_channels`."""

    cls_to_become = ConvTranspose3d


class _LazyNorm(_LazyLayer):
    """Lazy normalization: infers `num_features` from the first input."""

    _width_name = "num_features"

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _width_of(self, input: Tensor) -> int:
        self._check_input_dim(input)
        return int(input.shape[1])

    def _width_of_weight(self, weight: Tensor) -> int:
        return int(weight.shape[0])

    def _check_input_dim(self, input: Tensor) -> None:
        super()._check_input_dim(input)  # type: ignore[misc]


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """BatchNorm1d with inferred `num_features`."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """BatchNorm2d with inferred `num_features`."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """BatchNorm3d with inferred `num_features`."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """InstanceNorm1d with inferred `num_features`."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """InstanceNorm2d with inferred `num_features`."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """InstanceNorm3d with inferred `num_features`."""

    cls_to_become = InstanceNorm3d
