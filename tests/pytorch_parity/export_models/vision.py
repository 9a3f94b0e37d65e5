"""Convolutions: classification, segmentation, restoration, autoencoders, signals."""

import torch
from torch import nn
from torch.nn import functional as F

from tests.pytorch_parity.export_models import Case

CASES = {}
SIZES = ((2, 16, 12), (3, 20, 16), (5, 24, 28))
BATCHES = ((2, 16), (3, 16), (5, 16))


def image(n, h, w):
    return (torch.randn(n, 3, h, w),)


def square(n, h):
    return (torch.randn(n, 3, h, h),)


def signal(n, t):
    return (torch.randn(n, 2, t),)


class ResidualBlock(nn.Module):
    def __init__(self, ins, outs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(ins, outs, 3, stride, 1, bias=False), nn.BatchNorm2d(outs)
        self.conv2, self.bn2 = nn.Conv2d(outs, outs, 3, 1, 1, bias=False), nn.BatchNorm2d(outs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = nn.Sequential(nn.Conv2d(ins, outs, 1, stride, bias=False), nn.BatchNorm2d(outs))

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += self.downsample(x)
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, 1, 1), nn.BatchNorm2d(4), nn.ReLU(True), nn.MaxPool2d(3, 2, 1))
        self.blocks = nn.Sequential(ResidualBlock(4, 4, 1), ResidualBlock(4, 6, 2))
        self.pool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(6, 5)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.blocks(self.stem(x))), 1))


CASES["resnet"] = Case(ResNet, image, SIZES, ((0, 2, 3),))
CASES["resnet_training"] = Case(ResNet, square, BATCHES, ((0,),), training=True)


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(3, 6, 1, bias=False), nn.BatchNorm2d(6), nn.ReLU6(inplace=True))
        self.depthwise = nn.Sequential(nn.Conv2d(6, 6, 3, 2, 1, groups=6), nn.BatchNorm2d(6), nn.Hardswish())
        self.squeeze = nn.Sequential(nn.Conv2d(6, 2, 1), nn.ReLU(), nn.Conv2d(2, 6, 1), nn.Hardsigmoid())
        self.project = nn.Conv2d(6, 4, 1)

    def forward(self, x):
        x = self.depthwise(self.expand(x))
        x = x * self.squeeze(F.adaptive_avg_pool2d(x, 1))
        return self.project(x).mean([2, 3])


CASES["mobilenet"] = Case(MobileNet, image, SIZES, ((0, 2, 3),))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 6, 3, padding=1)
        self.up = nn.ConvTranspose2d(6, 4, 2, 2)
        self.last = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        a = F.relu(self.down1(x))
        b = F.relu(self.down2(F.max_pool2d(a, 2)))
        b = self.up(b)
        return self.last(torch.cat([a, b], dim=1)).softmax(1)


CASES["unet"] = Case(UNet, square, BATCHES, ((0,),))


class UNetUpsampled(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 4, 3, 2, 1)
        self.last = nn.Conv2d(7, 2, 3, padding=1)

    def forward(self, x):
        y = F.leaky_relu(self.down(x), 0.1)
        y = F.interpolate(y, size=x.shape[-2:], mode="bilinear", align_corners=False)
        return self.last(torch.cat([x, y], 1)).argmax(1)


CASES["unet_upsampled"] = Case(UNetUpsampled, image, SIZES, ((0, 2, 3),))


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(3, 2, 1)
        self.three = nn.Sequential(nn.Conv2d(3, 2, 1), nn.ReLU(), nn.Conv2d(2, 3, 3, padding=1))
        self.factored = nn.Sequential(nn.Conv2d(3, 2, (1, 5), padding=(0, 2)), nn.Conv2d(2, 2, (5, 1), padding=(2, 0)))
        self.pooled = nn.Conv2d(3, 2, 1)

    def forward(self, x):
        parts = [self.one(x), self.three(x), self.factored(x), self.pooled(F.avg_pool2d(x, 3, 1, 1))]
        return F.relu(torch.cat(parts, 1)).amax((2, 3))


CASES["inception"] = Case(Inception, image, SIZES, ((0, 2, 3),))


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(3 + 2 * i), nn.ReLU(), nn.Conv2d(3 + 2 * i, 2, 3, padding=1)) for i in range(3)
        )
        self.transition = nn.Sequential(nn.Conv2d(9, 4, 1), nn.AvgPool2d(2, 2))

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        return self.transition(torch.cat(features, 1)).flatten(2).sum(-1)


CASES["densenet"] = Case(DenseNet, image, SIZES, ((0, 2, 3),))


class GroupNorms(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3, padding="same", dilation=2), nn.GroupNorm(2, 4)
        self.instance = nn.InstanceNorm2d(4, affine=True)

    def forward(self, x):
        return self.instance(F.silu(self.norm(self.conv(x))))


CASES["group_norms"] = Case(GroupNorms, image, SIZES, ((0, 2, 3),))


class Poolings(nn.Module):
    def forward(self, x):
        a = F.max_pool2d(x, 3, 2, 1, ceil_mode=True)
        b = F.avg_pool2d(x, 2, 2, count_include_pad=False)
        values, places = F.max_pool2d(x, 2, return_indices=True)
        back = F.max_unpool2d(values, places, 2)
        c = F.lp_pool2d(x.abs() + 1, 2, 2)
        return a, b, back, c, F.adaptive_max_pool2d(x, 1)


CASES["poolings"] = Case(Poolings, square, BATCHES, ((0,),))


class ConvNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise, self.norm = nn.Conv2d(4, 4, 7, padding=3, groups=4), nn.LayerNorm(4, eps=1e-6)
        self.stem, self.up, self.down = nn.Conv2d(3, 4, 4, 4), nn.Linear(4, 8), nn.Linear(8, 4)
        self.gamma = nn.Parameter(torch.full((4,), 0.5))

    def forward(self, x):
        x = self.stem(x)
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.gamma * self.down(F.gelu(self.up(y)))
        return x + y.permute(0, 3, 1, 2)


CASES["convnext"] = Case(ConvNeXt, image, SIZES, ((0, 2, 3),))


class SuperResolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), nn.PReLU(), nn.Conv2d(4, 12, 3, 1, 1))

    def forward(self, x):
        return F.pixel_shuffle(self.body(x), 2).clamp(0, 1)


CASES["super_resolution"] = Case(SuperResolution, square, BATCHES, ((0,),))


class VGG(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, padding=1), nn.ELU())
        self.classifier = nn.Sequential(nn.Linear(4 * 8 * 8, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))

    def forward(self, x):
        x = self.features(x)
        return F.log_softmax(self.classifier(x.view(x.size(0), -1)), dim=1)


CASES["vgg"] = Case(VGG, square, BATCHES, ((0,),))


class VariationalAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 8 * 8, 6))
        self.decoder = nn.Sequential(
            nn.Linear(3, 4 * 8 * 8), nn.Unflatten(1, (4, 8, 8)), nn.ConvTranspose2d(4, 3, 3, 2, 1, output_padding=1), nn.Sigmoid()
        )

    def forward(self, x):
        mean, logarithm = self.encoder(x).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * logarithm) if self.training else mean
        divergence = -0.5 * torch.sum(1 + logarithm - mean.pow(2) - logarithm.exp(), dim=1)
        return self.decoder(z), divergence.mean()


CASES["variational_autoencoder"] = Case(VariationalAutoencoder, square, BATCHES, ((0,),))


class Spatial(nn.Module):
    def __init__(self):
        super().__init__()
        self.locate = nn.Linear(3, 6)
        self.locate.weight.data.mul_(0.1)

    def forward(self, x):
        theta = self.locate(x.mean((2, 3))).view(-1, 2, 3) + torch.eye(2, 3)
        grid = F.affine_grid(theta, [x.shape[0], 3, 8, 8], align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)


CASES["spatial_transformer"] = Case(Spatial, square, BATCHES, ((0,),))


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(2, 4, 1)
        self.dilated = nn.ModuleList(nn.Conv1d(4, 8, 2, dilation=2**i) for i in range(3))
        self.skip = nn.ModuleList(nn.Conv1d(4, 4, 1) for i in range(3))

    def forward(self, x):
        x, total = self.first(x), 0
        for i, (conv, skip) in enumerate(zip(self.dilated, self.skip)):
            a, b = conv(F.pad(x, (2**i, 0))).chunk(2, 1)
            y = torch.tanh(a) * torch.sigmoid(b)
            total = total + skip(y)
            x = x + y
        return F.relu(total)


CASES["wavenet"] = Case(WaveNet, signal, ((2, 10), (3, 15), (4, 24)), ((0, 2),))


class Filterbank(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(6))
        self.register_buffer("bank", torch.linspace(0.1, 1.0, 18).view(6, 3))

    def forward(self, x):
        frames = x.unfold(-1, 6, 3) * self.window
        energies = torch.log1p((frames @ self.bank).square())
        return energies - energies.mean(-2, keepdim=True)


CASES["filterbank"] = Case(Filterbank, signal, ((2, 24), (3, 24), (4, 24)), ((0,),))


class TemporalPooling(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(2, 4, 5, 2, 2), nn.BatchNorm1d(4), nn.GLU(1))

    def forward(self, x):
        y = self.conv(x)
        mean, std = y.mean(-1), y.var(-1, correction=0).add(1e-5).sqrt()
        return torch.cat([mean, std, F.avg_pool1d(y, 2).amax(-1), F.max_pool1d(y, 2).amin(-1)], 1)


CASES["temporal_pooling"] = Case(TemporalPooling, signal, ((2, 16), (3, 21), (4, 32)), ((0, 2),))


class Volume(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(1, 2, 3, padding=1)
        self.norm = nn.BatchNorm3d(2)
        self.up = nn.ConvTranspose3d(2, 1, 2, 2)

    def forward(self, x):
        return self.up(F.max_pool3d(F.softplus(self.norm(self.conv(x))), 2)) + x


CASES["volume"] = Case(Volume, lambda n: (torch.randn(n, 1, 4, 4, 4),), ((2,), (3,), (5,)), ((0,),))
