"""Recurrent networks with quantized weights, computed by `ts.ops.rnn` with dequantized weights.

The results are equal to those of `lstm` or `gru` with the dequantized weights. Unlike in PyTorch, activations
are not quantized. In this example, the list `cells` contains the packed weights:

    output, h, c = aten::quantized_lstm.input(x, [h, c], cells, True, 1, 0., False, False, False)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.dispatch.overloads import overloads as operator
from ts._core.tensor.tensor import Tensor
from ts.dtypes import float32
from ts.ir.types import CUSTOM_CLASS_PREFIX
from ts.ops.operator_record import OperatorRecord
from ts.ops.packed_params import CellParams, LinearParams, as_packed
from ts.ops.quantized import enter
from ts.ops.registry import add
from ts.ops.shape_functions import ITEM

_CELL = CUSTOM_CLASS_PREFIX + CellParams.title
_LINEAR = CUSTOM_CLASS_PREFIX + LinearParams.title


# ---- packing ---------------------------------------------------------------------------------------


def _of_layers(
    w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, reduce_range: bool = False
) -> CellParams:
    """Return the parameters of a cell with two packed layers.

    The bias arguments are ignored, as in PyTorch.
    """
    layers = as_packed(w_ih, LinearParams), as_packed(w_hh, LinearParams)
    return CellParams(*layers, reduce_range=reduce_range)


_LAYERS = f"{_LINEAR} w_ih, {_LINEAR} w_hh"
enter(f"make_quantized_cell_params_fp16({_LAYERS}) -> {_CELL}", _of_layers)
enter(
    f"make_quantized_cell_params_dynamic({_LAYERS}, Tensor bias_ih, Tensor bias_hh, bool "
    f"reduce_range=False) -> {_CELL}",
    _of_layers,
)


def _check(input: Tensor) -> None:
    if input.dtype != float32:
        raise RuntimeError(f"quantized recurrent layers take float32, not {input.dtype.type_name}")


# ---- cells -----------------------------------------------------------------------------------------


def _enter_cell(name: str, state: str, biases: str, returns: str) -> None:
    def kernel(input: Tensor, hx: Any, w_ih: Any, w_hh: Any, b_ih: Tensor, b_hh: Tensor) -> Any:
        _check(input)
        cell = _of_layers(w_ih, w_hh, b_ih, b_hh)
        output = operator(f"{name}_cell")(input, hx, *cell.tensors)
        return output.contiguous() if isinstance(output, Tensor) else output

    enter(
        f"quantized_{name}_cell_dynamic(Tensor input, {state} hx, {_LAYERS}, {biases}) -> {returns}", kernel
    )


_enter_cell("lstm", "Tensor[]", "Tensor bias_ih, Tensor bias_hh", "(Tensor, Tensor)")
for _name in ("gru", "rnn_tanh", "rnn_relu"):
    _enter_cell(_name, "Tensor", "Tensor b_ih, Tensor b_hh", "Tensor")


# ---- stacked layers --------------------------------------------------------------------------------

_OPTIONS = f"{_CELL}[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"


def _enter_stack(name: str, state: str, options: str, returns: str) -> None:
    """Register the overloads of a quantized RNN for padded and packed sequences."""

    def stack(inputs: Sequence[Any], cells: Any, layers: int, rest: Sequence[Any]) -> Any:
        _check(inputs[0])
        directions = 2 if rest[2] else 1
        if len(cells) != layers * directions:
            raise RuntimeError(
                f"quantized_{name}: {len(cells)} cells for {layers} layers of {directions} directions"
            )
        weights = [x for cell in cells for x in as_packed(cell, CellParams).tensors]
        return operator(name)(*inputs, weights, True, layers, *rest)

    def padded(input: Tensor, hx: Any, cells: Any, has_biases: bool, layers: int, *rest: Any) -> Any:
        return stack((input, hx), cells, layers, rest[:4])

    def packed(
        data: Tensor, sizes: Tensor, hx: Any, cells: Any, has_biases: bool, layers: int, *rest: Any
    ) -> Any:
        return stack((data, sizes, hx), cells, layers, rest[:3])

    head = f"aten::quantized_{name}"
    kernels_by_schema: dict[str, Any] = {
        f"{head}.input(Tensor input, {state} hx, {_OPTIONS}, bool batch_first{options}) -> {returns}": padded,
        f"{head}.data(Tensor data, Tensor batch_sizes, {state} hx, {_OPTIONS}{options}) -> {returns}": packed,
    }
    for schema, kernel in kernels_by_schema.items():
        shape = ITEM if kernel is packed else None
        add(OperatorRecord(schema, kernel, "quantized_rnn", "", tensor_kernel=True, shape=shape))


_enter_stack(
    "lstm", "Tensor[]", ", *, ScalarType? dtype=None, bool use_dynamic=False", "(Tensor, Tensor, Tensor)"
)
_enter_stack("gru", "Tensor", "", "(Tensor, Tensor)")
