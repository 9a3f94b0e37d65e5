"""Derivatives of recurrent networks, by decomposition into a cell for each time step of each layer.

For padded input on the CPU, an LSTM layer is a single operator. Its backward has a few large matrix products.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose

# ---------------------------------------------------------------------------------------- cells
#
# `input_gates` is the contribution of the input to the gates. Only an LSTM uses the cell state `cell`.


def _gru_step(input_gates: Tensor, hidden: Tensor, w_hh: Tensor, b_hh: Tensor | None) -> Tensor:
    last = input_gates.dim() - 1
    r, z, n = input_gates.chunk(3, last)
    hr, hz, hn = ts.linear(hidden, w_hh, b_hh).chunk(3, last)
    reset, update = (hr + r).sigmoid(), (hz + z).sigmoid()
    new = (n + hn * reset).tanh()
    return (hidden - new) * update + new


def _next_state(kind: str, gates: Tensor, cell: Tensor, w_hr: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the next hidden state and cell state.

    `gates` is the sum of the contributions of the input and of the previous hidden state.
    """
    if kind == "lstm":
        i, f, g, o = gates.chunk(4, gates.dim() - 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        cell = f * cell + i * g
        hidden = o * cell.tanh()
        return (hidden if w_hr is None else ts.linear(hidden, w_hr)), cell
    return (gates.tanh() if kind == "tanh" else gates.relu()), cell


def _step(
    kind: str,
    input_gates: Tensor,
    hidden: Tensor,
    cell: Tensor,
    w_hh: Tensor,
    b_hh: Tensor | None,
    w_hr: Tensor | None,
) -> tuple[Tensor, Tensor]:
    if kind == "gru":
        return _gru_step(input_gates, hidden, w_hh, b_hh), cell
    return _next_state(kind, ts.linear(hidden, w_hh, b_hh) + input_gates, cell, w_hr)


def _cell(
    kind: str,
    input: Tensor,
    hidden: Tensor,
    cell: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
) -> tuple[Tensor, Tensor]:
    rows = [hidden.size(0), cell.size(0)]
    for i in range(2):
        if input.size(0) != rows[i]:
            raise RuntimeError(
                f"Input batch size {input.size(0)} doesn't match hidden{i} batch size {rows[i]}"
            )
    if cell.size(-1) != w_hh.size(1):
        raise RuntimeError(
            f"hidden1 has inconsistent hidden_size: got {cell.size(-1)}, expected {w_hh.size(1)}"
        )
    if kind == "gru":
        return _gru_step(ts.linear(input, w_ih, b_ih), hidden, w_hh, b_hh), cell
    hidden_gates = ts.linear(hidden, w_hh, b_hh)
    return _next_state(kind, hidden_gates + ts.linear(input, w_ih, b_ih), cell, None)


# ---------------------------------------------------------------------------------------- stacked layers


def _layer(
    kind: str,
    times: list[Tensor],
    hidden: Tensor,
    cell: Tensor,
    w_hh: Tensor,
    b_hh: Tensor | None,
    w_hr: Tensor | None,
    reverse: bool,
) -> tuple[list[Tensor], Tensor, Tensor]:
    """Return the hidden state after each time step, and the final hidden state and cell state.

    If the input is packed, time steps have different numbers of sequences. The state of a sequence does not
    change after its last time step.
    """
    outputs: list[Tensor] = []
    count = len(times)
    for k in range(count):
        input_gates = times[count - 1 - k if reverse else k]
        rows = input_gates.size(0)
        if rows == hidden.size(0):
            hidden, cell = _step(kind, input_gates, hidden, cell, w_hh, b_hh, w_hr)
            outputs.append(hidden)
        else:
            active_hidden, active_cell = _step(
                kind, input_gates, hidden[:rows], cell[:rows], w_hh, b_hh, w_hr
            )
            hidden = ts.cat([active_hidden, hidden[rows:]])
            cell = ts.cat([active_cell, cell[rows:]])
            outputs.append(active_hidden)
    if reverse:
        outputs.reverse()
    return outputs, hidden, cell


def _layers(
    kind: str,
    x: Tensor,
    sizes: list[int] | None,
    hidden: Tensor,
    cell: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Run all layers of a recurrent network, and return the output and the final states.

    `x` has the shape (time, batch, features). If `sizes` is given, `x` contains packed rows, and `sizes`
    contains the number of rows of each time step.
    """
    directions = 2 if bidirectional else 1
    size = len(params) // (num_layers * directions)
    plain = 4 if has_biases else 2
    is_fusible = kind == "lstm" and not x.is_cuda and x.numel() > 0 and x.dtype in (ts.float32, ts.float64)
    last_hidden: list[Tensor] = []
    last_cell: list[Tensor] = []
    for layer in range(num_layers):
        outputs: list[Tensor] = []
        for direction in range(directions):
            at = layer * directions + direction
            weights = params[at * size : (at + 1) * size]
            b_ih: Tensor | None = None
            b_hh: Tensor | None = None
            w_hr: Tensor | None = None
            if has_biases:
                b_ih, b_hh = weights[2], weights[3]
            if size > plain:
                w_hr = weights[plain]
            if is_fusible and sizes is None and w_hr is None:
                nothing = x.new_zeros(0)
                y, h, c, _ = ts.mkldnn_rnn_layer(
                    x,
                    weights[0],
                    weights[1],
                    nothing if b_ih is None else b_ih,
                    nothing if b_hh is None else b_hh,
                    hidden[at],
                    cell[at],
                    direction == 1,
                    [],
                    2,
                    hidden.size(-1),
                    1,
                    has_biases,
                    bidirectional,
                    False,
                    train,
                )
            else:
                input_gates = ts.linear(x, weights[0], b_ih)
                times = input_gates.unbind(0) if sizes is None else input_gates.split(sizes)
                hidden_states, h, c = _layer(
                    kind, times, hidden[at], cell[at], weights[1], b_hh, w_hr, direction == 1
                )
                y = ts.stack(hidden_states) if sizes is None else ts.cat(hidden_states)
            outputs.append(y)
            last_hidden.append(h)
            last_cell.append(c)
        x = outputs[0] if directions == 1 else ts.cat(outputs, -1)
        if dropout > 0 and train and layer < num_layers - 1:
            x = ts.dropout(x, dropout, True)
    return x, ts.stack(last_hidden), ts.stack(last_cell)


def _padded(
    kind: str,
    input: Tensor,
    hidden: Tensor,
    cell: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    x = input.transpose(0, 1) if batch_first else input
    x, hidden, cell = _layers(
        kind, x, None, hidden, cell, params, has_biases, num_layers, dropout, train, bidirectional
    )
    return (x.transpose(0, 1) if batch_first else x), hidden, cell


def _packed(
    kind: str,
    data: Tensor,
    batch_sizes: Tensor,
    hidden: Tensor,
    cell: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    sizes: list[int] = batch_sizes.tolist()
    return _layers(
        kind, data, sizes, hidden, cell, params, has_biases, num_layers, dropout, train, bidirectional
    )


_WEIGHTS = "w_ih, w_hh, b_ih, b_hh"
_OPTIONS = "params, has_biases, num_layers, dropout, train, bidirectional"

compose("aten::lstm_cell", f"_cell('lstm', input, hx[0], hx[1], {_WEIGHTS})")
compose("aten::lstm.input", f"_padded('lstm', input, hx[0], hx[1], {_OPTIONS}, batch_first)")
compose("aten::lstm.data", f"_packed('lstm', data, batch_sizes, hx[0], hx[1], {_OPTIONS})")
for _name, _kind in (("gru", "gru"), ("rnn_tanh", "tanh"), ("rnn_relu", "relu")):
    compose(f"aten::{_name}_cell", f"_cell('{_kind}', input, hx, hx, {_WEIGHTS})[0]")
    compose(f"aten::{_name}.input", f"_padded('{_kind}', input, hx, hx, {_OPTIONS}, batch_first)[:2]")
    compose(f"aten::{_name}.data", f"_packed('{_kind}', data, batch_sizes, hx, hx, {_OPTIONS})[:2]")
