"""Networks for audio, sequences and tables: ConvTasNet, an LSTM and DLRM."""

from itertools import pairwise
from typing import List, Sequence, Tuple

import torch
from torch import Tensor, nn

from benchmarks.networks import Network


# ConvTasNet (Luo and Mesgarani, 2018), with the sizes of the paper's best network.
class TemporalBlock(nn.Module):
    """Dilated depthwise convolution between pointwise ones, with a residual and a skip output."""

    def __init__(self, channels: int, hidden: int, kernel: int, dilation: int):
        super().__init__()
        padding = dilation * (kernel - 1) // 2
        self.layers = nn.Sequential(
            nn.Conv1d(channels, hidden, 1),
            nn.PReLU(),
            nn.GroupNorm(1, hidden),
            nn.Conv1d(hidden, hidden, kernel, padding=padding, dilation=dilation, groups=hidden),
            nn.PReLU(),
            nn.GroupNorm(1, hidden),
        )
        self.residual = nn.Conv1d(hidden, channels, 1)
        self.skip = nn.Conv1d(hidden, channels, 1)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        y = self.layers(x)
        return x + self.residual(y), self.skip(y)


class ConvTasNet(nn.Module):
    """Separates the speakers of a waveform by masks on a learned spectrum."""

    def __init__(
        self,
        filters: int = 512,
        length: int = 16,
        channels: int = 128,
        hidden: int = 512,
        blocks: int = 8,
        repeats: int = 3,
        speakers: int = 2,
    ):
        super().__init__()
        self.speakers = speakers
        self.encoder = nn.Conv1d(1, filters, length, length // 2, bias=False)
        self.bottleneck = nn.Sequential(nn.GroupNorm(1, filters), nn.Conv1d(filters, channels, 1))
        self.blocks = nn.ModuleList(
            [TemporalBlock(channels, hidden, 3, 1 << i) for _ in range(repeats) for i in range(blocks)]
        )
        self.masks = nn.Sequential(
            nn.PReLU(), nn.Conv1d(channels, speakers * filters, 1), nn.Sigmoid()
        )
        self.decoder = nn.ConvTranspose1d(filters, 1, length, length // 2, bias=False)

    def forward(self, wave: Tensor) -> Tensor:
        spectrum = torch.relu(self.encoder(wave))
        x = self.bottleneck(spectrum)
        total = torch.zeros_like(x)
        for block in self.blocks:
            x, skip = block(x)
            total = total + skip
        masks = self.masks(total).view(x.size(0), self.speakers, spectrum.size(1), spectrum.size(2))
        masked = (masks * spectrum.unsqueeze(1)).flatten(0, 1)
        return self.decoder(masked).view(x.size(0), self.speakers, -1)


class Recurrent(nn.Module):
    """LSTM of two layers with a linear layer for each step."""

    def __init__(self, inputs: int = 512, hidden: int = 512, outputs: int = 512):
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(x)[0])


# DLRM (Naumov et al., 2019), with the layers of the MLPerf benchmark and smaller tables.
def perceptron(sizes: Sequence[int]) -> nn.Sequential:
    """Return linear layers of these sizes, each followed by ReLU."""
    layers: List[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class Dlrm(nn.Module):
    """Recommendation model: products of all pairs of embeddings, between two perceptrons."""

    pairs: Tensor

    def __init__(self, tables: int = 26, rows: int = 10_000, width: int = 128, dense: int = 13):
        super().__init__()
        self.embeddings = nn.ModuleList([nn.Embedding(rows, width) for _ in range(tables)])
        self.bottom = perceptron([dense, 512, 256, width])
        vectors = tables + 1
        pairs = [vectors * i + j for i in range(vectors) for j in range(i)]
        self.register_buffer("pairs", torch.tensor(pairs))  # places of the products below the diagonal
        self.top = perceptron([width + len(pairs), 1024, 1024, 512, 256])
        self.head = nn.Linear(256, 1)

    def forward(self, dense: Tensor, categories: Tensor) -> Tensor:
        x = self.bottom(dense)
        vectors = [x]
        for index, embedding in enumerate(self.embeddings):
            vectors.append(embedding(categories[:, index]))
        stacked = torch.stack(vectors, 1)
        products = torch.bmm(stacked, stacked.transpose(1, 2)).flatten(1).index_select(1, self.pairs)
        return torch.sigmoid(self.head(self.top(torch.cat([x, products], 1))))


def clicks(batch: int, tables: int = 26, rows: int = 10_000) -> List[Tensor]:
    """Return random numbers and categories."""
    return [torch.rand(batch, 13), torch.randint(rows, (batch, tables))]


NETWORKS = {
    # ONNX Runtime and OpenVINO sum the 500,000 squares of a group norm less precisely than PyTorch
    "ConvTasNet, 1 s": Network(ConvTasNet, lambda: [torch.randn(1, 1, 8000)], onnx_tolerance=1e-4),
    "LSTM, 2 layers of 512, 100 steps": Network(Recurrent, lambda: [torch.randn(1, 100, 512)]),
    "DLRM, batch 1": Network(Dlrm, lambda: clicks(1)),
    "DLRM, batch 128": Network(Dlrm, lambda: clicks(128)),
}
