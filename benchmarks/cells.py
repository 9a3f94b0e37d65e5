"""The LSTM cell of PyTorch's JIT overview at four sizes (batch x hidden), scripted, one thread."""

from __future__ import annotations

from functools import partial
from typing import Any

import ts
from benchmarks import peers
from benchmarks.measure import Case

TITLE = "LSTM cell, batch x hidden"
SIZES = ((1, 32), (1, 128), (16, 128), (64, 512))
SOURCE = """
def lstm_cell(x, hx, cx, w_ih, w_hh, b_ih, b_hh):
    gates = x.mm(w_ih.t()) + hx.mm(w_hh.t()) + b_ih + b_hh
    ingate, forgetgate, cellgate, outgate = gates.chunk(4, 1)
    ingate = torch.sigmoid(ingate)
    forgetgate = torch.sigmoid(forgetgate)
    cellgate = torch.tanh(cellgate)
    outgate = torch.sigmoid(outgate)
    cy = (forgetgate * cx) + (ingate * cellgate)
    hy = outgate * torch.tanh(cy)
    return hy, cy
"""


def inputs(batch: int, hidden: int) -> list[ts.Tensor]:
    """Random input, state, weights and biases."""
    ts.manual_seed(0)
    state, weights, bias = (batch, hidden), (4 * hidden, hidden), (4 * hidden,)
    return [ts.randn(*shape) for shape in (state, state, state, weights, weights, bias, bias)]


def cases() -> list[Case]:
    """One case a size."""
    ours = ts.jit.CompilationUnit(SOURCE).lstm_cell
    result = []
    for batch, hidden in SIZES:
        arguments = inputs(batch, hidden)
        contestants: dict[str, Any] = {"ts": partial(ours, *arguments)}
        if peers.has_torch():
            import torch

            torch.set_num_threads(1)
            theirs = torch.jit.CompilationUnit(SOURCE).lstm_cell
            tensors = [torch.from_numpy(a.numpy()) for a in arguments]
            contestants["PyTorch"] = partial(theirs, *tensors)
        result.append(Case(f"{batch} x {hidden}", contestants))
    return result
