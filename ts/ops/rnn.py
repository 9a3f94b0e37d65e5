"""Recurrent neural networks: cells, and stacks of layers over sequences.

Input: padded sequences (time, batch, features) or packed sequences (`ts.ops.packed_sequence`), states and
weights. One list contains the weights of all layers. Each layer and direction has the weights w_ih and w_hh,
and optionally the biases b_ih and b_hh. An LSTM with projections also has w_hr.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ts._core.tensor import size_guards
from ts._core.thread import deadline
from ts.ops import common, cost_model
from ts.ops.common import Array
from ts.ops.registry import find, op
from ts.ops.shape_functions import ITEM

State = tuple[Array, ...]
# Step function of a cell. It computes the new state from (xp, contribution of the input to the gates, old
# state, weights)
Step = Callable[[Any, Array, State, "_Weights"], State]


class _Weights:
    """Weights of one layer and direction."""

    def __init__(self, tensors: Sequence[Array], has_biases: bool) -> None:
        self.w_ih, self.w_hh = tensors[:2]
        self.b_ih = tensors[2] if has_biases else None
        self.b_hh = tensors[3] if has_biases else None
        rest = tensors[4 if has_biases else 2 :]
        self.w_hr = rest[0] if rest else None


def _sigmoid(xp: Any, x: Array) -> Array:
    return 1 / (1 + xp.exp(-x))


def linear(xp: Any, x: Array, weight: Array, bias: Array | None) -> Array:
    """Return x @ weight.T + bias, rounded once to the dtype of `x`."""
    product = xp.matmul(x, weight.T)  # in NumPy, the product of bfloat16 arrays is float32
    return (product if bias is None else product + bias).astype(x.dtype, copy=False)


def lstm_gates(xp: Any, gates: Array) -> State:
    """Apply sigmoid and tanh to the gates of an LSTM. Return input, forget, cell update and output gate."""
    i, f, g, o = xp.split(gates, 4, axis=-1)
    return _sigmoid(xp, i), _sigmoid(xp, f), xp.tanh(g), _sigmoid(xp, o)


def _lstm_step(xp: Any, projection: Array, state: State, w: _Weights) -> State:
    hidden, cell = state
    i, f, g, o = lstm_gates(xp, projection + linear(xp, hidden, w.w_hh, w.b_hh))
    cell = f * cell + i * g
    hidden = o * xp.tanh(cell)
    return (hidden if w.w_hr is None else linear(xp, hidden, w.w_hr, None)), cell


def _gru_step(xp: Any, projection: Array, state: State, w: _Weights) -> State:
    hidden = state[0]
    r, z, n = xp.split(projection, 3, axis=-1)
    hr, hz, hn = xp.split(linear(xp, hidden, w.w_hh, w.b_hh), 3, axis=-1)
    update = _sigmoid(xp, z + hz)
    new = xp.tanh(n + _sigmoid(xp, r + hr) * hn)
    return ((hidden - new) * update + new,)


def _tanh_step(xp: Any, projection: Array, state: State, w: _Weights) -> State:
    return (xp.tanh(projection + linear(xp, state[0], w.w_hh, w.b_hh)),)


def _relu_step(xp: Any, projection: Array, state: State, w: _Weights) -> State:
    return (xp.maximum(projection + linear(xp, state[0], w.w_hh, w.b_hh), 0),)


# ---- cells -----------------------------------------------------------------------------------------

_NO_BOOL = {"b": "addmm_impl_cpu_"}
_CELL = "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None"


def _cell(xp: Any, step: Step, x: Array, state: State, weights: tuple[Any, ...]) -> State:
    w = _Weights(weights, True)
    if not size_guards.equal(x.shape[-1], w.w_ih.shape[1]):
        raise RuntimeError(f"input has inconsistent input_size: got {x.shape[-1]} expected {w.w_ih.shape[1]}")
    for i, hidden in enumerate(state):
        if not size_guards.equal(hidden.shape[0], x.shape[0]):
            raise RuntimeError(
                f"Input batch size {x.shape[0]} doesn't match hidden{i} batch size {hidden.shape[0]}"
            )
        if not size_guards.equal(hidden.shape[-1], w.w_hh.shape[1]):
            raise RuntimeError(
                f"hidden{i} has inconsistent hidden_size: got {hidden.shape[-1]}, expected {w.w_hh.shape[1]}"
            )
    for operand, weight, bias in ((x, w.w_ih, w.b_ih), (state[0], w.w_hh, w.b_hh)):
        _check_dtypes(operand, weight, bias)
    return step(xp, linear(xp, x, w.w_ih, w.b_ih), state, w)


def _check_dtypes(x: Array, weight: Array, bias: Array | None) -> None:
    """Raise PyTorch's RuntimeError for matrix products with mixed dtypes."""
    if x.dtype == weight.dtype:
        return
    if bias is None:
        expected, actual = (common.CPP_NAME_OF[y.dtype] for y in (x, weight))
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {expected} != {actual}")
    expected, actual = (common.NAME_OF[y.dtype] for y in (x, weight))
    raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {expected} and {actual}")


@op(
    f"aten::lstm_cell(Tensor input, Tensor[] hx, {_CELL}) -> (Tensor, Tensor)",
    dtype_errors=_NO_BOOL,
    autocast={"cuda": "lower"},
)
def _lstm_cell(xp: Any, input: Array, hx: Sequence[Array], *weights: Any) -> State:
    return _cell(xp, _lstm_step, input, (hx[0], hx[1]), weights)


def _single(name: str, step: Step, **fields: Any) -> None:
    @op(f"aten::{name}(Tensor input, Tensor hx, {_CELL}) -> Tensor", where="f", **fields)
    def cell(xp: Any, input: Array, hx: Array, *weights: Any) -> Array:
        return _cell(xp, step, input, (hx,), weights)[0]


_single("gru_cell", _gru_step, autocast={"cuda": "lower"})
_single("rnn_tanh_cell", _tanh_step, dtype_errors=_NO_BOOL, autocast="lower")
_single("rnn_relu_cell", _relu_step, dtype_errors=_NO_BOOL, autocast="lower")


# ---- stacked layers --------------------------------------------------------------------------------

_OPTIONS = "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"


def _stack(
    xp: Any,
    step: Step,
    x: Array,
    sizes: Sequence[int] | None,
    state: State,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> State:
    """Return the output of the last layer and the final states of all layers.

    `sizes` contains the batch size of each time step if the input is packed.
    """
    directions = 2 if bidirectional else 1
    if num_layers <= 0:
        raise RuntimeError("Expected more hidden states in stacked_rnn")
    if not len(x if sizes is None else sizes):
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    size = len(params) // (num_layers * directions)
    rows = range(len(x)) if sizes is None else _PackedRows(sizes, len(x))
    final: list[State] = []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            index = layer * directions + direction
            weights = _Weights(params[index * size : (index + 1) * size], has_biases)
            projections = linear(xp, x, weights.w_ih, weights.b_ih)
            initial = tuple(component[index] for component in state)
            output, final_state = _layer(xp, step, projections, rows, initial, weights, bool(direction))
            final.append(final_state)
            outputs.append(output)
        x = outputs[0] if directions == 1 else xp.concatenate(outputs, axis=-1)
        if dropout and train and layer < num_layers - 1:
            record = find("aten::dropout")
            assert record is not None
            x = record.kernel(xp, x, dropout, True)
    return (x, *(xp.stack([each[i] for each in final]) for i in range(len(state))))


def _sizes_of_steps(batch_sizes: Array) -> list[int]:
    """Return the number of rows of each time step of a packed sequence."""
    if batch_sizes.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if batch_sizes.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {common.NAME_OF[batch_sizes.dtype]}")
    if batch_sizes.ndim != 1:
        raise RuntimeError(f"batch_sizes: expected a vector, found {batch_sizes.ndim} dimensions")
    deadline.reserve(8 * batch_sizes.size)
    counts: list[int] = batch_sizes.tolist()
    return counts


# Element t is the index of time step t in the first dimension, or in a packed sequence the slice of the rows
# of step t.
Rows = Sequence[Any]


class _PackedRows(Sequence[Any]):
    """Row slices of the time steps in a packed sequence. Slice t has `sizes[t]` rows.

    Slices are computed on demand, because a sequence may have millions of time steps.
    """

    def __init__(self, sizes: Sequence[int], length: int) -> None:
        self._sizes = np.asarray(sizes, dtype=np.int64)
        self._ends = np.cumsum(self._sizes)
        if len(self._sizes) and (self._sizes.min() < 0 or self._ends[-1] > length):
            raise RuntimeError(f"batch_sizes: expected a sum of at most {length}, the length of data")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, t: Any) -> Any:
        return slice(int(self._ends[t] - self._sizes[t]), int(self._ends[t]))


def _layer(
    xp: Any, step: Step, projections: Array, rows: Rows, state: State, weights: _Weights, reverse: bool
) -> tuple[Array, State]:
    """Return the hidden state after each time step, in one array, and the last state.

    `projections` contains the input projections of all time steps. `rows[t]` selects the rows of step t in
    `projections`, by an index or slice. In packed input, the state of a sequence does not change after its
    end.
    """
    output = None
    for t in cost_model.steps(reversed(range(len(rows))) if reverse else range(len(rows))):
        step_input = projections[rows[t]]
        count = step_input.shape[0]
        if count == state[0].shape[0]:
            state = step(xp, step_input, state, weights)
            hidden = state[0]
        else:
            new = step(xp, step_input, tuple(component[:count] for component in state), weights)
            state = tuple(
                xp.concatenate([component, old[count:]]) for component, old in zip(new, state, strict=True)
            )
            hidden = new[0]
        if output is None:
            length = len(rows) if isinstance(rows, range) else rows[-1].stop
            output = xp.empty((length, *projections.shape[1:-1], hidden.shape[-1]), dtype=hidden.dtype)
        output[rows[t]] = hidden
    return output, state


def _padded(xp: Any, step: Step, input: Array, state: State, options: Sequence[Any]) -> State:
    *others, batch_first = options
    x = input.swapaxes(0, 1) if batch_first else input
    output, *final = _stack(xp, step, x, None, state, *others)
    return (output.swapaxes(0, 1) if batch_first else output, *final)


@op(
    f"aten::lstm.input(Tensor input, Tensor[] hx, {_OPTIONS}, bool batch_first) -> (Tensor, Tensor, Tensor)",
    nondeterministic=True,
    dtype_errors=_NO_BOOL,
    autocast="lower",
)
def _lstm(xp: Any, input: Array, hx: Sequence[Array], *options: Any) -> State:
    return _padded(xp, _lstm_step, input, (hx[0], hx[1]), options)


@op(
    f"aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, {_OPTIONS}) -> (Tensor, Tensor, Tensor)",
    nondeterministic=True,
    dtype_errors=_NO_BOOL,
    shape=ITEM,
    autocast="lower",
)
def _packed_lstm(xp: Any, data: Array, batch_sizes: Array, hx: Sequence[Array], *options: Any) -> State:
    return _stack(xp, _lstm_step, data, _sizes_of_steps(batch_sizes), (hx[0], hx[1]), *options)


def _declare_layer(name: str, step: Step, **fields: Any) -> None:
    @op(
        f"aten::{name}.input(Tensor input, Tensor hx, {_OPTIONS}, bool batch_first) -> (Tensor, Tensor)",
        where="f",
        nondeterministic=True,
        dtype_errors=_NO_BOOL,
        **fields,
    )
    def padded(xp: Any, input: Array, hx: Array, *options: Any) -> State:
        return _padded(xp, step, input, (hx,), options)

    @op(
        f"aten::{name}.data(Tensor data, Tensor batch_sizes, Tensor hx, {_OPTIONS}) -> (Tensor, Tensor)",
        where="f",
        nondeterministic=True,
        dtype_errors=_NO_BOOL,
        shape=ITEM,
        **fields,
    )
    def packed(xp: Any, data: Array, batch_sizes: Array, hx: Array, *options: Any) -> State:
        return _stack(xp, step, data, _sizes_of_steps(batch_sizes), (hx,), *options)


_declare_layer("gru", _gru_step, autocast={"cuda": "lower"})
_declare_layer("rnn_tanh", _tanh_step, autocast="lower")
_declare_layer("rnn_relu", _relu_step, autocast="lower")
