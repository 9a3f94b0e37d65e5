"""Quantized operators (quantized linear, quantized conv ...), computed in float32 with requantization.

Requantization rounds a result to the numbers (n - zero point) * scale for integers n, the grid. Most
operators receive the scale and the zero point of the result. Otherwise, the result has the grid of the
operand, if any. Each line shows a call and its result:

    quantized::linear(x, packed, 0.1, 128)      linear(x, weight, bias), rounded to numbers (n - 128) * 0.1
    quantized::linear_dynamic(x, packed)        linear(x, weight, bias), without quantization of x
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ts._core.dispatch.overloads import overloads as operator
from ts._core.tensor.tensor import Tensor
from ts.ir.types import CUSTOM_CLASS_PREFIX
from ts.ops.operator_record import OperatorRecord
from ts.ops.packed_params import (
    Conv2dParams,
    Conv3dParams,
    ConvParams,
    EmbeddingParams,
    LinearParams,
    as_packed,
)
from ts.ops.quantizer import QUINT8, QuantizationParams, checked_grid, grid_of, round_to_grid, with_grid
from ts.ops.registry import add, op
from ts.ops.shape_functions import ITEM

Compute = Callable[..., Any]
_OUTPUT: Final = "float output_scale, int output_zero_point"
_TENSOR_KERNEL: Final[dict[str, Any]] = {"family": "quantized", "where": "", "tensor_kernel": True}


def enter(schema: str, kernel: Compute, **fields: Any) -> None:
    """Register a `quantized::` operator for archives. It has no Python function."""
    add(OperatorRecord(f"quantized::{schema}", kernel, "quantized", tensor_kernel=True, **fields))


def _call(name: str, *arguments: Any) -> Any:
    return operator(name)(*arguments)


def _relu(x: Tensor) -> Any:
    return _call("relu", x)


def _grid(x: Any, scale: Any, zero_point: Any) -> QuantizationParams:
    """Return a quantization grid with `scale`, `zero_point` and the quantized dtype of the grid of `x`.

    If `x` has no grid or one grid per channel, the dtype is quint8.
    """
    grid = grid_of(x)
    return checked_grid(
        float(scale), int(zero_point), QUINT8 if grid is None or grid.axis >= 0 else grid.dtype
    )


def _round_to_grid_of(x: Tensor, result: Tensor) -> Tensor:
    """Round `result` to the grid of argument `x`.

    Return `result` unchanged if `x` has no grid, or a grid per channel.
    """
    grid = grid_of(x)
    return result if grid is None or grid.axis >= 0 else round_to_grid(result, grid)


def _with_output_grid(compute: Compute) -> Compute:
    """Return a kernel that rounds the result of `compute` to a grid.

    The last two arguments of the kernel are the scale and zero point of this grid.
    """

    def kernel(x: Tensor, *rest: Any) -> Tensor:
        *arguments, scale, zero_point = rest
        return round_to_grid(compute(x, *arguments), _grid(x, scale, zero_point))

    return kernel


def _then_relu(compute: Compute) -> Compute:
    return lambda *arguments: _relu(compute(*arguments))


# ---- linear layers ---------------------------------------------------------------------------------

_LINEAR = f"Tensor X, {CUSTOM_CLASS_PREFIX}{LinearParams.title} W_prepack"


def _linear(x: Tensor, packed: Any, reduce_range: bool = False) -> Any:
    params = as_packed(packed, LinearParams)
    return _call("linear", x, params.weight, params.bias)


def _linear_tanh(x: Tensor, packed: Any) -> Any:
    return _call("tanh", _linear(x, packed))


def _linear_leaky_relu(x: Tensor, packed: Any, scale: float, zero_point: int, slope: float) -> Tensor:
    return round_to_grid(_call("leaky_relu", _linear(x, packed), slope), _grid(x, scale, zero_point))


def _linear_of_grid(x: Tensor, scale: float, zero_point: int, packed: Any) -> Any:
    return _linear(round_to_grid(x, checked_grid(scale, zero_point, QUINT8)), packed)


_Y = "float Y_scale_i, int Y_zero_point_i"
enter(f"linear({_LINEAR}, {_Y}) -> Tensor Y", _with_output_grid(_linear))
enter(f"linear_relu({_LINEAR}, {_Y}) -> Tensor Y", _with_output_grid(_then_relu(_linear)))
enter(f"linear_tanh({_LINEAR}, {_Y}) -> Tensor Y", _with_output_grid(_linear_tanh))
enter(f"linear_leaky_relu({_LINEAR}, {_Y}, float negative_slope) -> Tensor Y", _linear_leaky_relu)
enter(f"linear_dynamic({_LINEAR}, bool reduce_range=False) -> Tensor Y", _linear)
enter(f"linear_relu_dynamic({_LINEAR}, bool reduce_range=False) -> Tensor Y", _then_relu(_linear))
enter(f"linear_dynamic_fp16({_LINEAR}) -> Tensor Y", _linear)
enter(f"linear_relu_dynamic_fp16({_LINEAR}) -> Tensor Y", _then_relu(_linear))
_WITH_INPUT = "linear_with_input_q_dq_qweight_dq"
_LINEAR_OF_GRID = _LINEAR.replace("Tensor X, ", "Tensor X, float X_scale, int X_zero_point, ")
enter(f"{_WITH_INPUT}_output_fp32({_LINEAR_OF_GRID}) -> Tensor Y", _linear_of_grid)
enter(f"{_WITH_INPUT}_relu_output_fp32({_LINEAR_OF_GRID}) -> Tensor Y", _then_relu(_linear_of_grid))


@op(
    "quantized::linear_dynamic_fp16_unpacked_weight(Tensor X, Tensor weight, Tensor? bias) -> Tensor Y",
    tensor_kernel=True,
)
def _linear_of_halves(x: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    return _call("linear", x, weight.float(), bias)


# ---- convolutions ----------------------------------------------------------------------------------


def _convolve(cls: type[ConvParams], flat: bool, transposed: bool) -> Compute:
    def compute(x: Tensor, packed: Any, reduce_range: bool = False) -> Any:
        p = as_packed(packed, cls)
        if p.transposed != transposed:
            raise RuntimeError(
                "quantized convolution: either the operator or its parameters are transposed, but not both"
            )
        return _window(x, p, p.window, p.groups, flat)

    return compute


def _window(x: Tensor, p: ConvParams, window: Sequence[Any], groups: int, flat: bool) -> Any:
    stride, padding, dilation, output_padding = window
    conv_input = x.unsqueeze(2) if flat else x
    output = _call(
        "convolution",
        conv_input,
        p.weight,
        p.bias,
        stride,
        padding,
        dilation,
        p.transposed,
        output_padding,
        groups,
    )
    return output.squeeze(2) if flat else output


def _old_convolution(cls: type[ConvParams], then: Compute) -> Compute:
    """Return the kernel of a legacy schema, whose arguments contain stride, padding, dilation and groups."""

    def kernel(
        x: Tensor, packed: Any, stride: Any, padding: Any, dilation: Any, groups: int, *output: Any
    ) -> Any:
        p = as_packed(packed, cls)
        convolved = _window(x, p, (stride, padding, dilation, p.output_padding), groups, False)
        return round_to_grid(then(convolved), _grid(x, *output))

    return kernel


def _identity(x: Any) -> Any:
    return x


def _enter_convolutions(name: str, cls: type[ConvParams], transposed: bool) -> None:
    compute = _convolve(cls, "1d" in name, transposed)
    type_name = CUSTOM_CLASS_PREFIX + cls.title
    packed = f"{type_name} packed_weight"
    takes = f"(Tensor qx, {packed}, {_OUTPUT}) -> Tensor"
    enter(f"{name}_dynamic(Tensor qx, {packed}, bool reduce_range=False) -> Tensor", compute)
    if transposed or "1d" in name:
        enter(f"{name}{takes}", _with_output_grid(compute))
        if not transposed:
            enter(f"{name}_relu{takes}", _with_output_grid(_then_relu(compute)))
        return
    windows = "int[] stride, int[] padding, int[] dilation, int groups"
    old = f"(Tensor qx, {type_name} weight, {windows}, {_OUTPUT})"
    enter(f"{name}.new{takes}", _with_output_grid(compute))
    enter(f"{name}_relu.new{takes}", _with_output_grid(_then_relu(compute)))
    enter(f"{name}{old} -> Tensor", _old_convolution(cls, _identity))
    enter(f"{name}_relu{old} -> Tensor", _old_convolution(cls, _relu))


for _n, _cls in ((1, Conv2dParams), (2, Conv2dParams), (3, Conv3dParams)):
    _enter_convolutions(f"conv{_n}d", _cls, False)
    _enter_convolutions(f"conv_transpose{_n}d", _cls, True)


def _conv_add(x: Tensor, accumulated: Tensor, packed: Any) -> Any:
    return _call("add", _convolve(Conv2dParams, False, False)(x, packed), accumulated)


_ACCUMULATED = f"Tensor qx, Tensor qaccum, {CUSTOM_CLASS_PREFIX}{Conv2dParams.title} packed_weight, {_OUTPUT}"
enter(f"conv2d_add({_ACCUMULATED}) -> Tensor", _with_output_grid(_conv_add))
enter(f"conv2d_add_relu({_ACCUMULATED}) -> Tensor", _with_output_grid(_then_relu(_conv_add)))


# ---- arithmetic ------------------------------------------------------------------------------------

_BINARY: Final = "(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc"


def _named(name: str) -> Compute:
    return lambda *arguments: _call(name, *arguments)


def _number(x: Any) -> float:
    value = x.item() if isinstance(x, Tensor) else x
    if isinstance(value, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    return float(value)


def _add_number(x: Tensor, b: Any) -> Tensor:
    """Return x + `b`. If x has a grid, round `b` to a multiple of its scale.

    The zero point of the result's grid is lower by the rounded `b` / scale. If this zero point is out of the
    range of the dtype, clamp it to the range. The scale is then increased, so that the grid still contains
    all results.
    """
    grid = grid_of(x)
    if grid is None or grid.axis >= 0:
        return _call("add", x, _number(b))  # type: ignore[no-any-return]
    low, high = grid.range
    steps = round(_number(b) / grid.scale)
    total, zero_point = _call("add", x, steps * grid.scale), grid.zero_point - steps
    if low <= zero_point <= high:
        return with_grid(total, grid._replace(zero_point=zero_point))
    reach = high - zero_point if zero_point < low else zero_point - low
    return round_to_grid(
        total,
        grid._replace(scale=grid.scale * reach / (high - low), zero_point=low if zero_point < low else high),
    )


def _mul_number(x: Tensor, b: Any) -> Tensor:
    """Return x * `b`. If x has a grid with scale s, the grid of the result has the scale s * |b|.

    If `b` is negative, the zero point is mirrored: z becomes low + high - z.
    """
    grid, factor = grid_of(x), _number(b)
    product = _call("mul", x, factor)
    if grid is None or grid.axis >= 0:
        return product  # type: ignore[no-any-return]
    if factor == 0:
        return with_grid(product, grid._replace(scale=1.0, zero_point=0))
    low, high = grid.range
    zero_point = grid.zero_point if factor > 0 else high - (grid.zero_point - low)
    return with_grid(product, grid._replace(scale=grid.scale * abs(factor), zero_point=zero_point))


def _relu_on_grid(x: Tensor) -> Tensor:
    return with_grid(_relu(x), grid_of(x))


for _name, _compute in (("add", _add_number), ("mul", _mul_number)):
    for _suffix, _then in (("", _identity), ("_relu", _relu_on_grid)):

        def _of_number(a: Any, b: Any, compute: Compute = _compute, then: Compute = _then) -> Tensor:
            return then(compute(a, b) if isinstance(a, Tensor) else compute(b, a))  # type: ignore[no-any-return]

        _tensors = _named(_name) if _then is _identity else _then_relu(_named(_name))
        enter(f"{_name}{_suffix}{_BINARY}", _with_output_grid(_tensors))
        enter(f"{_name}{_suffix}.Scalar(Tensor qa, Scalar b) -> Tensor qc", _of_number)
        enter(f"{_name}{_suffix}.Scalar2(Scalar b, Tensor qa) -> Tensor qc", _of_number)
        enter(f"{_name}_scalar{_suffix}(Tensor qa, Scalar b) -> Tensor qc", _of_number)
        enter(f"{_name}_scalar{_suffix}.Tensor(Tensor qa, Tensor b) -> Tensor qc", _of_number, shape=ITEM)
enter(f"matmul{_BINARY}", _with_output_grid(_named("matmul")))


def _cat(then: Compute) -> Compute:
    def kernel(xs: Sequence[Tensor], dim: int, scale: float | None, zero_point: int | None) -> Tensor:
        if not xs:
            raise RuntimeError("quantized::cat: there are no tensors to join")
        grid = grid_of(xs[0])
        if grid is not None and grid.axis < 0:
            scale = grid.scale if scale is None else scale
            zero_point = grid.zero_point if zero_point is None else zero_point
        joined = then(_call("cat", list(xs), dim))
        return (
            joined
            if scale is None or zero_point is None
            else round_to_grid(joined, _grid(xs[0], scale, zero_point))
        )

    return kernel


_CAT = "(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor"
enter(f"cat{_CAT}", _cat(_identity))
enter(f"cat_relu{_CAT}", _cat(_relu))


# ---- activations -----------------------------------------------------------------------------------


def _elu(x: Tensor, scale: float, zero_point: int, *factors: Any) -> Tensor:
    return round_to_grid(_call("elu", x, *factors), _grid(x, scale, zero_point))


def _celu(x: Tensor, scale: float, zero_point: int, alpha: Any) -> Tensor:
    return round_to_grid(_call("celu", x, alpha), _grid(x, scale, zero_point))


def _leaky_relu(x: Tensor, slope: Any, inplace: bool) -> Any:
    return _call("leaky_relu", x, slope)


def _relu6(x: Tensor, inplace: bool) -> Tensor:
    clamped = _round_to_grid_of(x, _call("clamp", x, 0, 6))
    return with_grid(_call("copy_", x, clamped), grid_of(x)) if inplace else clamped


def _dropout(x: Tensor, scale: float, zero_point: int, p: Any, training: bool) -> Any:
    return _call("clone", x)


def _on_same_grid(name: str) -> Compute:
    return lambda x, *arguments: _round_to_grid_of(x, _call(name, x, *arguments))


enter(f"sigmoid(Tensor qx, {_OUTPUT}) -> Tensor", _with_output_grid(_named("sigmoid")))
enter(f"hardswish(Tensor input, {_OUTPUT}) -> Tensor", _with_output_grid(_named("hardswish")))
enter(f"softmax(Tensor qx, int dim, {_OUTPUT}) -> Tensor", _with_output_grid(_named("softmax")))
enter(f"prelu(Tensor qx, Tensor weight, {_OUTPUT}) -> Tensor", _with_output_grid(_named("prelu")))
enter(
    f"leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, {_OUTPUT}) -> Tensor",
    _with_output_grid(_leaky_relu),
)
enter(f"elu(Tensor self, {_OUTPUT}, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", _elu)
enter(f"celu(Tensor self, {_OUTPUT}, Scalar alpha=1) -> Tensor", _celu)
enter(f"dropout(Tensor self, {_OUTPUT}, Scalar p=0.5, bool training=False) -> Tensor", _dropout)
enter("relu6(Tensor qx, bool inplace=False) -> Tensor", _relu6)
enter("clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy", _on_same_grid("clamp"))
enter("threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy", _on_same_grid("threshold"))


# ---- pooling ---------------------------------------------------------------------------------------

for _n in (1, 2):
    enter(
        f"max_pool{_n}d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool "
        "ceil_mode) -> Tensor",
        _on_same_grid(f"max_pool{_n}d"),
    )
for _n in (1, 2, 3):
    _fill = (f"int[{_n}] padding=0, int[{_n}] dilation=1", "int[1] padding=[0], int[1] dilation=[1]")[_n == 1]
    op(
        f"aten::quantized_max_pool{_n}d(Tensor self, int[{_n}] kernel_size, int[{_n}] stride=[], "
        f"{_fill}, bool ceil_mode=False) -> Tensor",
        **_TENSOR_KERNEL,
    )(_on_same_grid(f"max_pool{_n}d"))


# ---- normalisation ---------------------------------------------------------------------------------


def _batch_norm(x: Tensor, weight: Any, bias: Any, mean: Tensor, var: Tensor, eps: float) -> Any:
    return _call("batch_norm", x, weight, bias, mean, var, False, 0.0, eps, False)


def _instance_norm(x: Tensor, weight: Any, bias: Any, eps: float) -> Any:
    return _call("instance_norm", x, weight, bias, None, None, True, 0.0, eps, False)


_MOMENTS = f"Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, {_OUTPUT}) -> Tensor"
for _suffix in ("", "1d", "2d", "3d"):
    enter(f"batch_norm{_suffix}(Tensor qx, {_MOMENTS}", _with_output_grid(_batch_norm))
    enter(f"batch_norm{_suffix}_relu(Tensor qx, {_MOMENTS}", _with_output_grid(_then_relu(_batch_norm)))
op(f"aten::quantized_batch_norm(Tensor input, {_MOMENTS}", **_TENSOR_KERNEL)(_with_output_grid(_batch_norm))
_AFFINE = f"Tensor? weight, Tensor? bias, float eps, {_OUTPUT}) -> Tensor"
enter(f"layer_norm(Tensor input, int[] normalized_shape, {_AFFINE}", _with_output_grid(_named("layer_norm")))
enter(f"group_norm(Tensor input, int num_groups, {_AFFINE}", _with_output_grid(_named("group_norm")))
enter(f"instance_norm(Tensor input, {_AFFINE}", _with_output_grid(_instance_norm))


# ---- embedding tables ------------------------------------------------------------------------------

_TABLE = f"{CUSTOM_CLASS_PREFIX}{EmbeddingParams.title} weight, Tensor indices"
_BAGS = (
    f"{_TABLE}, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, bool "
    f"pruned_weights=False, Tensor? "
    "per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool include_last_offset=False"
)


def _embedding(packed: Any, indices: Tensor, pruned: bool) -> Any:
    return _call("embedding", as_packed(packed, EmbeddingParams).weight, indices)


def _embedding_bag(
    packed: Any,
    indices: Tensor,
    offsets: Tensor | None,
    scale_grad_by_freq: bool,
    mode: int,
    pruned: bool,
    per_sample_weights: Tensor | None,
    mapping: Tensor | None,
    include_last_offset: bool,
) -> Any:
    """Return the sum of the rows of each bag. As in PyTorch, the argument `mode` is ignored."""
    if pruned or mapping is not None:
        raise NotImplementedError("quantized::embedding_bag: tables without their unused rows are not there")
    table = as_packed(packed, EmbeddingParams).weight
    if offsets is None:
        if indices.ndim != 2:
            raise RuntimeError("embedding_bag expects offsets, or indices of 2 dimensions")
        rows, size = indices.shape
        offsets = operator("arange")(0, rows * size, size, device=indices.device)
        indices = indices.reshape(-1)
        include_last_offset = False
    if per_sample_weights is not None:
        per_sample_weights = per_sample_weights.reshape(-1)
    arguments = table, indices, offsets, scale_grad_by_freq, 0, False, per_sample_weights, include_last_offset
    return _call("embedding_bag", *arguments)[0]


for _bits in ("byte", "4bit"):
    enter(f"embedding_{_bits}({_TABLE}, bool pruned_weights=False) -> Tensor", _embedding)
    enter(f"embedding_bag_{_bits}({_BAGS}) -> Tensor", _embedding_bag)
