"""Recurrent models: cells and layers of all kinds, sequences of several lengths, trees, stacks, solvers."""

import math
from collections import namedtuple
from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tests.pytorch_parity.models import Case, call

CASES = {}


# Library layers on padded sequences.
class Tagger(nn.Module):
    def __init__(self, kind: str = "LSTM", words: int = 30, width: int = 6):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = getattr(nn, kind)(
            width, 5, num_layers=2, bidirectional=True, batch_first=True, dropout=0.1
        )
        self.out = nn.Linear(10, 4)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor]:
        packed = pack_padded_sequence(self.embed(ids), lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.rnn(packed)
        padded, counts = pad_packed_sequence(
            out, batch_first=True, padding_value=-1.0, total_length=ids.size(1)
        )
        return self.out(padded).log_softmax(-1), counts


def sequences():
    return [
        call(torch.randint(0, 30, (3, 6)), torch.tensor([4, 6, 2])),
        call(torch.randint(0, 30, (1, 3)), torch.tensor([3])),
    ]


for _kind in ("LSTM", "GRU", "RNN"):
    CASES[f"packed_{_kind.lower()}"] = Case(lambda kind=_kind: Tagger(kind), sequences, ("script", "freeze"))


class Layers(nn.Module):
    """Recurrent layers with optional states, projections, batch-first inputs and no batch."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 6, num_layers=2, proj_size=3)
        self.gru = nn.GRU(3, 5, bidirectional=True, batch_first=True)
        self.rnn = nn.RNN(10, 4, nonlinearity="relu", bias=False)

    def forward(
        self, x: Tensor, state: Optional[Tuple[Tensor, Tensor]] = None
    ) -> Tuple[Tensor, Tuple[Tensor, Tensor], Tensor]:
        out, state = self.lstm(x, state)
        out, hidden = self.gru(out.transpose(0, 1))
        out, _ = self.rnn(out[0])
        return out, state, hidden


CASES["layers"] = Case(
    Layers,
    lambda: [
        call(torch.randn(5, 2, 4)),
        call(torch.randn(3, 2, 4), (torch.randn(2, 2, 3), torch.randn(2, 2, 6))),
    ],
    ("script", "freeze"),
)
CASES["layers_traced"] = Case(Layers, lambda: [call(torch.randn(5, 2, 4))], ("trace",))


# Custom cells: normalized gates, bidirectional layers, stacked layers, states by name.
LSTMState = namedtuple("LSTMState", ["hx", "cx"])


class LayerNormCell(nn.Module):
    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(4 * hidden, inputs) * 0.3)
        self.weight_hh = nn.Parameter(torch.randn(4 * hidden, hidden) * 0.3)
        self.norm_i, self.norm_h = nn.LayerNorm(4 * hidden), nn.LayerNorm(4 * hidden)
        self.norm_c = nn.LayerNorm(hidden, elementwise_affine=False)

    def forward(self, input: Tensor, state: Tuple[Tensor, Tensor]) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        hx, cx = state
        gates = self.norm_i(torch.mm(input, self.weight_ih.t())) + self.norm_h(
            torch.mm(hx, self.weight_hh.t())
        )
        ingate, forgetgate, cellgate, outgate = gates.chunk(4, 1)
        cy = self.norm_c(torch.sigmoid(forgetgate) * cx + torch.sigmoid(ingate) * torch.tanh(cellgate))
        hy = torch.sigmoid(outgate) * torch.tanh(cy)
        return hy, (hy, cy)


class OneWay(nn.Module):
    reverse: bool

    def __init__(self, inputs: int, hidden: int, reverse: bool):
        super().__init__()
        self.cell = LayerNormCell(inputs, hidden)
        self.reverse = reverse

    def forward(self, input: Tensor, state: Tuple[Tensor, Tensor]) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        inputs = input.unbind(0)[::-1] if self.reverse else input.unbind(0)
        outputs = torch.jit.annotate(List[Tensor], [])
        for i in range(len(inputs)):
            out, state = self.cell(inputs[i], state)
            outputs += [out]
        if self.reverse:
            outputs.reverse()
        return torch.stack(outputs), state


class BothWays(nn.Module):
    __constants__ = ["directions"]

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.directions = nn.ModuleList([OneWay(inputs, hidden, False), OneWay(inputs, hidden, True)])

    def forward(
        self, input: Tensor, states: List[Tuple[Tensor, Tensor]]
    ) -> Tuple[Tensor, List[Tuple[Tensor, Tensor]]]:
        outputs = torch.jit.annotate(List[Tensor], [])
        found = torch.jit.annotate(List[Tuple[Tensor, Tensor]], [])
        i = 0
        for direction in self.directions:
            out, state = direction(input, states[i])
            outputs += [out]
            found += [state]
            i += 1
        return torch.cat(outputs, -1), found


class StackedLSTM(nn.Module):
    def __init__(self, inputs: int = 4, hidden: int = 5):
        super().__init__()
        self.layers = nn.ModuleList([BothWays(inputs, hidden), BothWays(2 * hidden, hidden)])
        self.dropout = nn.Dropout(0.4)

    def forward(
        self, input: Tensor, states: List[List[Tuple[Tensor, Tensor]]]
    ) -> Tuple[Tensor, List[List[Tuple[Tensor, Tensor]]]]:
        found: List[List[Tuple[Tensor, Tensor]]] = []
        output = input
        for i, layer in enumerate(self.layers):
            output, out_state = layer(output, states[i])
            if i < len(self.layers) - 1:
                output = self.dropout(output)
            found.append(out_state)
        return output, found


def states():
    return [[LSTMState(torch.randn(2, 5), torch.randn(2, 5)) for _ in range(2)] for _ in range(2)]


CASES["stacked_lstm"] = Case(
    StackedLSTM,
    lambda: [call(torch.randn(4, 2, 4), [[tuple(s) for s in layer] for layer in states()])],
    ("script", "freeze"),
)


class Zoneout(nn.Module):
    """A recurrent cell that keeps random states during training; batches of one are supported."""

    def __init__(self, p: float = 0.3):
        super().__init__()
        self.cell = nn.GRUCell(4, 6)
        self.p = p

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        h = torch.zeros(x.size(1), 6)
        outs = []
        for step in x:
            following = self.cell(step, h)
            if self.training:
                kept = torch.bernoulli(torch.full_like(h, self.p))
                h = kept * h + (1 - kept) * following
            else:
                h = torch.lerp(following, h, self.p)
            outs.append(h)
        return torch.stack(outs), h


CASES["zoneout"] = Case(
    Zoneout, lambda: [call(torch.randn(5, 2, 4)), call(torch.randn(5, 1, 4))], traced_calls=1
)
CASES["zoneout_training"] = Case(
    Zoneout, lambda: [call(torch.randn(5, 2, 4), seed=8)], ("script",), training=True
)


# Sequence to sequence with attention, random teacher forcing, and pointers into the input.
class Attention(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.combine = nn.Linear(2 * width, width)
        self.v = nn.Parameter(torch.rand(width))

    def forward(self, hidden: Tensor, outputs: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        energy = torch.tanh(self.combine(torch.cat([hidden.unsqueeze(1).expand_as(outputs), outputs], 2)))
        scores = torch.einsum("blw,w->bl", energy, self.v)
        if mask is not None:
            scores.masked_fill_(~mask, -1e10)
        return F.softmax(scores, dim=1)


class Seq2Seq(nn.Module):
    def __init__(self, words: int = 20, width: int = 8):
        super().__init__()
        self.words = words
        self.embed = nn.Embedding(words, width)
        self.encoder, self.decoder = nn.GRU(width, width, batch_first=True), nn.GRUCell(2 * width, width)
        self.attention = Attention(width)
        self.out = nn.Linear(3 * width, words)

    def step(
        self, token: Tensor, hidden: Tensor, memory: Tensor, mask: Tensor
    ) -> Tuple[Tensor, Tensor, Tensor]:
        x = self.embed(token)
        weights = self.attention(hidden, memory, mask)
        context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
        hidden = self.decoder(torch.cat((x, context), -1), hidden)
        return self.out(torch.cat((hidden, context, x), dim=1)), hidden, weights

    def forward(self, source: Tensor, target: Tensor, forcing: float = 0.5) -> Tensor:
        memory, hidden = self.encoder(self.embed(source))
        mask, hidden = source != 0, hidden.squeeze(0)
        outputs = torch.zeros(source.size(0), target.size(1), self.words)
        token = target[:, 0]
        for t in range(1, target.size(1)):
            logits, hidden, _ = self.step(token, hidden, memory, mask)
            outputs[:, t] = logits
            token = target[:, t] if torch.rand(1).item() < forcing else logits.argmax(1)
        return outputs

    @torch.jit.export
    def translated(
        self, source: List[int], begin: int = 1, end: int = 2, most: int = 8
    ) -> Tuple[List[int], Tensor]:
        memory, hidden = self.encoder(self.embed(torch.tensor(source).unsqueeze(0)))
        hidden = hidden[0]
        words, maps = [begin], torch.jit.annotate(List[Tensor], [])
        while len(words) <= most and words[-1] != end:
            logits, hidden, weights = self.step(
                torch.tensor(words[-1:]), hidden, memory, torch.ones(1, len(source), dtype=torch.bool)
            )
            words.append(int(logits.argmax(-1).item()))
            maps.append(weights)
        return words[1:], torch.cat(maps)


CASES["seq2seq"] = Case(
    Seq2Seq,
    lambda: [
        call(torch.randint(0, 20, (2, 6)), torch.randint(0, 20, (2, 5)), seed=1),
        call([3, 4, 5], method="translated"),
    ],
    ("script", "freeze"),
)


# Tree models: by child indices, and by the actions of a shift-reduce parser with a stack.
class TreeLSTM(nn.Module):
    def __init__(self, width: int = 6):
        super().__init__()
        self.leaf, self.reduce = nn.Linear(4, 2 * width), nn.Linear(2 * width, 5 * width)
        self.width = width

    def merged(self, left: Tuple[Tensor, Tensor], right: Tuple[Tensor, Tensor]) -> Tuple[Tensor, Tensor]:
        i, f1, f2, o, g = self.reduce(torch.cat([left[0], right[0]], -1)).split(self.width, -1)
        c = g.tanh() * i.sigmoid() + f1.sigmoid() * left[1] + f2.sigmoid() * right[1]
        return o.sigmoid() * c.tanh(), c

    def forward(self, words: Tensor, actions: List[str]) -> Tuple[Tensor, int]:
        states = self.leaf(words)
        waiting: List[Tuple[Tensor, Tensor]] = []
        for i in range(words.size(0) - 1, -1, -1):
            h, c = states[i].chunk(2)
            waiting.append((h, c))
        stack: List[Tuple[Tensor, Tensor]] = []
        deepest = 0
        for action in actions:
            if action == "shift":
                stack.append(waiting.pop())
            elif action == "reduce":
                right, left = stack.pop(), stack.pop()
                stack.append(self.merged(left, right))
            else:
                raise ValueError("no such action: " + action)
            deepest = max(deepest, len(stack))
        assert len(stack) == 1, f"{len(stack)} trees"
        return stack[0][0], deepest

    @torch.jit.export
    def by_children(self, words: Tensor, children: Dict[int, List[int]], root: int) -> Tensor:
        done: Dict[int, Tuple[Tensor, Tensor]] = {}
        todo = [root]
        while len(todo) > 0:
            node = todo[-1]
            below = children.get(node, torch.jit.annotate(List[int], []))
            missing = [c for c in below]
            missing = self.not_in(missing, done)
            if len(missing) > 0:
                todo.extend(missing)
                continue
            todo.pop()
            h, c = self.leaf(words[node]).chunk(2)
            state = (h, c)
            for child in below:
                state = self.merged(done[child], state)
            done[node] = state
        return torch.stack([done[k][0] for k in sorted(done.keys())])

    def not_in(self, nodes: List[int], done: Dict[int, Tuple[Tensor, Tensor]]) -> List[int]:
        found: List[int] = []
        for node in nodes:
            if node not in done:
                found.append(node)
        return found


CASES["tree_lstm"] = Case(
    TreeLSTM,
    lambda: [
        call(torch.randn(3, 4), ["shift", "shift", "shift", "reduce", "reduce"]), call(torch.randn(2, 4), ["shift", "shift", "reduce"]),
        call(torch.randn(5, 4), {0: [1, 2], 2: [3, 4]}, 0, method="by_children"),
    ],
    ("script", "freeze"),
)  # fmt: skip


# Solvers: Runge-Kutta steps, and steps with error-controlled size.
class Field(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width + 1, 12), nn.Tanh(), nn.Linear(12, width))

    def forward(self, t: float, y: Tensor) -> Tensor:
        return self.net(torch.cat([y, torch.full_like(y[..., :1], t)], -1))


class NeuralODE(nn.Module):
    def __init__(self, width: int = 3, tolerance: float = 1e-3):
        super().__init__()
        self.field = Field(width)
        self.tolerance = tolerance
        self.a = [[0.2], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9]]

    def rk4(self, t: float, y: Tensor, h: float) -> Tensor:
        k1 = self.field(t, y)
        k2 = self.field(t + h / 2, y + h / 2 * k1)
        k3 = self.field(t + h / 2, y + h / 2 * k2)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + self.field(t + h, y + h * k3))

    def forward(self, y: Tensor, times: Tensor) -> Tensor:
        found = [y]
        for t0, t1 in zip(times[:-1], times[1:]):
            y = self.rk4(float(t0), y, float(t1 - t0))
            found.append(y)
        return torch.stack(found, 1)

    @torch.jit.export
    def adaptive(self, y: Tensor, end: float) -> Tuple[Tensor, List[float]]:
        t, h = 0.0, 0.1
        steps: List[float] = []
        while t < end and len(steps) < 50:
            h = min(h, end - t)
            k1 = self.field(t, y)
            k2 = self.field(t + 0.5 * h, y + 0.5 * h * k1)
            k3 = self.field(t + 0.75 * h, y + 0.75 * h * k2)
            following = y + h * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
            k4 = self.field(t + h, following)
            error = float((h * (-5 / 72 * k1 + 1 / 12 * k2 + 1 / 9 * k3 - 1 / 8 * k4)).abs().max())
            if error <= self.tolerance:
                t, y = t + h, following
                steps.append(h)
            h *= min(5.0, max(0.2, 0.9 * math.pow(self.tolerance / max(error, 1e-10), 1 / 3)))
        return y, steps


CASES["neural_ode"] = Case(
    NeuralODE,
    lambda: [
        call(torch.randn(2, 3), torch.linspace(0, 1, 5)),
        call(torch.randn(2, 3), 1.5, method="adaptive"),
    ],
    ("script", "freeze"),
)


# Reservoirs and other memory networks
class EchoState(nn.Module):
    state: Tensor

    def __init__(self, inputs: int = 2, size: int = 20, leak: float = 0.3):
        super().__init__()
        w = torch.rand(size, size) - 0.5
        w[torch.rand(size, size) < 0.7] = 0.0
        self.register_buffer("w", w * (0.9 / torch.linalg.eigvals(w).abs().max()))
        self.register_buffer("w_in", torch.rand(size, 1 + inputs) - 0.5)
        self.register_buffer("state", torch.zeros(size))
        self.register_buffer("readout", torch.zeros(1 + inputs + size, 1), persistent=True)
        self.leak = leak

    def collected(self, inputs: Tensor) -> Tensor:
        rows: List[Tensor] = []
        for u in inputs:
            biased = torch.cat([torch.ones(1), u])
            self.state = (1 - self.leak) * self.state + self.leak * torch.tanh(
                self.w_in @ biased + self.w @ self.state
            )
            rows.append(torch.cat([biased, self.state]))
        return torch.stack(rows)

    @torch.jit.export
    def fit(self, inputs: Tensor, targets: Tensor, ridge: float = 1.0) -> float:
        x = self.collected(inputs)
        gram = x.T @ x + ridge * torch.eye(x.size(1))
        self.readout.copy_(torch.linalg.solve(gram, x.T @ targets))
        return float(F.mse_loss(x @ self.readout, targets))

    def forward(self, inputs: Tensor) -> Tensor:
        return self.collected(inputs) @ self.readout


def echo_calls():
    t = torch.linspace(0, 6, 40)
    inputs = torch.stack([t.sin(), (2 * t).cos()], 1)
    return [call(inputs[:4]), call(inputs, t.sin()[:, None], method="fit"), call(inputs[:5])]


CASES["echo_state"] = Case(EchoState, echo_calls, ("script", "freeze"), attributes=("leak",))


class ConvLSTM(nn.Module):
    def __init__(self, inputs: int = 1, hidden: int = 4):
        super().__init__()
        self.hidden = hidden
        self.conv = nn.Conv2d(inputs + hidden, 4 * hidden, 3, padding="same")
        self.pi, self.pf, self.po = (nn.Parameter(torch.randn(hidden, 1, 1) * 0.1) for _ in range(3))

    def forward(self, frames: Tensor) -> Tuple[Tensor, Tensor]:
        b, n, _, h, w = frames.shape
        hidden = frames.new_zeros(b, self.hidden, h, w)
        cell = torch.zeros_like(hidden)
        outs: List[Tensor] = []
        for i in range(n):
            i_, f, o, g = self.conv(torch.cat([frames[:, i], hidden], 1)).chunk(4, 1)
            i_, f = torch.sigmoid(i_ + self.pi * cell), torch.sigmoid(f + self.pf * cell)
            cell = torch.addcmul(f * cell, i_, torch.tanh(g))
            hidden = torch.sigmoid(o + self.po * cell) * torch.tanh(cell)
            outs.append(hidden)
        return torch.stack(outs, 1), cell


CASES["conv_lstm"] = Case(
    ConvLSTM, lambda: [call(torch.randn(2, 3, 1, 6, 6)), call(torch.randn(1, 3, 1, 6, 6))]
)


class GridLSTM(nn.Module):
    """LSTM over two dimensions: each position depends on the positions above and to the left."""

    def __init__(self, inputs: int = 2, hidden: int = 3):
        super().__init__()
        self.hidden = hidden
        self.x, self.up, self.left = (
            nn.Linear(inputs, 5 * hidden),
            nn.Linear(hidden, 5 * hidden, False),
            nn.Linear(hidden, 5 * hidden, False),
        )

    def forward(self, x: Tensor, reverse: bool = False) -> Tensor:
        if reverse:
            x = x.flip([1, 2])
        rows, columns = int(x.size(1)), int(x.size(2))
        zero = torch.zeros(x.size(0), self.hidden)
        grid = [[(zero, zero) for _ in range(columns + 1)] for _ in range(rows + 1)]
        for r in range(rows):
            for c in range(columns):
                up, left = grid[r][c + 1], grid[r + 1][c]
                gates = self.x(x[:, r, c]) + self.up(up[0]) + self.left(left[0])
                i, fu, fl, o, g = gates.chunk(5, -1)
                cell = i.sigmoid() * g.tanh() + fu.sigmoid() * up[1] + fl.sigmoid() * left[1]
                grid[r + 1][c + 1] = (o.sigmoid() * cell.tanh(), cell)
        found = torch.stack([torch.stack([state[0] for state in row[1:]], 1) for row in grid[1:]], 1)
        return found.flip(1, 2) if reverse else found


CASES["grid_lstm"] = Case(
    GridLSTM,
    lambda: [call(torch.randn(2, 3, 4, 2)), call(torch.randn(1, 2, 2, 2), True)],
    ("script", "freeze"),
)


class TuringMachine(nn.Module):
    """Memory with content-based and location-based addressing."""

    def __init__(self, inputs: int = 3, slots: int = 6, width: int = 4, hidden: int = 8):
        super().__init__()
        self.cell = nn.LSTMCell(inputs + width, hidden)
        self.heads = nn.ModuleDict({name: nn.Linear(hidden, width + 6) for name in ("read", "write")})
        self.erase_add = nn.Linear(hidden, 2 * width)
        self.out = nn.Linear(hidden + width, inputs)
        self.register_buffer("initial", torch.randn(slots, width) * 0.1)

    def address(self, raw: Tensor, memory: Tensor, before: Tensor) -> Tensor:
        key, rest = raw[:, :-6].tanh(), raw[:, -6:]
        strength, gate, sharp = F.softplus(rest[:, 0:1]), rest[:, 1:2].sigmoid(), 1 + F.softplus(rest[:, 2:3])
        by_content = F.softmax(
            strength * F.cosine_similarity(memory + 1e-16, key.unsqueeze(1), dim=-1), dim=1
        )
        w = gate * by_content + (1 - gate) * before
        shift = rest[:, 3:].softmax(-1)
        padded = torch.cat([w[:, -1:], w, w[:, :1]], 1)
        w = torch.stack(
            [F.conv1d(row.view(1, 1, -1), s.view(1, 1, -1)).view(-1) for row, s in zip(padded, shift)]
        )
        w = w.pow(sharp)
        return w / (w.sum(1, keepdim=True) + 1e-16)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        b = x.size(0)
        memory = self.initial.repeat(b, 1, 1)
        h, c, r = torch.zeros(b, 8), torch.zeros(b, 8), torch.zeros(b, 4)
        weights: Dict[str, Tensor] = {
            "read": torch.full((b, 6), 1.0 / 6),
            "write": torch.full((b, 6), 1.0 / 6),
        }
        outs: List[Tensor] = []
        for t in range(x.size(1)):
            h, c = self.cell(torch.cat([x[:, t], r], 1), (h, c))
            for name, head in self.heads.items():
                weights[name] = self.address(head(h), memory, weights[name])
            erase, add = self.erase_add(h).chunk(2, 1)
            w = weights["write"].unsqueeze(-1)
            memory = memory * (1 - w * erase.sigmoid().unsqueeze(1)) + w @ add.tanh().unsqueeze(1)
            r = torch.einsum("bs,bsw->bw", weights["read"], memory)
            outs.append(self.out(torch.cat((h, r), 1)))
        return torch.stack(outs, 1), memory


CASES["turing_machine"] = Case(
    TuringMachine, lambda: [call(torch.randn(2, 4, 3)), call(torch.randn(1, 2, 3))], ("script", "freeze")
)


# Speech: a transducer with greedy decoding, with the predictor's state in a class.
class PredictorState:
    def __init__(self, width: int):
        self.hidden = torch.zeros(1, width)
        self.cell = torch.zeros(1, width)
        self.labels: List[int] = []

    def copy(self) -> "PredictorState":
        other = PredictorState(self.hidden.size(1))
        other.hidden, other.cell = self.hidden, self.cell
        other.labels = self.labels[:]
        return other


class Transducer(nn.Module):
    def __init__(self, features: int = 4, labels: int = 6, width: int = 8):
        super().__init__()
        self.width = width
        self.encoder = nn.LSTM(features, width, batch_first=True)
        self.embed, self.predictor = nn.Embedding(labels, width), nn.LSTMCell(width, width)
        self.joint = nn.Sequential(nn.ReLU(), nn.Linear(width, labels))

    def forward(self, features: Tensor, labels: Tensor) -> Tensor:
        memory, _ = self.encoder(features)
        h, c = torch.zeros(labels.size(0), self.width), torch.zeros(labels.size(0), self.width)
        found = [h]
        for i in range(labels.size(1)):
            h, c = self.predictor(self.embed(labels[:, i]), (h, c))
            found.append(h)
        return F.log_softmax(self.joint(memory.unsqueeze(2) + torch.stack(found, 1).unsqueeze(1)), -1)

    @torch.jit.export
    def decode(self, features: Tensor, per_frame: int = 2) -> Tuple[List[int], float]:
        memory = self.encoder(features.unsqueeze(0))[0]
        state, total = PredictorState(self.width), 0.0
        for frame in memory[0]:
            for _ in range(per_frame):
                chances = self.joint(frame.unsqueeze(0) + state.hidden).log_softmax(-1)[0]
                best, label = chances.max(0)
                total += best.item()
                if int(label) == 0:
                    break
                following = state.copy()
                following.labels.append(int(label))
                following.hidden, following.cell = self.predictor(
                    self.embed(label[None]), (state.hidden, state.cell)
                )
                state = following
        return state.labels, total


CASES["transducer"] = Case(
    Transducer,
    lambda: [
        call(torch.randn(2, 5, 4), torch.randint(1, 6, (2, 3))),
        call(torch.randn(7, 4), method="decode"),
        call(torch.randn(3, 4), 1, method="decode"),
    ],
    ("script", "freeze"),
)


class Parallel(nn.Module):
    """A gated recurrence computed in parallel by logarithms, and step by step."""

    def __init__(self, width: int = 4):
        super().__init__()
        self.gate, self.candidate = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Tensor, h: Optional[Tensor] = None) -> Tensor:
        k, v = self.gate(x), self.candidate(x)
        keep, take = -F.softplus(k), -F.softplus(-k)
        values = torch.where(v >= 0, (F.relu(v) + 0.5).log(), -F.softplus(-v))
        drive = take + values
        if h is not None:
            drive = torch.cat([h.log(), drive], 1)
            keep = F.pad(keep, (0, 0, 1, 0))
        steps = torch.cumsum(keep, 1)
        out = (steps + torch.logcumsumexp(drive - steps, dim=1)).exp()
        return out if h is None else out[:, 1:]


CASES["parallel"] = Case(
    Parallel,
    lambda: [call(torch.randn(2, 5, 4)), call(torch.randn(2, 5, 4), torch.rand(2, 1, 4) + 0.1)],
    ("script", "freeze"),
)
CASES["parallel_traced"] = Case(
    Parallel, lambda: [call(torch.randn(2, 5, 4)), call(torch.randn(3, 7, 4))], ("trace",)
)
