"""Convolutional networks: ResNet, MobileNetV3, EfficientNet and U-Net, as in their papers."""

from itertools import pairwise
from typing import Any, List, Sequence, Tuple, Type

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.networks import Network

CLASSES = 1000


def image(batch: int, side: int) -> Tensor:
    """Return a batch of random images with three channels."""
    return torch.randn(batch, 3, side, side)


class ConvNorm(nn.Sequential):
    """Convolution that keeps the size at stride 1, batch norm, and an optional activation."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int = 1,
        stride: int = 1,
        groups: int = 1,
        activation: Type[Any] | None = nn.ReLU,
    ):
        conv = nn.Conv2d(
            inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False
        )
        layers: List[nn.Module] = [conv, nn.BatchNorm2d(outputs)]
        if activation is not None:
            layers.append(activation())
        super().__init__(*layers)


# ResNet (He et al., 2015).
class Basic(nn.Module):
    """Residual block of two 3 x 3 convolutions."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        self.first = ConvNorm(inputs, width, 3, stride)
        self.second = ConvNorm(width, width, 3, activation=None)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != width:
            self.shortcut = ConvNorm(inputs, width, 1, stride, activation=None)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.second(self.first(x)) + self.shortcut(x))


class Bottleneck(nn.Module):
    """Residual block that computes its 3 x 3 convolution on a quarter of the channels."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        outputs = width * self.expansion
        self.reduce = ConvNorm(inputs, width)
        self.spatial = ConvNorm(width, width, 3, stride)
        self.expand = ConvNorm(width, outputs, activation=None)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = ConvNorm(inputs, outputs, 1, stride, activation=None)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.expand(self.spatial(self.reduce(x))) + self.shortcut(x))


class ResNet(nn.Module):
    """Stem, four stages of residual blocks, mean over the positions, and a linear classifier."""

    def __init__(self, block: Type[Any], blocks: Sequence[int], width: int = 64):
        super().__init__()
        self.stem = nn.Sequential(ConvNorm(3, width, 7, 2), nn.MaxPool2d(3, 2, padding=1))
        layers: List[nn.Module] = []
        channels = width
        for stage, count in enumerate(blocks):
            inner = width << stage
            for index in range(count):
                layers.append(block(channels, inner, 2 if stage > 0 and index == 0 else 1))
                channels = inner * block.expansion
        self.stages = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.stages(self.stem(x)).mean([2, 3]))


# MobileNetV3 (Howard et al., 2019) and EfficientNet (Tan and Le, 2019).
class SqueezeExcite(nn.Module):
    """Scales each channel by a gate, which is computed from the means of all channels."""

    def __init__(self, channels: int, squeezed: int, activation: Type[Any], gate: Type[Any]):
        super().__init__()
        self.gates = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, squeezed, 1),
            activation(),
            nn.Conv2d(squeezed, channels, 1),
            gate(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gates(x)


class InvertedResidual(nn.Module):
    """Pointwise expansion, depthwise convolution, optional squeeze-excite, and pointwise projection."""

    def __init__(
        self,
        inputs: int,
        expanded: int,
        outputs: int,
        kernel: int,
        stride: int,
        activation: Type[Any],
        squeeze: nn.Module | None,
    ):
        super().__init__()
        layers: List[nn.Module] = []
        if expanded != inputs:
            layers.append(ConvNorm(inputs, expanded, activation=activation))
        layers.append(ConvNorm(expanded, expanded, kernel, stride, expanded, activation))
        if squeeze is not None:
            layers.append(squeeze)
        layers.append(ConvNorm(expanded, outputs, activation=None))
        self.layers = nn.Sequential(*layers)
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y = self.layers(x)
        return x + y if self.is_residual else y


# kernel, expanded channels, channels, squeeze-excite, activation and stride of each block
MOBILENET_V3_LARGE = (
    (3, 16, 16, False, nn.ReLU, 1),
    (3, 64, 24, False, nn.ReLU, 2),
    (3, 72, 24, False, nn.ReLU, 1),
    (5, 72, 40, True, nn.ReLU, 2),
    (5, 120, 40, True, nn.ReLU, 1),
    (5, 120, 40, True, nn.ReLU, 1),
    (3, 240, 80, False, nn.Hardswish, 2),
    (3, 200, 80, False, nn.Hardswish, 1),
    (3, 184, 80, False, nn.Hardswish, 1),
    (3, 184, 80, False, nn.Hardswish, 1),
    (3, 480, 112, True, nn.Hardswish, 1),
    (3, 672, 112, True, nn.Hardswish, 1),
    (5, 672, 160, True, nn.Hardswish, 2),
    (5, 960, 160, True, nn.Hardswish, 1),
    (5, 960, 160, True, nn.Hardswish, 1),
)


class MobileNetV3(nn.Module):
    """Inverted residual blocks with hardswish, and a classifier of two layers."""

    def __init__(self, blocks: Sequence[Tuple[Any, ...]] = MOBILENET_V3_LARGE):
        super().__init__()
        layers: List[nn.Module] = [ConvNorm(3, 16, 3, 2, activation=nn.Hardswish)]
        channels = 16
        for kernel, expanded, outputs, has_squeeze, activation, stride in blocks:
            squeezed = max(8, (expanded // 4 + 4) // 8 * 8)
            squeeze = (
                SqueezeExcite(expanded, squeezed, nn.ReLU, nn.Hardsigmoid) if has_squeeze else None
            )
            layers.append(
                InvertedResidual(channels, expanded, outputs, kernel, stride, activation, squeeze)
            )
            channels = outputs
        layers.append(ConvNorm(channels, 6 * channels, activation=nn.Hardswish))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Linear(6 * channels, 1280), nn.Hardswish(), nn.Linear(1280, CLASSES)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).mean([2, 3]))


# expansion, channels, number of blocks, stride of the first block and kernel of each stage
EFFICIENTNET_B0 = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)


class EfficientNet(nn.Module):
    """Inverted residual blocks with squeeze-excite and SiLU (MBConv), and a linear classifier."""

    def __init__(self, stages: Sequence[Tuple[int, ...]] = EFFICIENTNET_B0):
        super().__init__()
        layers: List[nn.Module] = [ConvNorm(3, 32, 3, 2, activation=nn.SiLU)]
        channels = 32
        for expansion, outputs, count, first_stride, kernel in stages:
            for index in range(count):
                expanded = channels * expansion
                squeeze = SqueezeExcite(expanded, channels // 4, nn.SiLU, nn.Sigmoid)
                stride = first_stride if index == 0 else 1
                layers.append(
                    InvertedResidual(channels, expanded, outputs, kernel, stride, nn.SiLU, squeeze)
                )
                channels = outputs
        layers.append(ConvNorm(channels, 4 * channels, activation=nn.SiLU))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(4 * channels, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).mean([2, 3]))


# U-Net (Ronneberger et al., 2015), with batch norms and padding.
class DoubleConv(nn.Sequential):
    """Two 3 x 3 convolutions with batch norms and ReLU."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__(ConvNorm(inputs, outputs, 3), ConvNorm(outputs, outputs, 3))


class UNet(nn.Module):
    """Segmentation network: each level of the decoder also reads the encoder's values of its size."""

    def __init__(self, width: int = 32, levels: int = 4, classes: int = 2):
        super().__init__()
        widths = [width << level for level in range(levels + 1)]
        self.encoders = nn.ModuleList(
            [DoubleConv(a, b) for a, b in pairwise([3, *widths[:-1]])]
        )
        self.bottom = DoubleConv(widths[-2], widths[-1])
        self.ups = nn.ModuleList([nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths[-2::-1]])
        self.decoders = nn.ModuleList([DoubleConv(2 * w, w) for w in widths[-2::-1]])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        skipped: List[Tensor] = []
        for encoder in self.encoders:
            x = encoder(x)
            skipped.append(x)
            x = F.max_pool2d(x, 2)
        x = self.bottom(x)
        for up, decoder in zip(self.ups, self.decoders, strict=True):
            x = decoder(torch.cat([skipped.pop(), up(x)], 1))
        return self.head(x)


NETWORKS = {
    "ResNet-18, batch 8": Network(lambda: ResNet(Basic, (2, 2, 2, 2)), lambda: [image(8, 224)]),
    "ResNet-50": Network(lambda: ResNet(Bottleneck, (3, 4, 6, 3)), lambda: [image(1, 224)]),
    "MobileNetV3": Network(MobileNetV3, lambda: [image(1, 224)]),
    "EfficientNet-B0": Network(EfficientNet, lambda: [image(1, 224)]),
    "U-Net, 256 x 256": Network(UNet, lambda: [image(1, 256)]),
}
