"""Scripted small models: the LSTM cell of PyTorch's JIT overview, and models of a few layers.

In: nothing. Out: two tables. Both libraries compile the same source and get the same inputs. `ts` gets
copies of the weights, which do not share memory, like weights that are read from a file.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case

SIZES = ((1, 32), (1, 128), (16, 128), (64, 512))
CELL = """
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
STEPS = (
    CELL
    + """
def steps(x, hx, cx, w_ih, w_hh, b_ih, b_hh):
    for i in range(x.size(0)):
        hx, cx = lstm_cell(x[i], hx, cx, w_ih, w_hh, b_ih, b_hh)
    return hx, cx
"""
)
VITERBI = """
def viterbi(scores, moves):
    best = scores[0]
    came_from = torch.jit.annotate(List[Tensor], [])
    for t in range(1, scores.size(0)):
        values, places = (best.unsqueeze(1) + moves).max(0)
        best = values + scores[t]
        came_from.append(places)
    path = [int(best.argmax())]
    for i in range(len(came_from)):
        path.append(int(came_from[len(came_from) - 1 - i][path[-1]]))
    return path
"""
MLP = """
def mlp(x, w1, b1, w2, b2, w3, b3):
    x = torch.relu(torch.nn.functional.linear(x, w1, b1))
    x = torch.relu(torch.nn.functional.linear(x, w2, b2))
    return torch.nn.functional.linear(x, w3, b3)
"""
ATTENTION = """
def attention(x, w_qkv, b_qkv, w_out, b_out, w1, b1, w2, b2, scale, shift):
    n, length, width = x.size(0), x.size(1), x.size(2)
    qkv = torch.nn.functional.linear(x, w_qkv, b_qkv).view(n, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
    mixed = torch.nn.functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
    mixed = mixed.transpose(1, 2).reshape(n, length, width)
    x = x + torch.nn.functional.linear(mixed, w_out, b_out)
    x = torch.layer_norm(x, [width], scale, shift)
    inner = torch.nn.functional.gelu(torch.nn.functional.linear(x, w1, b1))
    return torch.layer_norm(x + torch.nn.functional.linear(inner, w2, b2), [width], scale, shift)
"""
RESIDUAL = """
def block(x, w1, w2, mean, var, scale, shift):
    y = torch.nn.functional.conv2d(x, w1, padding=1)
    y = torch.relu(torch.nn.functional.batch_norm(y, mean, var, scale, shift))
    y = torch.nn.functional.conv2d(y, w2, padding=1)
    return torch.relu(x + torch.nn.functional.batch_norm(y, mean, var, scale, shift))

def residual(x, first, w1, w2, w3, w4, mean, var, scale, shift, head, bias):
    x = torch.relu(torch.nn.functional.conv2d(x, first, stride=2, padding=1))
    x = block(x, w1, w2, mean, var, scale, shift)
    x = torch.nn.functional.max_pool2d(x, 2)
    x = block(x, w3, w4, mean, var, scale, shift)
    return torch.nn.functional.linear(x.mean([2, 3]), head, bias)
"""


def state(batch: int, hidden: int) -> list[tuple[int, ...]]:
    """Return the shapes of the state, weights and biases of an LSTM cell."""
    one, weights, bias = (batch, hidden), (4 * hidden, hidden), (4 * hidden,)
    return [one, one, weights, weights, bias, bias]


def mlp(batch: int, width: int) -> list[tuple[int, ...]]:
    """Return the shapes of the input, weights and biases of an MLP."""
    wide = 4 * width
    return [(batch, width), (wide, width), (wide,), (wide, wide), (wide,), (width, wide), (width,)]


def attention(batch: int, length: int, width: int) -> list[tuple[int, ...]]:
    """Return the shapes of the input, weights and biases of an attention layer."""
    three, four = 3 * width, 4 * width
    mixing, inner = [(three, width), (three,), (width, width), (width,)], [(four, width), (four,)]
    return [(batch, length, width), *mixing, *inner, (width, four), (width,), (width,), (width,)]


def residual(side: int) -> list[tuple[int, ...]]:
    """Return the shapes of the image, filters, statistics and head of a residual block."""
    filters = [(32, 3, 3, 3)] + [(32, 32, 3, 3)] * 4
    return [(1, 3, side, side), *filters, (32,), (32,), (32,), (32,), (10, 32), (10,)]


MODELS: dict[str, tuple[str, str, list[tuple[int, ...]]]] = {
    "LSTM, 50 steps of 1 x 128": (STEPS, "steps", [(50, 1, 128), *state(1, 128)]),
    "Viterbi, 100 x 32": (VITERBI, "viterbi", [(100, 32), (32, 32)]),
    "MLP, 1 x 128": (MLP, "mlp", mlp(1, 128)),
    "MLP, 64 x 256": (MLP, "mlp", mlp(64, 256)),
    "attention block, 1 x 32 x 128": (ATTENTION, "attention", attention(1, 32, 128)),
    "attention block, 4 x 128 x 256": (ATTENTION, "attention", attention(4, 128, 256)),
    "residual net, 64 x 64": (RESIDUAL, "residual", residual(64)),
    "residual net, 224 x 224": (RESIDUAL, "residual", residual(224)),
}


def case(name: str, source: str, function: str, shapes: list[tuple[int, ...]]) -> Case:
    """Return the case of a script; inputs are scaled to keep activations near 1, and variances are
    positive."""
    ts.manual_seed(0)
    arrays = [ts.randn(*s) * s[-1] ** -0.5 if len(s) > 1 else ts.rand(*s) + 0.1 for s in shapes]
    contestants: dict[str, Any] = {
        "ts": partial(getattr(ts.jit.CompilationUnit(source), function), *[x.clone() for x in arrays])
    }
    if peer_runtimes.has_torch():
        import torch

        torch.set_num_threads(1)
        theirs = getattr(torch.jit.CompilationUnit(source), function)
        contestants["PyTorch"] = partial(theirs, *[torch.from_numpy(x.numpy()) for x in arrays])
    return Case(name, contestants)


def tables() -> dict[str, list[Case]]:
    """Return the tables of the cell at four sizes (batch x hidden), and of the models."""
    ts.set_num_threads(1)
    cells = [
        case(f"{batch} x {hidden}", CELL, "lstm_cell", [(batch, hidden), *state(batch, hidden)])
        for batch, hidden in SIZES
    ]
    models = [case(name, *rest) for name, rest in MODELS.items()]
    return {"LSTM cell, batch x hidden": cells, "Small models, scripted, one thread": models}
