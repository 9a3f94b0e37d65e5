"""Graphs: messages along edges by scatters and gathers, pooling, points, molecules, and algorithms over nodes."""

import math
from typing import Dict, Final, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.pytorch_parity.models import Case, call

CASES = {}


def graph(nodes: int = 8, edges: int = 20, width: int = 6):
    return torch.randn(nodes, width), torch.randint(0, nodes, (2, edges))


def graphs():
    return [call(*graph()), call(*graph(5, 9))]


# Convolutions over graphs
class GCNConv(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def norm(self, edges: Tensor, weight: Optional[Tensor], count: int) -> Tuple[Tensor, Tensor]:
        loops = torch.arange(0, count, dtype=torch.long)
        edges = torch.cat([edges, loops.unsqueeze(0).repeat(2, 1)], dim=1)
        if weight is None:
            weight = torch.ones(edges.size(1))
        else:
            weight = torch.cat([weight, torch.ones(count)])
        row, col = edges[0], edges[1]
        deg = torch.zeros(count).index_add(0, col, weight)
        inverse = deg.pow(-0.5)
        inverse.masked_fill_(inverse == float("inf"), 0.0)
        return edges, inverse[row] * weight * inverse[col]

    def forward(self, x: Tensor, edges: Tensor, weight: Optional[Tensor] = None) -> Tensor:
        edges, norm = self.norm(edges, weight, x.size(0))
        x = self.lin(x)
        out = torch.zeros_like(x)
        return out.index_add_(0, edges[1], x[edges[0]] * norm.view(-1, 1)) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([GCNConv(6, 8), GCNConv(8, 8)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(8) for _ in range(2)])
        self.head = nn.Linear(8, 3)
        self.dropout: Final[float] = 0.5

    def forward(self, x: Tensor, edges: Tensor, weight: Optional[Tensor] = None) -> Tensor:
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(norm(conv(x, edges, weight)))
            x = F.dropout(x, p=self.dropout, training=self.training)
        return F.log_softmax(self.head(x), dim=-1)


CASES["gcn"] = Case(GCN, lambda: [*graphs(), call(*graph(), torch.rand(20))], traced_calls=1)
CASES["gcn_training"] = Case(GCN, lambda: [call(*graph(), seed=2)], ("script",), training=True)


def scatter_softmax(x: Tensor, index: Tensor, count: int) -> Tensor:
    spread = index.view(-1, 1).expand_as(x)
    highest = torch.full((count, x.size(1)), float("-inf")).scatter_reduce(
        0, spread, x, reduce="amax", include_self=False
    )
    x = (x - highest.gather(0, spread)).exp()
    return x / (torch.zeros(count, x.size(1)).scatter_add(0, spread, x).gather(0, spread) + 1e-16)


class GAT(nn.Module):
    _alpha: Optional[Tensor]

    def __init__(self, inputs: int = 6, outputs: int = 4, heads: int = 3, edge_width: int = 2):
        super().__init__()
        self.heads, self.outputs = heads, outputs
        self.lin = nn.Linear(inputs, heads * outputs, bias=False)
        self.edge = nn.Linear(edge_width, heads * outputs, bias=False)
        self.att_source, self.att_target = (nn.Parameter(torch.empty(1, heads, outputs)) for _ in range(2))
        self.att_edge = nn.Parameter(torch.empty(1, heads, outputs))
        self._alpha = None
        for p in (self.att_source, self.att_target, self.att_edge):
            nn.init.xavier_uniform_(p)

    def forward(
        self,
        x: Tensor,
        edges: Tuple[Tensor, Tensor],
        attributes: Optional[Tensor] = None,
        concat: bool = True,
    ) -> Tuple[Tensor, Tensor]:
        row, col = edges
        x = self.lin(x).view(-1, self.heads, self.outputs)
        alpha = (x * self.att_source).sum(dim=-1)[row] + (x * self.att_target).sum(-1)[col]
        if attributes is not None:
            alpha = alpha + (self.edge(attributes).view(-1, self.heads, self.outputs) * self.att_edge).sum(-1)
        alpha = scatter_softmax(F.leaky_relu(alpha, 0.2), col, x.size(0))
        self._alpha = alpha
        messages = x[row] * alpha.unsqueeze(-1)
        out = torch.zeros_like(x).index_put_((col,), messages, accumulate=True)
        return (out.flatten(1) if concat else out.mean(dim=1)), alpha


def attributed():
    x, (row, col) = graph()
    return [call(x, (row, col)), call(x, (row, col), torch.randn(20, 2), False)]


CASES["gat"] = Case(GAT, attributed, ("script",))


class SAGEConv(nn.Module):
    def __init__(self, inputs: int, outputs: int, how: str):
        super().__init__()
        self.how = how
        self.own, self.others = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs, bias=False)
        self.lstm: Optional[nn.LSTM] = nn.LSTM(inputs, inputs, batch_first=True) if how == "lstm" else None

    def aggregated(self, x: Tensor, col: Tensor, count: int) -> Tensor:
        if self.how == "sum":
            return x.new_zeros(count, x.size(1)).index_add_(0, col, x)
        if self.how == "mean":
            index = col.unsqueeze(-1).expand(-1, x.size(1))
            return torch.zeros(count, x.size(1)).scatter_reduce_(
                0, index, x, reduce="mean", include_self=False
            )
        return torch.zeros(count, x.size(1)).index_reduce_(0, col, x, "amax", include_self=False)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        out = self.own(x) + self.others(self.aggregated(x[edges[0]], edges[1], x.size(0)))
        return F.normalize(out, p=2.0, dim=-1)


class SAGE(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleDict({how: SAGEConv(6, 4, how) for how in ("sum", "mean", "max")})

    def forward(self, x: Tensor, edges: Tensor) -> Dict[str, Tensor]:
        found: Dict[str, Tensor] = {}
        for how, conv in self.convs.items():
            found[how] = conv(x, edges)
        return found


CASES["sage"] = Case(SAGE, graphs, ("script", "freeze"))


# Whole graphs in a batch: isomorphism networks, pooling by scores, attention over sets.
class Batch(NamedTuple):
    x: Tensor
    edges: Tensor
    batch: Tensor


class GIN(nn.Module):
    eps: Tensor

    def __init__(self, width: int = 6):
        super().__init__()
        self.register_buffer("eps", torch.tensor([0.1]))
        self.mlps = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, width), nn.BatchNorm1d(width))
                for _ in range(2)
            ]
        )
        self.score = nn.Linear(width, 1)
        self.head = nn.Bilinear(width, width, 3)

    def pooled(self, x: Tensor, batch: Tensor, ratio: float) -> Tuple[Tensor, Tensor]:
        scores = self.score(x).squeeze(-1).tanh()
        kept: List[Tensor] = []
        for g in range(int(batch.max()) + 1):
            nodes = torch.nonzero(batch == g).view(-1)
            k = max(1, math.ceil(ratio * nodes.numel()))
            kept.append(nodes[scores[nodes].topk(k).indices])
        index = torch.cat(kept)
        return x[index] * scores[index].view(-1, 1), index

    def forward(self, data: Batch) -> Tuple[Tensor, Tensor]:
        x, (row, col) = data.x, (data.edges[0], data.edges[1])
        for mlp in self.mlps:
            x = mlp((1 + self.eps) * x + torch.zeros_like(x).index_add(0, col, x.index_select(0, row)))
        count = int(data.batch.max().item()) + 1
        top, index = self.pooled(x, data.batch, 0.5)
        sums = torch.zeros(count, x.size(1)).index_add_(0, data.batch, x)
        mean = sums / torch.bincount(data.batch, minlength=count).clamp(min=1).unsqueeze(1)
        best = torch.full_like(mean, -math.inf).scatter_reduce(
            0, data.batch[index].view(-1, 1).expand_as(top), top, "amax"
        )
        return self.head(mean, best), index


def batches():
    batch = torch.tensor([0, 0, 0, 1, 1, 1, 1, 1])
    return [
        call(Batch(*graph(), batch)),
        call(Batch(torch.randn(3, 6), torch.tensor([[0, 1], [1, 2]]), torch.tensor([0, 0, 0]))),
    ]


CASES["gin"] = Case(GIN, batches, ("script", "freeze"))


class Set2Set(nn.Module):
    def __init__(self, width: int = 6, steps: int = 3):
        super().__init__()
        self.width, self.steps = width, steps
        self.lstm = nn.LSTM(2 * width, width)

    def forward(self, x: Tensor, batch: Tensor, count: int) -> Tensor:
        h = (torch.zeros(1, count, self.width), torch.zeros(1, count, self.width))
        star = torch.zeros(count, 2 * self.width)
        for _ in range(self.steps):
            q, h = self.lstm(star.unsqueeze(0), h)
            q = q.view(count, self.width)
            e = (x * q[batch]).sum(dim=-1, keepdim=True)
            a = scatter_softmax(e, batch, count)
            star = torch.cat([q, torch.zeros(count, self.width).index_add_(0, batch, a * x)], dim=-1)
        return star


CASES["set2set"] = Case(
    Set2Set,
    lambda: [call(torch.randn(8, 6), torch.tensor([0, 0, 0, 1, 1, 1, 2, 2]), 3)],
    ("script", "freeze"),
)


# Message passing with recurrent updates, relations, and edge networks.
class GatedGraph(nn.Module):
    def __init__(self, width: int = 6, relations: int = 3, rounds: int = 2, bases: int = 2):
        super().__init__()
        self.rounds = rounds
        self.bases, self.mix = (
            nn.Parameter(torch.randn(bases, width, width) * 0.3),
            nn.Parameter(torch.randn(relations, bases)),
        )
        self.cell = nn.GRUCell(width, width)
        self.edge_network = nn.Sequential(nn.Linear(2 * width, width), nn.Tanh())

    def forward(self, x: Tensor, edges: Tensor, kinds: Tensor) -> Tensor:
        weights = torch.einsum("rb,bio->rio", self.mix, self.bases)
        row, col = edges.unbind(0)
        for i in range(self.rounds):
            messages = torch.bmm(x[row].unsqueeze(1), weights.index_select(0, kinds)).squeeze(1)
            gate = self.edge_network(torch.hstack((x[row], x[col])))
            total = torch.zeros_like(x).scatter_add_(
                0, col.unsqueeze(1).repeat(1, x.size(1)), messages * gate
            )
            x = self.cell(total, x)
        return x


CASES["gated_graph"] = Case(
    GatedGraph,
    lambda: [call(*graph(), torch.randint(0, 3, (20,))), call(*graph(), torch.randint(0, 3, (20,)))],
    traced_calls=2,
)


# Points and molecules
class EdgeConv(nn.Module):
    def __init__(self, width: int = 3, k: int = 3):
        super().__init__()
        self.k = k
        self.mlp = nn.Sequential(
            nn.Conv2d(2 * width, 8, 1, bias=False), nn.BatchNorm2d(8), nn.LeakyReLU(negative_slope=0.2)
        )
        self.align = nn.Linear(8, 9)

    def nearest(self, x: Tensor) -> Tensor:
        inner = -2 * torch.matmul(x.transpose(2, 1), x)
        xx = torch.sum(x**2, dim=1, keepdim=True)
        return (-xx - inner - xx.transpose(2, 1)).topk(k=self.k, dim=-1)[1]

    def forward(self, points: Tensor) -> Tuple[Tensor, Tensor]:
        x = points.transpose(1, 2)
        b, d, n = x.shape
        index = self.nearest(x) + torch.arange(0, b).view(-1, 1, 1) * n
        flat = x.transpose(2, 1).reshape(b * n, -1)
        near = flat[index.view(-1), :].view(b, n, self.k, d)
        own = flat.view(b, n, 1, d).repeat(1, 1, self.k, 1)
        features = torch.cat((near - own, own), dim=3).permute(0, 3, 1, 2).contiguous()
        y = self.mlp(features).max(dim=-1, keepdim=False)[0]
        turn = self.align(y.amax(-1)).view(b, 3, 3) + torch.eye(3)
        return y, torch.bmm(points, turn)


CASES["edge_conv"] = Case(
    EdgeConv, lambda: [call(torch.randn(2, 7, 3)), call(torch.randn(1, 5, 3))], traced_calls=1
)


class FarthestPoints(nn.Module):
    def __init__(self, radius: float = 1.2, samples: int = 4):
        super().__init__()
        self.radius, self.samples = radius, samples
        self.mlp = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 5))

    def farthest(self, xyz: Tensor, count: int) -> Tensor:
        b, n, _ = xyz.shape
        centres = torch.zeros(b, count, dtype=torch.long)
        distance = torch.ones(b, n) * 1e10
        last = torch.zeros((b,), dtype=torch.long)
        rows = torch.arange(b, dtype=torch.long)
        for i in range(count):
            centres[:, i] = last
            centre = xyz[rows, last, :].view(b, 1, 3)
            d = torch.sum((xyz - centre) ** 2, -1)
            mask = d < distance
            distance[mask] = d[mask]
            last = torch.max(distance, -1)[1]
        return centres

    def forward(self, xyz: Tensor, count: int = 3) -> Tuple[Tensor, Tensor]:
        picked = self.farthest(xyz, count)
        rows = torch.arange(xyz.size(0))[:, None]
        centres = xyz[rows, picked]
        index = torch.arange(xyz.size(1)).view(1, 1, -1).repeat([xyz.size(0), count, 1])
        index[torch.cdist(centres, xyz) > self.radius] = xyz.size(1)
        index = index.sort(dim=-1)[0][:, :, : self.samples]
        first = index[:, :, 0:1].repeat([1, 1, index.size(2)])
        index = torch.where(index == xyz.size(1), first, index)
        groups = xyz[rows[:, :, None], index] - centres[:, :, None]
        return picked, self.mlp(groups).max(2).values


CASES["farthest_points"] = Case(
    FarthestPoints, lambda: [call(torch.randn(2, 9, 3)), call(torch.randn(1, 6, 3), 2)], ("script", "freeze")
)


class SchNet(nn.Module):
    """SchNet: distances in Gaussian bases, smooth cutoffs, no forces; species by element symbols."""

    elements: Dict[str, int]

    def __init__(self, width: int = 6, gaussians: int = 8, cutoff: float = 3.0):
        super().__init__()
        self.elements = {"H": 1, "C": 6, "N": 7, "O": 8}
        self.embed = nn.Embedding(10, width, padding_idx=0)
        self.register_buffer("offsets", torch.linspace(0.0, cutoff, gaussians))
        self.coefficient = -0.5 / (cutoff / (gaussians - 1)) ** 2
        self.cutoff = cutoff
        self.filters = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(gaussians, width), nn.Softplus(), nn.Linear(width, width))
                for _ in range(2)
            ]
        )
        self.update = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.out = nn.Linear(width, 1)

    @torch.jit.export
    def numbers(self, formula: str) -> List[int]:
        found: List[int] = []
        for c in formula:
            if c.isdigit():
                found.extend([found[-1]] * (int(c) - 1))
            else:
                found.append(self.elements[c])
        return found

    def forward(self, z: Tensor, places: Tensor) -> Tuple[Tensor, Tensor]:
        d = torch.pdist(places)
        i, j = torch.triu_indices(z.size(0), z.size(0), 1).unbind(0)
        near = d < self.cutoff
        d, i, j = d[near], i[near], j[near]
        d, i, j = d.repeat(2), torch.cat([i, j]), torch.cat([j, i])
        rbf = torch.exp(self.coefficient * (d.view(-1, 1) - self.offsets.view(1, -1)) ** 2)
        c = 0.5 * (torch.cos(d * math.pi / self.cutoff) + 1.0)
        h = self.embed(z)
        for filter, update in zip(self.filters, self.update):
            w = filter(rbf) * c.view(-1, 1)
            h = h + update(torch.zeros_like(h).index_add(0, i, h[j] * w))
        per_atom = self.out(h).squeeze(-1)
        return per_atom.sum(), per_atom


CASES["schnet"] = Case(
    SchNet,
    lambda: [
        call(torch.tensor([6, 1, 1, 8, 1]), torch.randn(5, 3)),
        call(torch.tensor([8, 1, 1]), torch.randn(3, 3)),
        call("CH3OH", method="numbers"),
    ],
    ("script", "freeze"),
)


# Graph transformers: hop distances as a bias, and position encodings from the Laplacian spectrum.
class GraphTransformer(nn.Module):
    def __init__(self, width: int = 6, heads: int = 2, farthest: int = 4):
        super().__init__()
        self.farthest = farthest
        self.bias = nn.Embedding(farthest + 1, heads)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.spectral = nn.Linear(2, width)

    def hops(self, adjacency: Tensor) -> Tensor:
        n = adjacency.size(0)
        found = torch.full((n, n), self.farthest)
        found.fill_diagonal_(0)
        reach = torch.eye(n)
        for k in range(1, self.farthest):
            reach = (reach @ adjacency).clamp_(max=1)
            found = torch.where((reach > 0) & (found == self.farthest), torch.full_like(found, k), found)
        return found

    def forward(self, x: Tensor, edges: Tensor) -> Tuple[Tensor, Tensor]:
        n = x.size(0)
        adjacency = torch.zeros(n, n)
        adjacency[edges[0], edges[1]] = 1.0
        adjacency = torch.maximum(adjacency, adjacency.T).fill_diagonal_(0.0)
        degree = adjacency.sum(1).clamp(min=1)
        laplacian = torch.eye(n) - degree.rsqrt()[:, None] * adjacency * degree.rsqrt()[None, :]
        values, vectors = torch.linalg.eigh(laplacian)
        x = x + self.spectral(vectors[:, 1:3].abs())
        bias = self.bias(self.hops(adjacency)).permute(2, 0, 1)
        out, _ = self.attention(x[None], x[None], x[None], attn_mask=bias)
        return out[0], values


CASES["graph_transformer"] = Case(GraphTransformer, graphs, ("script", "freeze"))


# Algorithms in loops over scalars: ranks, components, shortest paths and random walks.
class Algorithms(nn.Module):
    def __init__(self, damping: float = 0.85):
        super().__init__()
        self.damping = damping

    def forward(self, edges: Tensor, nodes: int, tolerance: float = 1e-6) -> Tuple[Tensor, int]:
        out = torch.bincount(edges[0], minlength=nodes).clamp(min=1).float()
        rank, turns = torch.full((nodes,), 1.0 / nodes), 0
        while turns < 100:
            following = torch.zeros(nodes).index_add_(0, edges[1], (rank / out)[edges[0]])
            following = (1 - self.damping) / nodes + self.damping * following
            following /= following.sum()
            turns += 1
            if torch.norm(following - rank, p=1) < tolerance:
                break
            rank = following
        return rank, turns

    @torch.jit.export
    def components(self, pairs: List[Tuple[int, int]], nodes: int) -> Dict[int, List[int]]:
        parent = [i for i in range(nodes)]
        for a, b in pairs:
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            while parent[b] != b:
                b = parent[b]
            if a != b:
                parent[max(a, b)] = min(a, b)
        found: Dict[int, List[int]] = {}
        for i in range(nodes):
            root = i
            while parent[root] != root:
                root = parent[root]
            if root not in found:
                found[root] = torch.jit.annotate(List[int], [])
            found[root].append(i)
        return found

    @torch.jit.export
    def shortest(self, weights: Tensor) -> Tuple[Tensor, List[int]]:
        d = weights.clone()
        n = d.size(0)
        for k in range(n):
            d = torch.minimum(d, d[:, k].unsqueeze(1) + d[k].unsqueeze(0))
        seen, order = [False] * n, torch.jit.annotate(List[int], [])
        for _ in range(n):
            best, best_d = -1, math.inf
            for v in range(n):
                if not seen[v] and d[0, v].item() < best_d:
                    best, best_d = v, d[0, v].item()
            if best == -1:
                break
            seen[best] = True
            order.append(best)
        return d, order

    @torch.jit.export
    def walks(self, edges: Tensor, start: Tensor, length: int) -> Tensor:
        order = torch.argsort(edges[0], stable=True)
        row, col = edges[0][order], edges[1][order]
        nodes = int(edges.max()) + 1
        starts = torch.searchsorted(row, torch.arange(nodes + 1))
        path = [start]
        for _ in range(length):
            at = path[-1]
            degree = starts[at + 1] - starts[at]
            pick = (torch.rand(at.size(0)) * degree).long()
            following = col[(starts[at] + pick).clamp(max=col.numel() - 1)]
            path.append(torch.where(degree > 0, following, at))
        return torch.stack(path, dim=1)


def algorithm_calls():
    edges = torch.randint(0, 8, (2, 20))
    weights = torch.rand(6, 6) * 10
    weights[torch.rand(6, 6) < 0.4] = float("inf")
    weights.fill_diagonal_(0.0)
    return [
        call(edges, 8), call(edges, 10, 1e-3), call([(0, 1), (2, 3), (1, 4), (5, 6)], 8, method="components"),
        call(weights, method="shortest"), call(edges, torch.arange(4), 5, method="walks", seed=3),
    ]  # fmt: skip


CASES["algorithms"] = Case(Algorithms, algorithm_calls, ("script", "freeze"))
