"""Image models: classification, segmentation, restoration and preprocessing."""

import math
from collections import OrderedDict
from typing import Dict, Final, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.pytorch_parity.models import Case, call

CASES = {}


def images():
    return [call(torch.randn(2, 3, 32, 32)), call(torch.randn(1, 3, 40, 36))]


def settled(model):
    """Set statistics and scales of batch norm layers to values other than 0 and 1."""
    for m in model.modules():
        if isinstance(m, nn.modules.batchnorm._BatchNorm):
            m.running_mean.uniform_(-0.2, 0.2)
            m.running_var.uniform_(0.5, 1.5)
            nn.init.uniform_(m.weight, 0.8, 1.2)
            nn.init.uniform_(m.bias, -0.1, 0.1)
    return model


# ShuffleNet: channels are shuffled between groups.
def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    batch, channels, height, width = x.size()
    x = x.view(batch, groups, channels // groups, height, width)
    x = torch.transpose(x, 1, 2).contiguous()
    return x.view(batch, channels, height, width)


class ShuffleUnit(nn.Module):
    def __init__(self, width_in: int, width: int, stride: int):
        super().__init__()
        if not 1 <= stride <= 2:
            raise ValueError("illegal stride")
        self.stride = stride
        half = width // 2
        first = OrderedDict(
            dw=self.depthwise(width_in, stride), bn=nn.BatchNorm2d(width_in), pw=nn.Conv2d(width_in, half, 1)
        )
        self.branch1 = nn.Sequential(first) if stride > 1 else nn.Sequential()
        self.branch2 = nn.Sequential(
            nn.Conv2d(width_in if stride > 1 else half, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(inplace=True),
            self.depthwise(half, stride), nn.BatchNorm2d(half), nn.Conv2d(half, half, 1, bias=False), nn.ReLU(inplace=True),
        )  # fmt: skip

    @staticmethod
    def depthwise(width: int, stride: int, bias: bool = False) -> nn.Conv2d:
        return nn.Conv2d(width, width, 3, stride, 1, bias=bias, groups=width)

    def forward(self, x: Tensor) -> Tensor:
        if self.stride == 1:
            x1, x2 = x.chunk(2, dim=1)
            out = torch.cat((x1, self.branch2(x2)), dim=1)
        else:
            out = torch.cat((self.branch1(x), self.branch2(x)), dim=1)
        return channel_shuffle(out, 2)


class ShuffleNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1, bias=False)
        for i, (width_in, width) in enumerate(((8, 16), (16, 24))):
            units = [ShuffleUnit(width_in, width, 2), ShuffleUnit(width, width, 1)]
            setattr(self, f"stage{i + 2}", nn.Sequential(*units))
        self.fc = nn.Linear(24, 5)

    def _forward_impl(self, x: Tensor) -> Tensor:
        x = self.stage3(self.stage2(F.max_pool2d(self.stem(x), kernel_size=3, stride=2, padding=1)))
        return self.fc(x.mean([2, 3]))

    def forward(self, x: Tensor) -> Tensor:
        return self._forward_impl(x)


CASES["shufflenet"] = Case(lambda: settled(ShuffleNet()), images, ("script", "trace"))


# Inception: branches, an auxiliary head in training, named results, and an eager path excluded from scripts.
class InceptionResult(NamedTuple):
    logits: Tensor
    aux: Optional[Tensor]


class ConvUnit(nn.Module):
    def __init__(self, width_in: int, width: int, **options):
        super().__init__()
        self.conv = nn.Conv2d(width_in, width, bias=False, **options)
        self.bn = nn.BatchNorm2d(width, eps=0.001)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.bn(self.conv(x)), inplace=True)


class Mixed(nn.Module):
    def __init__(self, width_in: int):
        super().__init__()
        self.one = ConvUnit(width_in, 4, kernel_size=1)
        self.seven = nn.Sequential(
            ConvUnit(width_in, 4, kernel_size=1),
            ConvUnit(4, 4, kernel_size=(1, 7), padding=(0, 3)),
            ConvUnit(4, 6, kernel_size=(7, 1), padding=(3, 0)),
        )
        self.pooled = ConvUnit(width_in, 4, kernel_size=1)

    def _branches(self, x: Tensor) -> List[Tensor]:
        pooled = F.avg_pool2d(x, kernel_size=3, stride=1, padding=1)
        return [self.one(x), self.seven(x), self.pooled(pooled)]

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat(self._branches(x), 1)


class Inception(nn.Module):
    __constants__ = ["transform_input"]

    def __init__(self, transform_input: bool = True):
        super().__init__()
        self.transform_input = transform_input
        self.stem = ConvUnit(3, 8, kernel_size=3, stride=2)
        self.mixed = nn.ModuleList([Mixed(8), Mixed(14)])
        self.aux: Optional[nn.Module] = nn.Linear(14, 3)
        self.fc = nn.Linear(14, 3)

    @torch.jit.unused
    def eager_result(self, x: Tensor, aux: Optional[Tensor]) -> InceptionResult:
        return InceptionResult(x, aux)

    def _transform(self, x: Tensor) -> Tensor:
        if self.transform_input:
            red = torch.unsqueeze(x[:, 0], 1) * (0.229 / 0.5) + (0.485 - 0.5) / 0.5
            rest = x[:, 1:] * 0.45 - 0.1
            x = torch.cat((red, rest), 1)
        return x

    def forward(self, x: Tensor) -> InceptionResult:
        x = self.stem(self._transform(x))
        aux: Optional[Tensor] = None
        for i, block in enumerate(self.mixed):
            x = block(x)
            if i == 0 and self.aux is not None:
                if self.training:
                    aux = self.aux(x.flatten(2).mean(-1))
        x = self.fc(F.adaptive_avg_pool2d(x, (1, 1)).flatten(1))
        aux_defined = self.training and self.aux is not None
        if torch.jit.is_scripting():
            return InceptionResult(x, aux if aux_defined else None)
        return self.eager_result(x, aux)


CASES["inception"] = Case(lambda: settled(Inception()), images, ("script", "freeze"))
CASES["inception_training"] = Case(Inception, images, ("script",), training=True)


# A feature pyramid: dicts of levels, modules by index, an extra block.
class LastLevel(nn.Module):
    def forward(
        self, results: List[Tensor], x: List[Tensor], names: List[str]
    ) -> Tuple[List[Tensor], List[str]]:
        names.append("pool")
        results.append(F.max_pool2d(results[-1], 1, 2, 0))
        return results, names


class Pyramid(nn.Module):
    def __init__(self, widths: List[int], width: int = 8):
        super().__init__()
        self.body = nn.ModuleDict(
            {f"c{i}": nn.Conv2d(a, b, 3, 2, 1) for i, (a, b) in enumerate(zip([3] + widths, widths))}
        )
        self.inner_blocks = nn.ModuleList([nn.Conv2d(w, width, 1) for w in widths])
        self.layer_blocks = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1) for _ in widths])
        self.extra = LastLevel()

    def inner(self, x: Tensor, idx: int) -> Tensor:
        count = len(self.inner_blocks)
        if idx < 0:
            idx += count
        out = x
        for i, module in enumerate(self.inner_blocks):
            if i == idx:
                out = module(x)
        return out

    def forward(self, image: Tensor) -> Dict[str, Tensor]:
        levels: Dict[str, Tensor] = {}
        for name, conv in self.body.items():
            image = F.relu(conv(image))
            levels[name] = image
        names = list(levels.keys())
        x = list(levels.values())
        last = self.inner(x[-1], -1)
        results = [self.layer_blocks[-1](last)]
        for idx in range(len(x) - 2, -1, -1):
            lateral = self.inner(x[idx], idx)
            last = lateral + F.interpolate(last, size=lateral.shape[-2:], mode="nearest")
            results.insert(0, last)
        results, names = self.extra(results, x, names)
        return {k: v for k, v in zip(names, results)}


CASES["feature_pyramid"] = Case(lambda: Pyramid([4, 6, 8]), images, ("script", "freeze"))


# DeepLab: dilated branches and a pooled one, resized to the input's size.
class PooledBranch(nn.Sequential):
    def __init__(self, width_in: int, width: int):
        super().__init__(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width_in, width, 1, bias=False), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        size = x.shape[-2:]
        for mod in self:
            x = mod(x)
        return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


class DeepLab(nn.Module):
    def __init__(self, rates: Tuple[int, ...] = (2, 3)):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1)
        branches = [nn.Conv2d(8, 4, 3, padding=r, dilation=r) for r in rates]
        self.branches = nn.ModuleList([*branches, PooledBranch(8, 4)])
        self.project = nn.Sequential(
            nn.Conv2d(4 * len(self.branches), 6, 1), nn.BatchNorm2d(6), nn.Dropout2d(0.3)
        )

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        size = x.shape[-2:]
        features = F.relu6(self.stem(x))
        parts: List[Tensor] = []
        for branch in self.branches:
            parts.append(branch(features))
        out = F.interpolate(
            self.project(torch.cat(parts, dim=1)), size=size, mode="bilinear", align_corners=False
        )
        return {"out": out, "labels": out.argmax(1), "share": out.softmax(1).amax((0, 2, 3))}


CASES["deeplab"] = Case(lambda: settled(DeepLab()), images, ("script", "freeze"))


# Swin: shifted windows, merged patches, a padded image.
def patches_merged(x: Tensor) -> Tensor:
    h, w, _ = x.shape[-3:]
    x = F.pad(x, (0, 0, 0, w % 2, 0, h % 2))
    return torch.cat(
        [x[..., 0::2, 0::2, :], x[..., 1::2, 0::2, :], x[..., 0::2, 1::2, :], x[..., 1::2, 1::2, :]], -1
    )


class WindowBlock(nn.Module):
    window: Final[int]

    def __init__(self, width: int, heads: int, window: int, shift: int):
        super().__init__()
        self.window, self.shift, self.heads = window, shift, heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, width * 3)
        self.proj = nn.Linear(width, width)
        self.logit_scale = nn.Parameter(torch.log(10 * torch.ones((heads, 1, 1))))
        self.table = nn.Parameter(torch.randn((2 * window - 1) * (2 * window - 1), heads) * 0.02)
        coords = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij"))
        flat = torch.flatten(coords, 1)
        relative = (flat[:, :, None] - flat[:, None, :]).permute(1, 2, 0).contiguous()
        relative += window - 1
        relative[:, :, 0] *= 2 * window - 1
        self.register_buffer("places", relative.sum(-1).flatten())

    def mask(self, rows: int, columns: int, x: Tensor) -> Tensor:
        """Return a mask of window positions that come from different image regions."""
        regions = x.new_zeros((rows, columns))
        slices = ((0, -self.window), (-self.window, -self.shift), (-self.shift, None))
        count = 0
        for h in slices:
            for w in slices:
                regions[h[0] : h[1], w[0] : w[1]] = count
                count += 1
        regions = regions.view(rows // self.window, self.window, columns // self.window, self.window)
        regions = regions.permute(0, 2, 1, 3).reshape(-1, self.window * self.window)
        apart = regions.unsqueeze(1) - regions.unsqueeze(2)
        return apart.masked_fill(apart != 0, -100.0).masked_fill(apart == 0, 0.0)

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x
        b, h, w, c = x.shape
        n = self.window * self.window
        right, low = (
            (self.window - w % self.window) % self.window,
            (self.window - h % self.window) % self.window,
        )
        x = F.pad(self.norm(x), (0, 0, 0, right, 0, low))
        _, rows, columns, _ = x.shape
        if self.shift > 0:
            x = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        windows = (rows // self.window) * (columns // self.window)
        x = x.view(b, rows // self.window, self.window, columns // self.window, self.window, c)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(b * windows, n, c)
        qkv = self.qkv(x).reshape(x.size(0), n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        scores = scores * torch.clamp(self.logit_scale, max=math.log(100.0)).exp()
        scores = scores + self.table[self.places].view(n, n, -1).permute(2, 0, 1).unsqueeze(0)
        if self.shift > 0:
            scores = scores.view(b, windows, self.heads, n, n)
            scores = scores + self.mask(rows, columns, x).unsqueeze(1).unsqueeze(0)
            scores = scores.view(-1, self.heads, n, n)
        x = self.proj(F.softmax(scores, dim=-1).matmul(v).transpose(1, 2).reshape(-1, n, c))
        x = x.view(b, rows // self.window, columns // self.window, self.window, self.window, c)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(b, rows, columns, c)
        if self.shift > 0:
            x = torch.roll(x, shifts=(self.shift, self.shift), dims=(1, 2))
        return shortcut + x[:, :h, :w, :].contiguous()


class Swin(nn.Module):
    def __init__(self, width: int = 8):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.first = nn.Sequential(WindowBlock(width, 2, 4, 0), WindowBlock(width, 2, 4, 2))
        self.reduction = nn.Linear(4 * width, 2 * width, bias=False)
        self.last = WindowBlock(2 * width, 2, 2, 0)
        self.head = nn.Linear(2 * width, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(self.patches(x).permute(0, 2, 3, 1))
        x = self.last(self.reduction(patches_merged(x)))
        return self.head(x.flatten(1, 2).mean(1))


CASES["swin"] = Case(Swin, images, ("script", "trace"), traced_calls=1)


# MobileNetV3: squeeze and excitation with hard activations, channels last.
class SqueezeExcitation(nn.Module):
    def __init__(self, width: int, squeezed: int, activation=nn.ReLU, scale_activation=nn.Hardsigmoid):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(width, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, width, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def _scale(self, x: Tensor) -> Tensor:
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(x)))))

    def forward(self, x: Tensor) -> Tensor:
        return self._scale(x) * x


class MobileNetV3(nn.Module):
    def __init__(self):
        super().__init__()
        layers: List[nn.Module] = [nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.Hardswish()]
        for width_in, width, stride in ((8, 12, 2), (12, 12, 1)):
            hidden = 3 * width_in
            layers += [nn.Conv2d(width_in, hidden, 1), nn.BatchNorm2d(hidden), nn.Hardswish(inplace=True)]
            layers += [
                nn.Conv2d(hidden, hidden, 5, stride, 2, groups=hidden),
                SqueezeExcitation(hidden, 8),
                nn.Conv2d(hidden, width, 1),
            ]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Linear(12, 16), nn.Hardswish(inplace=True), nn.Dropout(p=0.2, inplace=True), nn.Linear(16, 4)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.features(x)
        return self.classifier(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def channels_last_images():
    return [call(each.args[0].contiguous(memory_format=torch.channels_last)) for each in images()]


CASES["mobilenet_v3"] = Case(lambda: settled(MobileNetV3()), images, ("script", "freeze"))
CASES["mobilenet_v3_channels_last"] = Case(
    lambda: settled(MobileNetV3()), channels_last_images, ("trace",), channels_last=True
)


# ConvNeXt V2 with stochastic depth and global response normalisation.
class ResponseNorm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.gamma = nn.Parameter(torch.rand(1, 1, 1, width))
        self.beta = nn.Parameter(torch.zeros(1, 1, 1, width))

    def forward(self, x: Tensor) -> Tensor:
        norm = torch.norm(x, p=2, dim=(1, 2), keepdim=True)
        return self.gamma * (x * (norm / (norm.mean(dim=-1, keepdim=True) + 1e-6))) + self.beta + x


def stochastic_depth(x: Tensor, p: float, mode: str, training: bool = True) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ["batch", "row"]:
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return x
    survival = 1.0 - p
    if mode == "row":
        size = [x.shape[0]] + [1] * (x.ndim - 1)
    else:
        size = [1] * x.ndim
    noise = torch.empty(size, dtype=x.dtype, device=x.device).bernoulli_(survival)
    if survival > 0.0:
        noise.div_(survival)
    return x * noise


class ConvNeXtBlock(nn.Module):
    def __init__(self, width: int, drop: float):
        super().__init__()
        self.drop = drop
        self.depthwise = nn.Conv2d(width, width, kernel_size=7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.grn = ResponseNorm(4 * width)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.down(self.grn(F.gelu(self.up(y)))).permute(0, 3, 1, 2)
        return x + stochastic_depth(y, self.drop, "row", self.training)


class ConvNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 4, 4)
        self.stages = nn.ModuleList([nn.Sequential(*[ConvNeXtBlock(8, 0.1 * i) for i in range(1, 3)])])
        self.head = nn.LazyLinear(4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean([-2, -1]))


def initialised(model, *args):
    """Return a model after the call that initializes its lazy layers."""
    model(*args)
    return model


CASES["convnext_v2"] = Case(
    lambda: initialised(ConvNeXt(), torch.zeros(1, 3, 8, 8)), images, ("trace", "freeze")
)
CASES["convnext_v2_training"] = Case(
    lambda: initialised(ConvNeXt(), torch.zeros(1, 3, 8, 8)),
    lambda: [call(torch.randn(4, 3, 16, 16), seed=3)],
    ("script",),
    training=True,
)


# A vision transformer for any image size: position encodings are interpolated; hooks count activations.
class PlacedTransformer(nn.Module):
    def __init__(self, width: int = 16, grid: int = 4):
        super().__init__()
        self.grid = grid
        self.patch = nn.Conv2d(3, width, 8, 8)
        self.places = nn.Parameter(torch.randn(1, 1 + grid * grid, width) * 0.02)
        self.registers = nn.Parameter(torch.randn(1, 2, width) * 0.02)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        layer = nn.TransformerEncoderLayer(
            width, 4, 24, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def places_of(self, rows: int, columns: int) -> Tensor:
        if rows == self.grid and columns == self.grid:
            return self.places
        grid = self.places[:, 1:].reshape(1, self.grid, self.grid, -1).permute(0, 3, 1, 2)
        grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
        return torch.cat([self.places[:, :1], grid.permute(0, 2, 3, 1).flatten(1, 2)], dim=1)

    def forward(self, x: Tensor, layers: Optional[List[int]] = None) -> Dict[str, Tensor]:
        x = self.patch(x)
        rows, columns = x.shape[-2], x.shape[-1]
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x.flatten(2).mT], 1) + self.places_of(
            rows, columns
        )
        x = torch.cat((x[:, :1], self.registers.expand(x.shape[0], -1, -1), x[:, 1:]), dim=1)
        x = self.encoder(x)
        found = {"class": x[:, 0], "patches": x[:, 3:].unflatten(1, (rows, columns))}
        if layers is not None:
            for i in layers:
                found[f"channel_{i}"] = x[..., i]
        return found


CASES["vit_any_size"] = Case(
    PlacedTransformer,
    lambda: [
        call(torch.randn(2, 3, 32, 32)),
        call(torch.randn(1, 3, 40, 24)),
        call(torch.randn(1, 3, 32, 32), [0, 3]),
    ],
    ("script",),
)


# A mixer, with axes named by einsum, and attention to channels and positions (CBAM).
class MixerBlock(nn.Module):
    def __init__(self, tokens: int, width: int):
        super().__init__()
        self.across = nn.Parameter(torch.randn(tokens, tokens) * 0.2)
        self.within = nn.Parameter(torch.randn(width, width) * 0.2)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.GroupNorm(1, tokens)

    def forward(self, x: Tensor) -> Tensor:
        x = x + F.gelu(torch.einsum("bnc,nm->bmc", self.norm1(x), self.across))
        return x + torch.einsum("b n c, c d -> b n d", self.norm2(x), self.within)


class ChannelsAndPlaces(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.shared = nn.Sequential(nn.Flatten(), nn.Linear(width, 4), nn.ReLU(), nn.Linear(4, width))
        self.conv = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x: Tensor) -> Tensor:
        pooled = self.shared(F.avg_pool2d(x, (x.size(2), x.size(3)))) + self.shared(
            F.adaptive_max_pool2d(x, 1)
        )
        x = x * pooled.sigmoid()[..., None, None]
        compressed = torch.stack((torch.max(x, 1)[0], torch.mean(x, 1)), dim=1)
        return x * torch.sigmoid(self.conv(compressed))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Sequential(nn.Unfold(8, stride=8), nn.Identity())
        self.embed = nn.Linear(192, 12)
        self.blocks = nn.Sequential(*(MixerBlock(16, 12) for _ in range(2)))
        self.attention = ChannelsAndPlaces(12)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.blocks(self.embed(self.patch(x).transpose(1, 2)))
        return self.attention(tokens.permute(0, 2, 1).unflatten(2, [4, 4]))


CASES["mixer"] = Case(
    Mixer, lambda: [call(torch.randn(2, 3, 32, 32)), call(torch.randn(1, 3, 32, 32))], ("trace", "freeze")
)


# Augmentation: random transforms, colors, crops and a perspective, of float or uint8 images.
class Augment(nn.Module):
    mean: List[float]

    def __init__(self):
        super().__init__()
        self.mean = [0.485, 0.456, 0.406]
        self.std = (0.229, 0.224, 0.225)
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    def blended(self, a: Tensor, b: Tensor, ratio: float) -> Tensor:
        bound = 1.0 if a.is_floating_point() else 255.0
        return (ratio * a + (1.0 - ratio) * b).clamp(0, bound).to(a.dtype)

    def gray(self, image: Tensor) -> Tensor:
        r, g, b = image.unbind(dim=-3)
        return (0.2989 * r + 0.587 * g + 0.114 * b).to(image.dtype).unsqueeze(dim=-3)

    @torch.jit.export
    def perspective(self, image: Tensor, start: List[List[int]], end: List[List[int]]) -> Tensor:
        a = torch.zeros(2 * len(start), 8, dtype=torch.float64)
        for i, (p1, p2) in enumerate(zip(end, start)):
            a[2 * i, :] = torch.tensor([p1[0], p1[1], 1, 0, 0, 0, -p2[0] * p1[0], -p2[0] * p1[1]])
            a[2 * i + 1, :] = torch.tensor([0, 0, 0, p1[0], p1[1], 1, -p2[1] * p1[0], -p2[1] * p1[1]])
        b = torch.tensor(start, dtype=torch.float64).view(8)
        solution = torch.linalg.lstsq(a, b.unsqueeze(1), driver="gels").solution
        c: List[float] = solution.squeeze(1).to(torch.float32).tolist()
        return self.warped(image, c)

    def warped(self, image: Tensor, c: List[float]) -> Tensor:
        h, w = image.shape[-2], image.shape[-1]
        y, x = torch.meshgrid(
            torch.arange(h, dtype=torch.float32), torch.arange(w, dtype=torch.float32), indexing="ij"
        )
        scale = c[6] * x + c[7] * y + 1.0
        u, v = (c[0] * x + c[1] * y + c[2]) / scale, (c[3] * x + c[4] * y + c[5]) / scale
        grid = torch.stack([2.0 * u / (w - 1) - 1.0, 2.0 * v / (h - 1) - 1.0], dim=-1).unsqueeze(0)
        return (
            F.grid_sample(image.to(torch.float32)[None], grid, align_corners=True)[0].round().to(image.dtype)
        )

    def forward(self, image: Tensor, size: List[int]) -> Tensor:
        if image.dtype not in (torch.uint8, torch.float32):
            raise TypeError("neither uint8 nor float32")
        self.seen += 1
        order: List[int] = torch.randperm(3).tolist()
        for step in order:
            factor = float(torch.empty(1).uniform_(0.6, 1.4))
            if step == 0:
                image = self.blended(image, torch.zeros_like(image), factor)
            elif step == 1:
                mean = torch.mean(self.gray(image).to(torch.float32), dim=(-3, -2, -1), keepdim=True)
                image = self.blended(image, mean, factor)
            else:
                image = self.blended(image, self.gray(image), factor)
        if torch.rand(1).item() < 0.5:
            image = image.flip(-1)
        i = int(torch.randint(0, image.shape[-2] - size[0] + 1, (1,)).item())
        j = int(torch.randint(0, image.shape[-1] - size[1] + 1, size=(1,)).item())
        image = image[..., i : i + size[0], j : j + size[1]].to(torch.float32) / 255
        mean, std = (
            torch.as_tensor(self.mean, dtype=image.dtype),
            torch.as_tensor(self.std, dtype=image.dtype),
        )
        return image.sub(mean.view(-1, 1, 1)).div_(std.view(-1, 1, 1))


def photos():
    photo = torch.randint(0, 256, (3, 20, 24), dtype=torch.uint8)
    corners = [[0, 0], [23, 0], [23, 19], [0, 19]]
    moved = [[2, 1], [20, 0], [23, 17], [1, 19]]
    return [
        *(call(photo, [16, 16], seed=seed) for seed in range(4)), call(photo.float(), [8, 12], seed=9),
        call(photo, corners, moved, method="perspective"),
    ]  # fmt: skip


CASES["augmentation"] = Case(Augment, photos, ("script", "freeze"))
