"""An LSTM cell run over a sequence: small matrix products and pointwise tensor operators in a loop.

python examples/lstm.py
"""

from typing import List, Tuple

import ts
from ts import Tensor


def lstm_cell(
    x: Tensor, hx: Tensor, cx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> Tuple[Tensor, Tensor]:
    """Compute an LSTM step from input x (batch, inputs) and state hx, cx (batch, hidden); return the new
    state."""
    gates = x.mm(w_ih.t()) + hx.mm(w_hh.t()) + b_ih + b_hh
    ingate, forgetgate, cellgate, outgate = gates.chunk(4, 1)
    ingate = ts.sigmoid(ingate)
    forgetgate = ts.sigmoid(forgetgate)
    cellgate = ts.tanh(cellgate)
    outgate = ts.sigmoid(outgate)
    cy = (forgetgate * cx) + (ingate * cellgate)
    hy = outgate * ts.tanh(cy)
    return hy, cy


def run_sequence(
    xs: Tensor, hx: Tensor, cx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> Tensor:
    """Return the hidden states (steps, batch, hidden) for inputs xs (steps, batch, inputs)."""
    outputs: List[Tensor] = []
    for step in range(xs.size(0)):
        hx, cx = lstm_cell(xs[step], hx, cx, w_ih, w_hh, b_ih, b_hh)
        outputs.append(hx)
    return ts.stack(outputs)


def example_inputs(
    steps: int, batch: int, hidden: int
) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return random inputs, initial states and weights with a fixed seed."""
    ts.manual_seed(0)
    return (
        ts.randn(steps, batch, hidden),
        ts.zeros(batch, hidden),
        ts.zeros(batch, hidden),
        ts.randn(4 * hidden, hidden) * 0.1,
        ts.randn(4 * hidden, hidden) * 0.1,
        ts.zeros(4 * hidden),
        ts.zeros(4 * hidden),
    )


if __name__ == "__main__":
    states = ts.jit.script(run_sequence)(*example_inputs(500, 1, 32))
    print("shape", tuple(states.shape), "mean of the last state", states[-1].mean().item())
