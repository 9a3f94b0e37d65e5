"""Derivatives of an LSTM layer.

For second derivatives, the layer is decomposed into time steps.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose, derive


def _of_layer(
    input: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor,
    b_hh: Tensor,
    hx: Tensor,
    cx: Tensor,
    grad_output: Tensor | None,
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    reverse: bool,
    has_biases: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return the gradients of all inputs of an LSTM layer, computed one time step after the other."""
    input_gates = ts.linear(input, w_ih, b_ih if has_biases else None)
    count = input.size(0)
    hidden = hx.view(hx.size()[-2:])
    cell = cx.view(hidden.size())
    states: list[Tensor] = []
    cells = [cell]
    gates: list[list[Tensor]] = []
    for k in range(count):
        hidden_gates = ts.linear(hidden, w_hh, b_hh if has_biases else None)
        i, f, g, o = (input_gates[count - 1 - k if reverse else k] + hidden_gates).chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        states.append(hidden)
        gates.append([i, f, g, o])
        cell = f * cell + i * g
        cells.append(cell)
        hidden = o * cell.tanh()
    of_hidden = ts.zeros_like(hidden) if grad_hy is None else grad_hy.view(hidden.size())
    of_cell = ts.zeros_like(cell) if grad_cy is None else grad_cy.view(cell.size())
    gate_gradients: list[Tensor] = []
    for k in range(count - 1, -1, -1):
        i, f, g, o = gates[k][0], gates[k][1], gates[k][2], gates[k][3]
        tanh_cell = cells[k + 1].tanh()
        if grad_output is not None:
            of_hidden = of_hidden + grad_output[count - 1 - k if reverse else k]
        of_cell = of_cell + of_hidden * o * (1 - tanh_cell * tanh_cell)
        step_gradients = [
            of_cell * g * i * (1 - i),
            of_cell * cells[k] * f * (1 - f),
            of_cell * i * (1 - g * g),
            of_hidden * tanh_cell * o * (1 - o),
        ]
        of_all = ts.cat(step_gradients, -1)
        gate_gradients.append(of_all)
        of_cell, of_hidden = of_cell * f, of_all.mm(w_hh)
    if reverse:
        states.reverse()
    else:
        gate_gradients.reverse()
    of_gates = ts.stack(gate_gradients)
    rows = of_gates.flatten(0, 1)
    first = rows.sum(0) if has_biases else ts.zeros_like(b_ih)
    second = first.clone() if has_biases else ts.zeros_like(b_hh)
    return (
        of_gates.matmul(w_ih),
        rows.t().mm(input.flatten(0, 1)),
        rows.t().mm(ts.stack(states).flatten(0, 1)),
        first,
        second,
        of_hidden.view(hx.size()),
        of_cell.view(cx.size()),
    )


_ARGUMENTS = "input, weight1, weight2, weight3, weight4, hx_, cx_tmp"
_GRADIENTS = "grad_output, grad_hy, grad_cy"
_OPTIONS = (
    "reverse, mode, hidden_size, num_layers, has_biases, train, bidirectional, batch_sizes, batch_first"
)

derive(
    "aten::mkldnn_rnn_layer",
    {
        "input, weight0, weight1, weight2, weight3, hx_, cx_": "ts._mkldnn_rnn_layer_backward("
        "input, weight0, weight1, weight2, weight3, hx_, cx_, result0, result1, result2, "
        f"grad0, grad1, grad2, {_OPTIONS}, result3, output_mask)"
    },
    differentiable="result0 result1 result2",
    absent=True,
)
compose(
    "aten::_mkldnn_rnn_layer_backward aten::mkldnn_rnn_layer_backward",
    f"_of_layer({_ARGUMENTS}, {_GRADIENTS}, reverse, has_biases)",
)
