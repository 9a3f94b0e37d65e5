"""Packed parameters (prepacking of weights), which contain the weights of a quantized layer.

A packed object is immutable and contains the dequantized weight. It is created from a quantized weight, a
bias and window parameters. It can also be created from a serialized state, which is checked.

Example:

    linear_prepack(weight, bias)                      # LinearParams
    Conv2dParams.from_state(("2", [...], [...]))      # Conv2dParams

Types in scripts have PyTorch's names (`ts.ir.types.CUSTOM_CLASSES`). `CLASSES` maps these names to the
classes of the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final, TypeVar

import numpy as np

from ts import dtypes
from ts._core.dispatch.overloads import overloads as operator
from ts._core.tensor.factories import from_numpy
from ts._core.tensor.tensor import Tensor
from ts.errors import ArchiveError
from ts.ir.attributes import constant_type_hooks
from ts.ir.types import (
    CUSTOM_CLASS_PREFIX,
    CUSTOM_CLASSES,
    FLOAT,
    INT,
    STR,
    TENSOR,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from ts.ops.quantizer import QUINT2X4, QUINT4X2, QUINT8, grid_of, warn_once, with_grid
from ts.ops.registry import op

_LINEAR = "__torch__.torch.classes.quantized.LinearPackedParamsBase"
_EMBEDDING = "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase"


P = TypeVar("P", bound="Packed")


class Packed:
    """Base class of packed parameters. Objects are immutable, so that a copy is the object itself."""

    title: ClassVar[str]  # name of the script type without the prefix "__torch__.torch.classes."
    state_type: ClassVar[Type]  # script type of the serialized state
    __ts_type__: ClassVar[Type]  # script type of the class, which makes it usable in annotations

    def __init_subclass__(cls, /, title: str = "", **fields: Any) -> None:
        super().__init_subclass__(**fields)
        if title:
            cls.title = title
            cls.__ts_type__ = CUSTOM_CLASSES[CUSTOM_CLASS_PREFIX + title]

    def __copy__(self) -> Packed:
        return self

    def __deepcopy__(self, memo: Any) -> Packed:
        return self

    def __repr__(self) -> str:
        return f"<{self.title}>"

    @classmethod
    def from_state(cls, state: Any) -> Packed:
        """Create an object from the state in an archive. Raise ArchiveError if the state is invalid."""
        try:
            return cls._read(state)
        except (TypeError, ValueError, KeyError, IndexError, RuntimeError) as error:
            raise ArchiveError(f"invalid state of a {cls.title}: {error}") from error

    @classmethod
    def _read(cls, state: Any) -> Packed:
        raise NotImplementedError

    def state(self) -> tuple[Any, ...]:
        """Return the state that is stored in archives and that `from_state` converts to an object."""
        raise NotImplementedError


def _tensor(x: Any, ndim: int, parameter_name: str = "weight") -> Tensor:
    """Return `x` if it is a float32 tensor with `ndim` dimensions, else raise ValueError."""
    if not isinstance(x, Tensor) or x.ndim != ndim or x.dtype != dtypes.float32:
        raise ValueError(f"the {parameter_name} is not a float32 tensor of {ndim} dimensions")
    return x


def _bias(x: Any, size: int) -> Tensor | None:
    if x is not None and (_tensor(x, 1, "bias").shape[0] != size):
        raise ValueError(f"the bias has {x.shape[0]} elements for {size} outputs")
    return None if x is None else operator("detach")(x)


def _integers(x: Any) -> list[int]:
    if not isinstance(x, list | tuple) or not all(type(n) is int for n in x):
        raise ValueError("a window is not a list of ints")
    return list(x)


# ---- linear layers ---------------------------------------------------------------------------------


class LinearParams(Packed, title="quantized.LinearPackedParamsBase"):
    """Packed weight (outputs, inputs) and bias of a linear layer."""

    def __init__(self, weight: Any, bias: Any) -> None:
        warn_once()
        self.weight = _tensor(weight, 2)
        self.bias = _bias(bias, self.weight.shape[0])

    @classmethod
    def _read(cls, state: Any) -> LinearParams:
        weight, bias = state
        return cls(weight, bias)

    def state(self) -> tuple[Any, ...]:
        """Return the pair of weight and bias."""
        return self.weight, self.bias


# ---- convolutions ----------------------------------------------------------------------------------


class ConvParams(Packed):
    """Weight, bias and geometry of a convolution.

    The state of a 1D convolution is that of a 2D one of height 1.
    """

    dims: ClassVar[int]

    def __init__(
        self,
        weight: Any,
        bias: Any,
        stride: Any,
        padding: Any,
        output_padding: Any,
        dilation: Any,
        groups: Any,
        transposed: bool,
    ) -> None:
        warn_once()
        self.weight = _tensor(weight, self.dims + 2)
        self.window = [_integers(x) for x in (stride, padding, dilation, output_padding)]
        self.stride, self.padding, self.dilation, self.output_padding = self.window
        if type(groups) is not int or groups < 1 or any(len(x) != self.dims for x in self.window):
            raise ValueError(
                f"expected windows of {self.dims} dimensions and at least one group, got {groups} groups"
            )
        self.groups = groups
        self.transposed = transposed
        outputs = self.weight.shape[1] * groups if transposed else self.weight.shape[0]
        self.bias = _bias(bias, outputs)

    @classmethod
    def _read(cls, state: Any) -> ConvParams:
        """Create an object from a state of version 2 or 3.

        Version 2 is ("2", [window tensor, weight], [bias]). Version 3 is (3, windows, [None, weight, bias]).
        """
        version, first, second = state
        if version == "2":
            (windows, weight), (bias,) = first, second
            numbers = windows.tolist()
        elif version == 3:
            numbers, (_, weight, bias) = first, second
        else:
            raise ValueError(f"unsupported version {version!r}")
        n = cls.dims
        if len(_integers(numbers)) != 4 * n + 3 or numbers[0] != n:
            raise ValueError(f"its windows do not have {n} dimensions")
        stride, padding, dilation, output_padding = (numbers[1 + i * n : 1 + (i + 1) * n] for i in range(4))
        groups, transposed = numbers[-2:]
        return cls(weight, bias, stride, padding, output_padding, dilation, groups, bool(transposed & 1))

    def state(self) -> tuple[Any, ...]:
        """Return version 2 of PyTorch's format: ("2", [int16 tensor of the geometry, weight], [bias])."""
        numbers = [self.dims, *(n for each in self.window for n in each), self.groups, int(self.transposed)]
        return "2", [from_numpy(np.array(numbers, np.int16)), self.weight], [self.bias]


class Conv2dParams(ConvParams, title="quantized.Conv2dPackedParamsBase"):
    """Packed parameters of 2D convolutions, and of 1D convolutions with height 1."""

    dims = 2


class Conv3dParams(ConvParams, title="quantized.Conv3dPackedParamsBase"):
    """Packed parameters of 3D convolutions."""

    dims = 3


# ---- embedding tables ------------------------------------------------------------------------------


class EmbeddingParams(Packed, title="quantized.EmbeddingPackedParamsBase"):
    """Packed parameters of an embedding: the dequantized table."""

    def __init__(self, weight: Any) -> None:
        warn_once()
        self.weight = _tensor(weight, 2)

    @classmethod
    def _read(cls, state: Any) -> EmbeddingParams:
        version, (weight,), _, (bits,) = state
        if version != 1 or bits not in (2, 4, 8):
            raise ValueError(f"it has the version {version!r}, and {bits!r} bits")
        return cls(weight)

    def state(self) -> tuple[Any, ...]:
        """Return PyTorch's format: (1, [weight], [], [bits per element]), with 8, 4 or 2 bits."""
        grid = grid_of(self.weight)
        bits = {QUINT4X2: 4, QUINT2X4: 2}.get(QUINT8 if grid is None else grid.dtype, 8)
        return 1, [self.weight], [], [bits]


# ---- recurrent cells -------------------------------------------------------------------------------


class CellParams(Packed, title="rnn.CellParamsBase"):
    """Weights and biases of a recurrent cell: input layer and hidden layer."""

    def __init__(self, *layers: LinearParams, reduce_range: bool = False) -> None:
        self.layers = layers
        self.reduce_range = reduce_range  # True if PyTorch quantizes activations to 7 bits
        rows = layers[0].weight.shape[0]
        if layers[1].weight.shape[0] != rows:
            raise ValueError("its layers have different numbers of outputs")
        biases = [layer.weight.new_zeros([rows]) if layer.bias is None else layer.bias for layer in layers]
        self.tensors = [*(layer.weight for layer in layers), *biases]

    @classmethod
    def _read(cls, state: Any) -> CellParams:
        """Create a cell from its serialized state: (kind, tensors, floats, ints, linear layers)."""
        # the tensors are ignored, because they repeat the biases of the layers
        kind, _, _, numbers, layers = state
        if kind == "quantized":  # PyTorch's archive contains this name, but no layers
            raise ValueError("its kind is 'quantized', for which PyTorch saves only the name")
        if kind not in ("quantized_dynamic", "quantized_fp16"):
            raise ValueError(f"unsupported kind {kind!r}")
        w_ih, w_hh = layers
        packed_layers = as_packed(w_ih, LinearParams), as_packed(w_hh, LinearParams)
        return cls(*packed_layers, reduce_range=bool(numbers and numbers[0]))

    def state(self) -> tuple[Any, ...]:
        """Return the serialized state: (kind, tensors, floats, ints, linear layers).

        The kind is "quantized_fp16" if the weights have no quantization grid, else "quantized_dynamic".
        """
        if grid_of(self.tensors[0]) is None:
            return "quantized_fp16", [], [], [], [*self.layers]
        return "quantized_dynamic", self.tensors[2:], [], [int(self.reduce_range)], [*self.layers]


CLASSES: Final[dict[str, type[Packed]]] = {
    CUSTOM_CLASS_PREFIX + cls.title: cls
    for cls in (LinearParams, Conv2dParams, Conv3dParams, EmbeddingParams, CellParams)
}

_LISTED: Final = (ListType(TENSOR), ListType(FLOAT), ListType(INT))
LinearParams.state_type = TupleType([TENSOR, OptionalType(TENSOR)])
ConvParams.state_type = TupleType([STR, ListType(TENSOR), ListType(OptionalType(TENSOR))])
EmbeddingParams.state_type = TupleType([INT, *_LISTED])
CellParams.state_type = TupleType([STR, *_LISTED, ListType(LinearParams.__ts_type__)])


def _type_of_packed(value: object) -> Type | None:
    return value.__ts_type__ if isinstance(value, Packed) else None


constant_type_hooks.append(_type_of_packed)


def as_packed(x: Any, cls: type[P]) -> P:
    """Return `x`. Raise TypeError if it is not a `cls` object, and RuntimeError if it has no state."""
    if not isinstance(x, cls):
        raise TypeError(f"expected packed parameters, a {cls.title}, but got {type(x).__name__}")
    if not vars(x):  # an archive can create an object without setting its state
        raise RuntimeError(f"a {cls.title} has no state")
    return x


# ---- packing of linear layers and embedding tables -------------------------------------------------


def _quantized(weight: Tensor, name: str) -> Tensor:
    if grid_of(weight) is None:
        raise RuntimeError(f"quantized::{name}: the weight is not quantized")
    return weight


@op(f"quantized::linear_prepack(Tensor W, Tensor? B=None) -> {_LINEAR} W_prepack", tensor_kernel=True)
def _pack_linear(weight: Tensor, bias: Tensor | None) -> LinearParams:
    return LinearParams(_quantized(weight, "linear_prepack"), bias)


@op(f"quantized::linear_prepack_fp16(Tensor W, Tensor? B=None) -> {_LINEAR} W_prepack", tensor_kernel=True)
def _pack_narrow_linear(weight: Tensor, bias: Tensor | None) -> LinearParams:
    """Pack a linear layer with weights rounded to float16."""
    narrow = weight.clamp(-65504.0, 65504.0).to(dtypes.float16)
    return LinearParams(narrow.to(dtypes.float32), bias)


@op(
    f"quantized::linear_unpack({_LINEAR} W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
    tensor_kernel=True,
)
@op(
    f"quantized::linear_unpack_fp16({_LINEAR} W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
    tensor_kernel=True,
)
def _unpack_linear(packed: Any) -> tuple[Tensor, Tensor | None]:
    params = as_packed(packed, LinearParams)
    return params.weight, params.bias


@op(f"quantized::embedding_bag_prepack(Tensor weight) -> {_EMBEDDING} W_prepack", tensor_kernel=True)
def _pack_embedding(weight: Tensor) -> EmbeddingParams:
    return EmbeddingParams(_quantized(weight, "embedding_bag_prepack"))


@op(f"quantized::embedding_bag_unpack({_EMBEDDING} W_prepack) -> Tensor W_origin", tensor_kernel=True)
def _unpack_embedding(packed: Any) -> Tensor:
    return as_packed(packed, EmbeddingParams).weight


# ---- packing of convolutions -----------------------------------------------------------------------


def _window_2d(numbers: Sequence[int], n: int) -> list[int]:
    """Return 1D window parameters as 2D parameters with the value `n` for the height."""
    return [n, *numbers] if len(numbers) == 1 else list(numbers)


def _convolution(name: str, cls: type[ConvParams], transposed: bool) -> None:
    type_name = CUSTOM_CLASS_PREFIX + cls.title
    between = "int[] output_padding, " if transposed else ""
    flat = "1d" in name
    unpacked = "(Tensor unpacked_weights, Tensor? B_origin)"
    prefix = f"quantized::{name}"

    @op(
        f"{prefix}_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, {between}int[] "
        f"dilation, int groups) -> {type_name}",
        where="",
        tensor_kernel=True,
    )
    def pack(weight: Tensor, bias: Any, stride: Any, padding: Any, *rest: Any) -> ConvParams:
        output_padding = rest[0] if transposed else [0] * len(stride)
        dilation, groups = rest[-2:]
        quantized_weight = _quantized(weight, f"{name}_prepack")
        if flat:
            quantized_weight = with_grid(quantized_weight.unsqueeze(2), grid_of(weight))
            stride, dilation = _window_2d(stride, 1), _window_2d(dilation, 1)
            padding, output_padding = _window_2d(padding, 0), _window_2d(output_padding, 0)
        return cls(quantized_weight, bias, stride, padding, output_padding, dilation, groups, transposed)

    @op(f"{prefix}_unpack({type_name} packed_weights) -> {unpacked}", where="", tensor_kernel=True)
    def unpack(packed: Any) -> tuple[Tensor, Tensor | None]:
        params = as_packed(packed, cls)
        weight = with_grid(params.weight.squeeze(2), grid_of(params.weight)) if flat else params.weight
        return weight, params.bias

    if flat:
        return
    for field in ("stride", "padding", "output_padding", "dilation", "groups", "transpose"):
        _field(f"{prefix}_{field}({type_name} packed_weights) -> ", cls, field)


def _field(schema: str, cls: type[ConvParams], field: str) -> None:
    if field in ("groups", "transpose"):

        @op(schema + "int", where="", tensor_kernel=True)
        def number(packed: Any) -> int:
            params = as_packed(packed, cls)
            return params.groups if field == "groups" else int(params.transposed)

    else:

        @op(schema + "int[]", where="", tensor_kernel=True)
        def numbers(packed: Any) -> list[int]:
            return list(getattr(as_packed(packed, cls), field))


_convolution("conv1d", Conv2dParams, False)
_convolution("conv2d", Conv2dParams, False)
_convolution("conv3d", Conv3dParams, False)
_convolution("conv_transpose1d", Conv2dParams, True)
_convolution("conv_transpose2d", Conv2dParams, True)
_convolution("conv_transpose3d", Conv3dParams, True)
