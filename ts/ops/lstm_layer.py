"""Forward and backward (backpropagation through time) of a unidirectional LSTM layer over a padded sequence.

Input: an array (time, batch, features), and states (batch, hidden) or (1, batch, hidden). Output: the hidden
state at each time step, the last states, and a workspace. The workspace contains bytes of intermediate values
for backward.

As in PyTorch, the operators are named after oneDNN (formerly MKL-DNN). The arguments `batch_sizes`,
`num_layers`, `bidirectional`, `batch_first`, `train` and `hidden_size` have no effect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ts._core.tensor import size_guards
from ts.ops import cost_model
from ts.ops.common import Array
from ts.ops.registry import op
from ts.ops.rnn import linear, lstm_gates
from ts.ops.shape_functions import like

_WEIGHTS = "Tensor weight1, Tensor weight2, Tensor weight3, Tensor weight4, Tensor hx_"
_GRADIENTS = "Tensor? grad_output, Tensor? grad_hy, Tensor? grad_cy"
_BACKWARD = (
    f"Tensor input, {_WEIGHTS}, Tensor cx_tmp, Tensor output, Tensor hy_, Tensor cy_, {_GRADIENTS}, "
    "bool reverse, int mode, int hidden_size, int num_layers, bool has_biases, bool train, "
    "bool bidirectional, int[] batch_sizes, bool batch_first, Tensor workspace"
)
_SEVEN = ", ".join(["Tensor"] * 7)
_LSTM_MODE = 2
_NO_FLOATS = {"bic": "get_mkldnn_dtype: unsupported data type"}


def _check(
    mode: int, input: Array, w_ih: Array, w_hh: Array, biases: tuple[Array, ...], hx: Array, cx: Array
) -> None:
    """Raise RuntimeError if the mode is not LSTM, or if shapes do not match."""
    if mode != _LSTM_MODE:
        raise RuntimeError(f"mkldnn_rnn_layer: only an LSTM (mode {_LSTM_MODE}) has a layer, not mode {mode}")
    if input.ndim != 3:
        raise RuntimeError(f"mkldnn_rnn_layer: the input must have 3 dimensions, not {input.ndim}")
    if hx.ndim not in (2, 3):
        raise RuntimeError(f"mkldnn_rnn_layer: the states must have 2 or 3 dimensions, not {hx.ndim}")
    _, batch, features = input.shape
    hidden = hx.shape[-1]
    state = (*(1,) * (hx.ndim - 2), batch, hidden)
    shapes = [(4 * hidden, features), (4 * hidden, hidden), *[(4 * hidden,)] * len(biases), state, state]
    _check_shapes(input, [w_ih, w_hh, *biases, hx, cx], shapes)


def _check_shapes(input: Array, arrays: Sequence[Array | None], shapes: Sequence[tuple[int, ...]]) -> None:
    for x, shape in zip(arrays, shapes, strict=True):
        if x is not None and not size_guards.equal_shapes(x.shape, shape):
            raise RuntimeError(
                f"mkldnn_rnn_layer: expected a tensor of shape {list(shape)}, but got {list(x.shape)}"
            )
        if x is not None and x.dtype != input.dtype:
            raise RuntimeError("mkldnn_rnn_layer: input, weights and states must have the same dtype")


def _layer_shape(
    input: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array, cx: Array, *others: Any
) -> list[Any]:
    output = (*input.shape[:-1], hx.shape[-1])
    workspace = (5 * input.dtype.itemsize * math.prod(output),)
    return [(output, input.dtype), like(hx), like(cx), (workspace, np.dtype("u1"))]


def _gradient_shapes(input: Array, *others: Any) -> list[Any]:
    """Return shape and dtype of the gradients. Gradients that `output_mask` excludes are empty."""
    mask = others[-1] if isinstance(others[-1], list) else [True] * 7
    arguments = zip((input, *others[:6]), mask, strict=True)
    return [like(x) if is_requested else ((0,), x.dtype) for x, is_requested in arguments]


@op(
    "aten::mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, "
    "Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, int hidden_size, int num_layers, "
    "bool has_biases, bool bidirectional, bool batch_first, bool train) -> (Tensor, Tensor, Tensor, Tensor)",
    dtype_errors=_NO_FLOATS,
    shape=_layer_shape,
    autocast={"cpu": "lower"},
)
def _layer(
    xp: Any,
    input: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array,
    b_hh: Array,
    hx: Array,
    cx: Array,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    *others: bool,
) -> tuple[Array, ...]:
    _check(mode, input, w_ih, w_hh, (b_ih, b_hh) if has_biases else (), hx, cx)
    hidden, cell = hx.reshape(hx.shape[-2:]), cx.reshape(cx.shape[-2:])
    input_gates = linear(xp, input, w_ih, b_ih if has_biases else None)
    output = xp.empty((*input_gates.shape[:-1], hidden.shape[-1]), dtype=input_gates.dtype)
    gates, cells = xp.empty_like(input_gates), xp.empty_like(output)
    for t in cost_model.steps(_times(len(input_gates), reverse)):
        hidden_gates = linear(xp, hidden, w_hh, b_hh if has_biases else None)
        activations = lstm_gates(xp, input_gates[t] + hidden_gates)
        i, f, g, o = activations
        cell = f * cell + i * g
        hidden = o * xp.tanh(cell)
        gates[t], cells[t], output[t] = xp.concatenate(activations, axis=-1), cell, hidden
    workspace = xp.concatenate([gates.reshape(-1), cells.reshape(-1)]).view(xp.uint8)
    return output, hidden.reshape(hx.shape), cell.reshape(cx.shape), workspace


def _times(count: int, reverse: bool) -> Sequence[int]:
    return range(count)[::-1] if reverse else range(count)


@op(
    f"aten::_mkldnn_rnn_layer_backward({_BACKWARD}, bool[7] output_mask) -> ({_SEVEN})",
    where="",
    dtype_errors=_NO_FLOATS,
    shape=_gradient_shapes,
)
def _masked_backward(xp: Any, *arguments: Any) -> tuple[Array, ...]:
    """Return gradients of input, weights, biases and states.

    Gradients that `output_mask` excludes are empty.
    """
    *others, mask = arguments
    if len(mask) != 7:
        raise RuntimeError(f"mkldnn_rnn_layer_backward: output_mask must have 7 elements, not {len(mask)}")
    gradients = _backward(xp, *others)
    nothing = xp.empty((0,), dtype=gradients[0].dtype)
    return tuple(x if is_requested else nothing for x, is_requested in zip(gradients, mask, strict=True))


@op(
    f"aten::mkldnn_rnn_layer_backward({_BACKWARD}) -> ({_SEVEN})",
    where="",
    dtype_errors=_NO_FLOATS,
    shape=_gradient_shapes,
)
def _backward(
    xp: Any,
    input: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array,
    b_hh: Array,
    hx: Array,
    cx: Array,
    output: Array,
    hy: Array,
    cy: Array,
    grad_output: Array | None,
    grad_hy: Array | None,
    grad_cy: Array | None,
    reverse: bool,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    batch_first: bool,
    workspace: Array,
) -> tuple[Array, ...]:
    _check(mode, input, w_ih, w_hh, (b_ih, b_hh) if has_biases else (), hx, cx)
    shape = (*input.shape[:2], hx.shape[-1])
    _check_shapes(input, [output, grad_output, grad_hy, grad_cy], [shape, shape, hx.shape, hx.shape])
    gates, cells = _unpack_workspace(xp, workspace, output)
    shape = hx.shape[-2:]
    of_hidden = xp.zeros(shape, output.dtype) if grad_hy is None else grad_hy.reshape(shape)
    of_cell = xp.zeros(shape, output.dtype) if grad_cy is None else grad_cy.reshape(shape)
    of_gates = xp.empty((*output.shape[:-1], 4 * output.shape[-1]), dtype=output.dtype)
    order = _times(len(output), not reverse)
    states = xp.empty_like(output)
    for t, behind in cost_model.steps(zip(order, [*order[1:], None], strict=True)):
        i, f, g, o = xp.split(gates[t], 4, axis=-1)
        tanh_cell, cell = xp.tanh(cells[t]), cx.reshape(shape) if behind is None else cells[behind]
        states[t] = hx.reshape(shape) if behind is None else output[behind]
        if grad_output is not None:
            of_hidden = of_hidden + grad_output[t]
        of_cell = of_cell + of_hidden * o * (1 - tanh_cell * tanh_cell)
        of_gates[t] = xp.concatenate(
            [
                of_cell * g * i * (1 - i),
                of_cell * cell * f * (1 - f),
                of_cell * i * (1 - g * g),
                of_hidden * tanh_cell * o * (1 - o),
            ],
            axis=-1,
        )
        of_cell, of_hidden = of_cell * f, _product(xp, of_gates[t], w_hh)
    rows = of_gates.reshape(-1, of_gates.shape[-1])
    sums = rows.sum(0)
    return (
        _product(xp, of_gates, w_ih),
        _product(xp, rows.T, input.reshape(len(rows), -1)),
        _product(xp, rows.T, states.reshape(len(rows), -1)),
        *((sums, sums.copy()) if has_biases else (xp.zeros_like(b_ih), xp.zeros_like(b_hh))),
        of_hidden.reshape(hx.shape),
        of_cell.reshape(cx.shape),
    )


def _product(xp: Any, x: Array, y: Array) -> Array:
    return xp.matmul(x, y).astype(x.dtype, copy=False)  # in NumPy, the product of bfloat16 arrays is float32


def _unpack_workspace(xp: Any, workspace: Array, output: Array) -> tuple[Array, Array]:
    """Read the gate activations and cell states of all time steps from the workspace."""
    if workspace.nbytes != 5 * output.nbytes or workspace.dtype != xp.uint8:
        raise RuntimeError(
            f"mkldnn_rnn_layer_backward: a workspace of {5 * output.nbytes} bytes belongs to an output of "
            f"shape {list(output.shape)}, not one of {workspace.nbytes}"
        )
    values = xp.ascontiguousarray(workspace).view(output.dtype)
    count = 4 * output.size
    return values[:count].reshape(*output.shape[:-1], -1), values[count:].reshape(output.shape)
