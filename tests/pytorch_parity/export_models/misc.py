"""Other networks: detection, graphs, statistics, buffers that `forward` updates."""

import torch
from torch import nn
from torch.nn import functional as F

from tests.pytorch_parity.export_models import Case

CASES = {}
ROWS = ((4,), (7,), (9,))


def rows(n):
    return (torch.randn(n, 4),)


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4, 8), nn.BatchNorm1d(8), nn.LeakyReLU(), nn.Dropout(0.3), nn.Linear(8, 8), nn.SELU(), nn.Linear(8, 2)
        )

    def forward(self, x):
        return self.net(x)


CASES["perceptron"] = Case(Perceptron, rows, ROWS, ((0,),))


class Factorisation(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.factors = nn.Embedding(12, 1), nn.Embedding(12, 4)
        self.deep = nn.Sequential(nn.Linear(12, 4), nn.ReLU(), nn.Linear(4, 1))
        self.register_buffer("offsets", torch.tensor([0, 4, 8]))

    def forward(self, fields):
        fields = fields + self.offsets
        x = self.factors(fields)
        square_of_sum, sum_of_square = x.sum(1) ** 2, (x**2).sum(1)
        second = 0.5 * (square_of_sum - sum_of_square).sum(1, keepdim=True)
        return torch.sigmoid(self.linear(fields).sum(1) + second + self.deep(x.view(-1, 12))).squeeze(1)


CASES["factorisation"] = Case(Factorisation, lambda n: (torch.randint(0, 4, (n, 3)),), ROWS, ((0,),))


class Boxes(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("deviations", torch.tensor([0.1, 0.1, 0.2, 0.2]))

    def forward(self, deltas, anchors):
        size = anchors[:, 2:] - anchors[:, :2]
        centre = anchors[:, :2] + 0.5 * size
        deltas = deltas * self.deviations
        centre = centre + deltas[:, :2] * size
        half = 0.5 * size * torch.exp(deltas[:, 2:].clamp(max=4.0))
        boxes = torch.cat([centre - half, centre + half], dim=1).clamp_(0, 50)
        low = torch.max(boxes[:, None, :2], anchors[None, :, :2])
        high = torch.min(boxes[:, None, 2:], anchors[None, :, 2:])
        overlap = (high - low).clamp(min=0).prod(-1)
        area = lambda b: (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        return boxes, overlap / (area(boxes)[:, None] + area(anchors) - overlap + 1e-6)


def anchors(n):
    low = torch.rand(n, 2) * 20
    return torch.randn(n, 4), torch.cat([low, low + 4 + torch.rand(n, 2) * 20], 1)


CASES["boxes"] = Case(Boxes, anchors, ROWS, ((0,), (0,)))


class TopBoxes(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.box = nn.Conv2d(3, 2, 1), nn.Conv2d(3, 8, 1)

    def forward(self, x):
        n = x.shape[0]
        scores = self.score(x).permute(0, 2, 3, 1).reshape(n, -1).sigmoid()
        boxes = self.box(x).view(n, 2, 4, x.shape[2], x.shape[3]).permute(0, 3, 4, 1, 2).reshape(n, -1, 4)
        best, places = scores.topk(5, dim=1)
        return best, torch.gather(boxes, 1, places.unsqueeze(-1).expand(-1, -1, 4))


CASES["top_boxes"] = Case(TopBoxes, lambda n, h: (torch.randn(n, 3, h, h),), ((2, 4), (3, 4), (5, 4)), ((0,),))


class Confident(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(4, 1)

    def forward(self, x):
        scores = self.score(x).squeeze(-1)
        kept = torch.nonzero(scores > 0).squeeze(1)
        return kept, kept * 2 + 1


CASES["nonzero"] = Case(Confident, rows, ROWS, ((0,),))


class Selected(nn.Module):
    def forward(self, x):
        chosen = torch.masked_select(x, x > 0)
        return chosen.sum(), chosen.exp()


CASES["masked_select"] = Case(Selected, rows, ROWS, ((0,),))


class Filtered(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x[x[:, 0] > 0])


CASES["boolean_index"] = Case(Filtered, rows, ROWS, ((0,),))


class Proposals(nn.Module):
    def forward(self, x, count):
        n = count.item()
        torch._check(n >= 1)
        torch._check(n <= 3)
        return torch.ones(n, 4) * x.mean(0), torch.arange(n)


CASES["checked_item"] = Case(Proposals, lambda n: (torch.randn(n, 4), torch.tensor(n % 3 + 1)), ROWS, ((0,), ()))


class Suppressed(nn.Module):
    def forward(self, boxes, scores):
        order = scores.argsort(descending=True)
        boxes = boxes[order]
        low = torch.maximum(boxes[:, None, :1], boxes[None, :, :1])
        high = torch.minimum(boxes[:, None, 1:], boxes[None, :, 1:])
        overlap = (high - low).clamp_min(0).squeeze(-1)
        shadowed = torch.triu(overlap > 0.5, diagonal=1).any(0)
        return torch.index_select(order, 0, torch.nonzero(~shadowed).flatten())


CASES["suppression"] = Case(
    Suppressed, lambda n: (torch.cat([(a := torch.rand(n, 1) * 3), a + 1], 1), torch.rand(n)), ROWS, ((0,), (0,))
)


class GraphConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        degree = torch.zeros(x.shape[0]).scatter_add_(0, target, torch.ones_like(target, dtype=torch.float32))
        weights = degree.clamp(min=1).rsqrt()
        messages = self.fc(x)[source] * (weights[source] * weights[target]).unsqueeze(-1)
        return torch.zeros(x.shape[0], 3).index_add(0, target, messages)


def graph(n, e):
    return torch.randn(n, 4), torch.randint(0, n, (2, e))


CASES["graph_convolution"] = Case(GraphConvolution, graph, ((4, 7), (6, 9), (9, 5)), ((0,), (1,)))


class GraphAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.score = nn.Linear(4, 3), nn.Linear(6, 1)

    def forward(self, x, edges):
        h = self.fc(x)
        source, target = edges.unbind(0)
        e = F.leaky_relu(self.score(torch.cat([h[source], h[target]], -1)), 0.2).squeeze(-1)
        top = torch.full((x.shape[0],), -1e9).scatter_reduce(0, target, e, "amax")
        e = torch.exp(e - top[target])
        total = torch.zeros(x.shape[0]).index_add_(0, target, e)
        e = e / total[target].clamp(min=1e-9)
        return torch.zeros_like(h).scatter_add(0, target[:, None].expand(-1, 3), h[source] * e[:, None])


CASES["graph_attention"] = Case(GraphAttention, graph, ((4, 7), (6, 9), (9, 5)), ((0,), (1,)))


class Statistics(nn.Module):
    def forward(self, x):
        mean, std = x.mean(0), x.std(0)
        scaled = (x - mean) / (std + 1e-5)
        skew = scaled.pow(3).mean(0)
        low, high = x.aminmax(dim=0)
        variance, average = torch.var_mean(x, dim=1)
        return scaled, skew, low, high, x.median(0).values, variance, average, torch.logsumexp(x, 0), x.norm(dim=1)


CASES["statistics"] = Case(Statistics, rows, ROWS, ((0,),))


class Quantiles(nn.Module):
    def forward(self, x):
        ordered, places = x.sort(dim=1)
        return torch.quantile(x, 0.25, dim=1), ordered, places, x.kthvalue(2, 1).values


CASES["quantiles"] = Case(Quantiles, rows, ROWS, ((0,),))


class Running(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x):
        self.count += 1
        self.mean.lerp_(x.mean(0), 0.1)
        return x - self.mean


CASES["running_mean"] = Case(Running, rows, ROWS, ((0,),))


class Replaced(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("average", torch.zeros(4))
        self.register_buffer("last", torch.zeros(4))

    def forward(self, x):
        self.average = 0.9 * self.average + 0.1 * x.mean(0)
        self.last = x[-1]
        return (x - self.average).tanh()


CASES["replaced_buffers"] = Case(Replaced, rows, ROWS, ((0,),))


class BatchNormTraining(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        return F.relu(self.norm(self.fc(x)))


CASES["batch_norm_training"] = Case(BatchNormTraining, rows, ROWS, ((0,),), training=True)


class Codebook(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = nn.Embedding(6, 4)

    def forward(self, x):
        distance = x.pow(2).sum(1, keepdim=True) - 2 * x @ self.codes.weight.t() + self.codes.weight.pow(2).sum(1)
        places = distance.argmin(1)
        q = self.codes(places)
        return x + (q - x).detach(), F.mse_loss(q, x), F.one_hot(places, 6).float().mean(0), torch.cdist(x, self.codes.weight)


CASES["codebook"] = Case(Codebook, rows, ROWS, ((0,),))


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 4))
        self.register_buffer("order", torch.tensor([2, 3, 0, 1]))

    def forward(self, x):
        total = torch.zeros(x.shape[0])
        for _ in range(2):
            a, b = x.chunk(2, 1)
            scale, shift = self.net(a).chunk(2, 1)
            scale = scale.tanh()
            x = torch.cat([a, b * scale.exp() + shift], 1)[:, self.order]
            total = total + scale.sum(1)
        return x, total - 0.5 * (x**2).sum(1)


CASES["flow"] = Case(Flow, rows, ROWS, ((0,),))


class Calendar(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.ModuleDict({"day": nn.Embedding(7, 2), "hour": nn.Embedding(24, 3)})
        self.out = nn.ParameterList([nn.Parameter(torch.randn(5, 2)), nn.Parameter(torch.zeros(2))])

    def forward(self, batch):
        day = (batch["time"] // 24) % 7
        x = torch.cat([self.embed["day"](day), self.embed["hour"](batch["time"] % 24)], -1)
        y = x @ self.out[0] + self.out[1]
        return {"y": y, "weight": torch.where(batch["weight"] > 0.5, y[:, 0], -y[:, 1])}


CASES["calendar"] = Case(Calendar, lambda n: ({"time": torch.randint(0, 400, (n,)), "weight": torch.rand(n)},), ROWS, (({"time": (0,), "weight": (0,)}),))
