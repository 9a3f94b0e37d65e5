"""Recurrent layers, cells in loops, scans, and loops with data-dependent conditions."""

import torch
from torch import nn
from torch._higher_order_ops.while_loop import while_loop
from torch.nn import functional as F

from tests.pytorch_parity.export_models import Case

CASES = {}
SIZES = ((2, 6), (3, 6), (5, 6))


def sequence(n, t):
    return (torch.randn(n, t, 4),)


class Layer(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.layer = kind(4, 3, batch_first=True, **options)
        self.fc = nn.Linear(3 * (1 + self.layer.bidirectional), 2)

    def forward(self, x):
        y, _ = self.layer(x)
        return self.fc(y[:, -1])


CASES["lstm"] = Case(lambda: Layer(nn.LSTM), sequence, SIZES, ((0,),))
CASES["lstm_two_layers"] = Case(lambda: Layer(nn.LSTM, num_layers=2, bidirectional=True), sequence, SIZES, ((0,),))
CASES["gru"] = Case(lambda: Layer(nn.GRU), sequence, SIZES, ((0,),))
CASES["gru_bidirectional"] = Case(lambda: Layer(nn.GRU, bidirectional=True), sequence, SIZES, ((0,),))
CASES["rnn_tanh"] = Case(lambda: Layer(nn.RNN), sequence, SIZES, ((0,),))
CASES["rnn_relu"] = Case(lambda: Layer(nn.RNN, nonlinearity="relu", bias=False), sequence, SIZES, ((0,),))


class States(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3)

    def forward(self, x, h, c):
        y, (h, c) = self.lstm(x, (h, c))
        return y, h, c


CASES["lstm_states"] = Case(
    States, lambda n: (torch.randn(5, n, 4), torch.randn(1, n, 3), torch.randn(1, n, 3)), ((2,), (3,), (5,)), ((1,), (1,), (1,))
)


class Unrolled(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell, self.lstm = kind(4, 3), kind is nn.LSTMCell

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 3)
        state = (h, h) if self.lstm else h
        found = []
        for step in x.unbind(1):
            state = self.cell(step, state)
            found.append(state[0] if self.lstm else state)
        return torch.stack(found, 1)


CASES["lstm_cell"] = Case(lambda: Unrolled(nn.LSTMCell), sequence, SIZES, ((0,),))
CASES["gru_cell"] = Case(lambda: Unrolled(nn.GRUCell), sequence, SIZES, ((0,),))


class OwnCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates, self.norm = nn.Linear(7, 9), nn.LayerNorm(9)

    def forward(self, x):
        h = torch.zeros(x.shape[0], 3)
        for t in range(x.shape[1]):
            i, f, g = self.norm(self.gates(torch.cat([x[:, t], h], -1))).chunk(3, -1)
            h = f.sigmoid() * h + i.sigmoid() * g.tanh()
        return h


CASES["own_cell"] = Case(OwnCell, sequence, SIZES, ((0,),))


class StateSpace(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(-torch.rand(4, 2))
        self.project = nn.Linear(4, 8)

    def forward(self, x):
        delta, bc = self.project(x).split([4, 4], -1)
        b, c = bc.chunk(2, -1)
        decay = torch.exp(F.softplus(delta).unsqueeze(-1) * self.a)
        state, found = x.new_zeros(x.shape[0], 4, 2), []
        for i in range(x.shape[1]):
            state = decay[:, i] * state + x[:, i].unsqueeze(-1) * b[:, i].unsqueeze(1)
            found.append((state * c[:, i].unsqueeze(1)).sum(-1))
        return torch.stack(found, dim=1)


CASES["state_space"] = Case(StateSpace, sequence, SIZES, ((0,),))


class Decayed(nn.Module):
    def forward(self, x):
        t = x.shape[1]
        places = torch.arange(t)
        decay = torch.where(places[:, None] >= places[None], 0.9 ** (places[:, None] - places[None]).float(), 0.0)
        return decay @ x, x.cumsum(1), torch.logcumsumexp(x, 1), x.flip(1).cummax(1).values


CASES["retention"] = Case(Decayed, sequence, ((2, 6), (3, 9), (5, 4)), ((0, 1),))


class Greedy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.cell, self.head = nn.Embedding(7, 4), nn.GRUCell(4, 4), nn.Linear(4, 7)

    def forward(self, start, state):
        def running(i, token, state, out):
            return i < out.shape[1]

        def step(i, token, state, out):
            state = self.cell(self.embedding(token), state)
            token = self.head(state).argmax(-1)
            chosen = torch.arange(out.shape[1]) == i
            return i + 1, token, state, torch.where(chosen, token[:, None], out)

        out = torch.zeros(start.shape[0], 5, dtype=torch.long)
        _, _, state, out = while_loop(running, step, (torch.tensor(0), start, state, out))
        return out, state


CASES["generation_loop"] = Case(
    Greedy, lambda n: (torch.randint(0, 7, (n,)), torch.randn(n, 4)), ((2,), (3,), (5,)), ((0,), (0,))
)


class Converging(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        def far(i, z, change):
            return (i < 8) & (change > 1e-3)

        def step(i, z, change):
            after = torch.tanh(0.3 * self.fc(z) + x)
            return i + 1, after, (after - z).abs().max()

        _, z, _ = while_loop(far, step, (torch.tensor(0), torch.zeros_like(x), torch.tensor(1.0)))
        return z


CASES["fixed_point_loop"] = Case(Converging, lambda n: (torch.randn(n, 4),), ((2,), (3,), (5,)), ((0,),))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda x: self.a(x).relu(), lambda x: self.b(x).tanh(), (x,))
        return y * 2


CASES["branches"] = Case(Branches, lambda n: (torch.randn(n, 4),), ((2,), (3,), (5,)), ((0,),))


class EarlyExit(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
        self.register_buffer("limit", torch.tensor(0.5))

    def forward(self, x):
        for layer in self.layers:
            confident = x.softmax(-1).amax(-1).mean() > self.limit
            x = torch.cond(confident, lambda x: x.clone(), lambda x: F.gelu(layer(x)), (x,))
        return x


CASES["early_exit"] = Case(EarlyExit, lambda n: (torch.randn(n, 4),), ((2,), (3,), (5,)), ((0,),))


class Attentive(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.attend = nn.GRU(4, 3, batch_first=True), nn.Bilinear(3, 3, 1)

    def forward(self, x):
        y, last = self.encoder(x)
        query = last[-1].unsqueeze(1).expand_as(y).contiguous()
        weights = self.attend(y, query).softmax(1)
        return (weights * y).sum(1)


CASES["attentive_pooling"] = Case(Attentive, sequence, SIZES, ((0,),))
