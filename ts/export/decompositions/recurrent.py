"""Decompositions of recurrent layers.

The decomposition unrolls the loop over the time steps. The example arguments determine the number of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.decompositions.decomposition_table import decomposes

aten = ts.ops.aten

State = tuple[Tensor, ...]
# Function of one time step: (linear(input, w_ih, b_ih), state, w_hh, b_hh) -> next state. The output of the
# cell is the first tensor of the next state.
CellFunction = Callable[[Tensor, State, Tensor, Any], State]


def _lstm_cell(input_gates: Tensor, state: State, w_hh: Tensor, b_hh: Any) -> State:
    hidden, cell = state
    gates = aten.add.Tensor(aten.linear(hidden, w_hh, b_hh), input_gates)
    chunks = aten.chunk(gates, 4, 2)
    into, forget = aten.sigmoid(chunks[0]), aten.sigmoid(chunks[1])
    candidate, out = aten.tanh(chunks[2]), aten.sigmoid(chunks[3])
    cell = aten.add.Tensor(aten.mul.Tensor(forget, cell), aten.mul.Tensor(into, candidate))
    return aten.mul.Tensor(out, aten.tanh(cell)), cell


def _gru_cell(input_gates: Tensor, state: State, w_hh: Tensor, b_hh: Any) -> State:
    hidden = state[0]
    of_input = aten.chunk(input_gates, 3, 1)
    of_state = aten.chunk(aten.linear(hidden, w_hh, b_hh), 3, 2)
    reset = aten.sigmoid(aten.add.Tensor(of_state[0], of_input[0]))
    update = aten.sigmoid(aten.add.Tensor(of_state[1], of_input[1]))
    new = aten.tanh(aten.add.Tensor(of_input[2], aten.mul.Tensor(of_state[2], reset)))
    return (aten.add.Tensor(aten.mul.Tensor(aten.sub.Tensor(hidden, new), update), new),)


def _rnn_cell(activation: Any) -> CellFunction:
    def step(projected_input: Tensor, state: State, w_hh: Tensor, b_hh: Any) -> State:
        return (activation(aten.add.Tensor(aten.linear(state[0], w_hh, b_hh), projected_input)),)

    return step


def _layer(
    x: Tensor, state: State, weights: list[Any], step: CellFunction, reverse: bool
) -> tuple[Tensor, State]:
    """Run one layer in one direction, and return outputs of all time steps and the final state."""
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    cells = len(state) > 1
    if cells:
        state = tuple(aten.unsqueeze(s, 0) for s in state)
    projected_inputs = aten.linear(x, w_ih, b_ih)
    if reverse:
        projected_inputs = aten.flip(projected_inputs, [0])
    if not cells:
        state = tuple(aten.unsqueeze(s, 0) for s in state)
    outputs = []
    for step_input in aten.unbind(projected_inputs, 0):
        state = step(step_input, state, w_hh, b_hh)
        if w_hr is not None:
            state = (aten.linear(state[0], w_hr), *state[1:])
        outputs.append(state[0])
    result = aten.cat(outputs[::-1] if reverse else outputs, 0)
    return result, tuple(aten.squeeze.dim(s, 0) for s in state)


def _weights(params: list[Tensor], has_biases: bool, projected: bool) -> list[list[Any]]:
    """Split the flat parameter list into one list [w_ih, w_hh, b_ih, b_hh, w_hr] per layer and direction.

    A parameter that the layer does not have is None.
    """
    count = (4 if has_biases else 2) + projected
    layers = []
    for k in range(0, len(params), count):
        layer_params = list(params[k : k + count])
        last = layer_params.pop() if projected else None
        layers.append([*layer_params, *[None] * (4 - len(layer_params)), last])
    return layers


def _stack(
    x: Tensor,
    states: list[list[Tensor]],
    weights: list[list[Any]],
    step: CellFunction,
    dropout: float,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, ...]:
    """Run all layers. Return the output, and for each state tensor (h, c) the final states of all layers."""
    x = aten.transpose.int(x, 0, 1) if batch_first else x
    directions = 2 if bidirectional else 1
    last: list[State] = []
    for layer in range(0, len(weights), directions):
        outputs = []
        for k in range(layer, layer + directions):
            state = tuple(of_kind[k] for of_kind in states)
            output, state = _layer(x, state, weights[k], step, k > layer)
            outputs.append(output)
            last.append(state)
        x = aten.cat(outputs, x.dim() - 1) if bidirectional else outputs[0]
        if dropout and layer + directions < len(weights):
            x = aten.dropout(x, dropout, True)
    x = aten.transpose.int(x, 0, 1) if batch_first else x
    return x, *(aten.stack(list(of_kind), 0) for of_kind in zip(*last, strict=True))


@decomposes("aten::lstm.input", implicit=True)
def lstm(
    x: Tensor,
    hx: list[Tensor],
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, ...]:
    """Run a multi-layer LSTM."""
    per = 4 if has_biases else 2
    projected = len(params) != per * num_layers * (2 if bidirectional else 1)
    states = [list(aten.unbind(s, 0)) for s in hx]
    weights = _weights(params, has_biases, projected)
    return _stack(x, states, weights, _lstm_cell, dropout if train else 0.0, bidirectional, batch_first)


def _register_single_state_rnn(key: str, step: CellFunction) -> None:
    def layers(
        x: Tensor,
        hx: Tensor,
        params: list[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[Tensor, ...]:
        states = [list(aten.unbind(hx, 0))]
        weights = _weights(params, has_biases, False)
        return _stack(x, states, weights, step, dropout if train else 0.0, bidirectional, batch_first)

    layers.__name__ = key[6:].partition(".")[0]
    decomposes(key, implicit=True)(layers)


_register_single_state_rnn("aten::gru.input", _gru_cell)
_register_single_state_rnn("aten::rnn_tanh.input", _rnn_cell(aten.tanh))
_register_single_state_rnn("aten::rnn_relu.input", _rnn_cell(aten.relu))
