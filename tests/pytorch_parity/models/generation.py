"""Generative models: adversarial networks, autoencoders, diffusion, flows and autoregressive sampling."""

import math
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.pytorch_parity.models import Case, call

CASES = {}


# Adversarial networks
class DCGAN(nn.Module):
    def __init__(self, latent: int = 8, width: int = 8):
        super().__init__()
        self.latent = latent
        self.generator = nn.Sequential(
            nn.ConvTranspose2d(latent, 2 * width, 4, 1, 0, bias=False), nn.BatchNorm2d(2 * width), nn.ReLU(True),
            nn.ConvTranspose2d(2 * width, width, 4, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True),
            nn.ConvTranspose2d(width, 3, 3, 2, 1, output_padding=1, bias=False), nn.Tanh(),
        )  # fmt: skip
        self.discriminator = nn.Sequential(
            nn.Conv2d(3, width, 4, 2, 1),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width, 1, 8, 1, 0),
            nn.Sigmoid(),
        )
        self.apply(self.initialise)

    @staticmethod
    def initialise(m: nn.Module) -> None:
        name = m.__class__.__name__
        if name.find("Conv") != -1:
            nn.init.normal_(m.weight.data, 0.0, 0.2)
        elif name.find("BatchNorm") != -1:
            nn.init.normal_(m.weight.data, 1.0, 0.02)
            nn.init.constant_(m.bias.data, 0)

    @torch.jit.export
    def sample(self, count: int) -> Tensor:
        return self.generator(torch.randn(count, self.latent, 1, 1))

    def forward(self, z: Tensor) -> Tuple[Tensor, Tensor]:
        images = self.generator(z)
        return images, self.discriminator(images).view(-1)


CASES["dcgan"] = Case(
    DCGAN, lambda: [call(torch.randn(2, 8, 1, 1)), call(2, method="sample", seed=3)], ("script", "freeze")
)
CASES["dcgan_training"] = Case(
    DCGAN,
    lambda: [call(torch.randn(4, 8, 1, 1)), call(2, method="sample", seed=3)],
    ("script",),
    training=True,
)


class EqualLinear(nn.Module):
    def __init__(self, inputs: int, outputs: int, rate: float = 0.1):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs).div_(rate))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.scale, self.rate = rate / math.sqrt(inputs), rate

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight * self.scale, bias=self.bias * self.rate)


class ModulatedConv(nn.Module):
    def __init__(self, inputs: int, outputs: int, style: int, demodulate: bool = True, up: bool = False):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, outputs, inputs, 3, 3))
        self.modulation = EqualLinear(style, inputs)
        self.demodulate, self.up = demodulate, up
        kernel = torch.tensor([1.0, 3.0, 3.0, 1.0])
        self.register_buffer("kernel", torch.outer(kernel, kernel) / kernel.sum() ** 2 * 4)

    def forward(self, x: Tensor, style: Tensor) -> Tensor:
        b, c, h, w = x.shape
        style = self.modulation(style).view(b, 1, c, 1, 1) + 1
        weight = (1 / math.sqrt(c * 9)) * self.weight * style
        if self.demodulate:
            weight = weight * torch.rsqrt(weight.pow(2).sum([2, 3, 4]) + 1e-8).view(b, -1, 1, 1, 1)
        outputs = weight.size(1)
        x = x.reshape(1, b * c, h, w)
        if self.up:
            weight = weight.transpose(1, 2).reshape(b * c, outputs, 3, 3)
            out = F.conv_transpose2d(x, weight, padding=0, stride=2, groups=b)
            out = out.view(b, outputs, out.size(2), out.size(3))
            blur = self.kernel.repeat(outputs, 1, 1, 1)
            return F.conv2d(F.pad(out, [1, 1, 1, 1]), blur, groups=outputs)
        out = F.conv2d(x, weight.view(b * outputs, c, 3, 3), padding=1, groups=b)
        return out.view(b, outputs, h, w)


class StyleGAN(nn.Module):
    def __init__(self, width: int = 6, style: int = 8):
        super().__init__()
        self.mapping = nn.Sequential(
            *[m for _ in range(2) for m in (EqualLinear(style, style), nn.LeakyReLU(0.2))]
        )
        self.constant = nn.Parameter(torch.randn(1, width, 4, 4))
        self.convs = nn.ModuleList(
            [ModulatedConv(width, width, style, up=True), ModulatedConv(width, width, style)]
        )
        self.noise = nn.ParameterList([nn.Parameter(torch.full((1,), 0.1)) for _ in range(2)])
        self.rgb = ModulatedConv(width, 3, style, demodulate=False)
        self.register_buffer("mean_style", torch.randn(style) * 0.1)

    def forward(self, z: Tensor, truncation: float = 0.7) -> Tensor:
        z = z * torch.rsqrt(torch.mean(z**2, dim=1, keepdim=True) + 1e-8)
        style = torch.lerp(self.mean_style, self.mapping(z), truncation)
        x = self.constant.repeat(z.size(0), 1, 1, 1)
        for i, conv in enumerate(self.convs):
            x = conv(x, style)
            x = F.leaky_relu(x + 0.1 * torch.randn(x.size(0), 1, x.size(2), x.size(3)), 0.2) * 2**0.5
        return self.rgb(x, style)


CASES["stylegan"] = Case(
    StyleGAN,
    lambda: [call(torch.randn(2, 8), seed=1), call(torch.randn(1, 8), 1.0, seed=2)],
    ("script", "freeze"),
)


# Autoencoders
class VAEOutput(NamedTuple):
    reconstruction: Tensor
    mean: Tensor
    log_variance: Tensor
    loss: Tensor


class VAE(nn.Module):
    def __init__(self, classes: int = 3, latent: int = 4):
        super().__init__()
        self.embed = nn.Embedding(classes, 6)
        self.encoder = nn.Sequential(nn.Linear(16 + 6, 12), nn.ELU())
        self.mean, self.log_variance = nn.Linear(12, latent), nn.Linear(12, latent)
        self.decoder = nn.Sequential(nn.Linear(latent + 6, 12), nn.ELU(), nn.Linear(12, 16))
        self.register_buffer("unconditional", torch.randn(6))

    def condition(self, label: Optional[Tensor], count: int) -> Tensor:
        if label is None:
            return self.unconditional.expand(count, -1)
        return self.embed(label)

    def reparameterise(self, mean: Tensor, log_variance: Tensor) -> Tensor:
        return mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)

    def forward(self, x: Tensor, label: Optional[Tensor] = None) -> VAEOutput:
        c = self.condition(label, x.size(0))
        h = self.encoder(torch.cat([x.flatten(1), c], -1))
        mean, log_variance = self.mean(h), self.log_variance(h).clamp(-4.0, 4.0)
        out = self.decoder(torch.cat([self.reparameterise(mean, log_variance), c], -1)).sigmoid()
        bce = F.binary_cross_entropy(out, x.flatten(1), reduction="sum")
        kl = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        return VAEOutput(out.view_as(x), mean, log_variance, bce + kl)

    @torch.jit.export
    def between(self, a: Tensor, b: Tensor, steps: int, label: Optional[int] = None) -> List[Tensor]:
        frames = torch.jit.annotate(List[Tensor], [])
        for i in range(steps):
            z = torch.lerp(a, b, i / max(1, steps - 1))
            c = self.condition(torch.tensor([label]) if label is not None else None, 1)
            frames.append(torch.sigmoid(self.decoder(torch.cat([z[None], c], 1)))[0])
        return frames


CASES["vae"] = Case(
    VAE,
    lambda: [
        call(torch.rand(2, 4, 4), seed=1), call(torch.rand(2, 4, 4), torch.tensor([0, 2]), seed=2),
        call(torch.randn(4), torch.randn(4), 3, method="between"), call(torch.randn(4), torch.randn(4), 2, 1, method="between"),
    ],
    ("script", "freeze"),
)  # fmt: skip


class VQVAE(nn.Module):
    """VQ-VAE with a codebook that is updated by moving averages in training."""

    def __init__(self, entries: int = 8, width: int = 4, decay: float = 0.9):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, width, 4, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 1))
        self.decoder = nn.ConvTranspose2d(width, 1, 4, 2, 1)
        self.decay = decay
        codes = torch.randn(entries, width)
        self.register_buffer("codes", codes)
        self.register_buffer("counts", torch.ones(entries))
        self.register_buffer("sums", codes.clone())

    def quantise(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        flat = x.permute(0, 2, 3, 1).contiguous().view(-1, x.size(1))
        distances = flat.pow(2).sum(1, keepdim=True) + self.codes.pow(2).sum(1) - 2 * flat @ self.codes.t()
        index = torch.argmin(distances, dim=1)
        if self.training:
            hot = F.one_hot(index, self.codes.size(0)).type_as(flat)
            self.counts.mul_(self.decay).add_(hot.sum(0), alpha=1 - self.decay)
            self.sums.mul_(self.decay).add_(hot.t() @ flat, alpha=1 - self.decay)
            self.codes.copy_(self.sums / self.counts.clamp(min=1e-5).unsqueeze(1))
        picked = F.embedding(index, self.codes).view(x.size(0), x.size(2), x.size(3), -1).permute(0, 3, 1, 2)
        loss = F.mse_loss(picked.detach(), x) * 0.25 + F.mse_loss(picked, x.detach())
        return x + (picked - x).detach(), index.view(x.size(0), -1), loss

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        z, index, loss = self.quantise(self.encoder(x))
        return {"image": self.decoder(z), "codes": index, "loss": loss}


CASES["vqvae"] = Case(VQVAE, lambda: [call(torch.randn(2, 1, 8, 8))], ("script", "freeze"))
CASES["vqvae_training"] = Case(
    VQVAE, lambda: [call(torch.randn(2, 1, 8, 8)), call(torch.randn(2, 1, 8, 8))], ("script",), training=True
)


# Diffusion: a U-Net with time embeddings, and two samplers.
def time_embedding(t: Tensor, width: int, longest: int = 10000) -> Tensor:
    half = width // 2
    rates = torch.exp(-math.log(longest) * torch.arange(start=0, end=half, dtype=torch.float32) / half)
    angles = t[:, None].float() * rates[None]
    embedding = torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)
    if width % 2:
        embedding = torch.cat([embedding, torch.zeros_like(embedding[:, :1])], dim=-1)
    return embedding


class ResidualBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, time: int):
        super().__init__()
        self.first = nn.Sequential(
            nn.GroupNorm(2, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, padding=1)
        )
        self.time = nn.Linear(time, 2 * outputs)
        self.norm = nn.GroupNorm(2, outputs)
        self.last = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        h = self.first(x)
        scale, shift = self.time(F.silu(t))[..., None, None].chunk(2, dim=1)
        return self.skip(x) + self.last(F.silu(self.norm(h) * (1 + scale) + shift))


class AttentionBlock(nn.Module):
    def __init__(self, width: int, heads: int = 2):
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(2, width), heads
        self.qkv, self.out = nn.Conv1d(width, 3 * width, 1), nn.Conv1d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        b, c, height, width = x.shape
        q, k, v = (
            self.qkv(self.norm(x).flatten(2)).reshape(b * self.heads, -1, height * width).chunk(3, dim=1)
        )
        weights = torch.softmax(torch.einsum("bct,bcs->bts", q, k) / math.sqrt(c // self.heads), dim=-1)
        return x + self.out(torch.einsum("bts,bcs->bct", weights, v).reshape(b, c, -1)).view_as(x)


class DiffusionUNet(nn.Module):
    def __init__(self, width: int = 4, time: int = 8):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.enter = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.ModuleList([ResidualBlock(width, width, time), ResidualBlock(width, 2 * width, time)])
        self.shrink = nn.ModuleList([nn.Conv2d(w, w, 3, 2, 1) for w in (width, 2 * width)])
        self.middle = nn.ModuleDict(
            {"a": ResidualBlock(2 * width, 2 * width, time), "b": ResidualBlock(2 * width, 2 * width, time)}
        )
        self.attention = AttentionBlock(2 * width)
        self.up = nn.ModuleList(
            [ResidualBlock(4 * width, width, time), ResidualBlock(2 * width, width, time)]
        )
        self.leave = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        t = self.time(time_embedding(t, self.width))
        x = self.enter(x)
        skips: List[Tensor] = []
        for block, shrink in zip(self.down, self.shrink):
            x = block(x, t)
            skips.append(x)
            x = shrink(x)
        x = self.middle["b"](self.attention(self.middle["a"](x, t)), t)
        for block in self.up:
            skip = skips.pop()
            x = F.interpolate(x, size=skip.shape[2:], mode="nearest")
            x = block(torch.cat((x, skip), dim=1), t)
        return self.leave(x)


class Diffusion(nn.Module):
    def __init__(self, steps: int = 20):
        super().__init__()
        self.net = DiffusionUNet()
        self.steps = steps
        betas = torch.linspace(1e-4, 0.2, steps, dtype=torch.float64)
        kept = torch.cumprod(1.0 - betas, dim=0)
        self.register_buffer("betas", betas.float())
        self.register_buffer("kept", kept.float())

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        noise = torch.randn_like(x)
        kept = self.kept.gather(0, t).view(-1, 1, 1, 1)
        noisy = kept.sqrt() * x + (1 - kept).sqrt() * noise
        return F.smooth_l1_loss(self.net(noisy, t), noise)

    @torch.jit.export
    def ddim(self, x: Tensor, count: int = 3, eta: float = 0.0) -> List[Tensor]:
        times: List[int] = torch.linspace(0, self.steps - 1, count).long().flip(0).tolist()
        frames: List[Tensor] = []
        for i, t in enumerate(times):
            now = self.kept[t]
            after = self.kept[times[i + 1]] if i + 1 < len(times) else torch.tensor(1.0)
            noise = self.net(x, torch.full((x.size(0),), t, dtype=torch.long))
            clean = ((x - (1 - now).sqrt() * noise) / now.sqrt()).clamp(-1, 1)
            sigma = eta * torch.sqrt((1 - after) / (1 - now) * (1 - now / after))
            x = after.sqrt() * clean + torch.sqrt(1 - after - sigma**2) * noise
            if eta > 0:
                x += sigma * torch.randn_like(x)
            frames.append(x)
        return frames

    @torch.jit.export
    def ddpm(self, shape: List[int], last: int) -> Tensor:
        x = torch.randn(shape)
        for t in range(self.steps - 1, last - 1, -1):
            beta, kept = self.betas[t], self.kept[t]
            mean = (
                x - beta / torch.sqrt(1 - kept) * self.net(x, torch.tensor([t]).expand(shape[0]))
            ) / torch.sqrt(1 - beta)
            x = mean + beta.sqrt() * torch.randn_like(x) if t > 0 else mean
        return x


CASES["diffusion"] = Case(
    Diffusion,
    lambda: [
        call(torch.randn(2, 1, 8, 8), torch.tensor([3, 15]), seed=1), call(torch.randn(1, 1, 8, 8), method="ddim"),
        call(torch.randn(1, 1, 10, 8), 2, 0.5, method="ddim", seed=2), call([1, 1, 8, 8], 18, method="ddpm", seed=3),
    ],
    ("script",),
)  # fmt: skip
CASES["diffusion_net"] = Case(
    DiffusionUNet, lambda: [call(torch.randn(2, 1, 8, 8), torch.tensor([3, 15]))], ("trace", "freeze")
)


# Flows: invertible steps with log-determinants.
class Coupling(nn.Module):
    def __init__(self, width: int, mask: Tensor):
        super().__init__()
        self.register_buffer("mask", mask)
        self.scale = nn.Sequential(nn.Linear(width, 8), nn.Tanh(), nn.Linear(8, width), nn.Tanh())
        self.shift = nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, width))

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        fixed = x * self.mask
        s, t = self.scale(fixed) * (1 - self.mask), self.shift(fixed) * (1 - self.mask)
        return fixed + (1 - self.mask) * (x * torch.exp(s) + t), s.sum(-1)

    @torch.jit.export
    def inverse(self, y: Tensor) -> Tensor:
        fixed = y * self.mask
        s, t = self.scale(fixed), self.shift(fixed)
        return fixed + (1 - self.mask) * ((y - t) * torch.exp(-s))


class Mixing(nn.Module):
    """Invertible 1x1 convolution by an LU decomposition, as in Glow."""

    def __init__(self, width: int):
        super().__init__()
        q, _ = torch.linalg.qr(torch.randn(width, width))
        p, lower, upper = torch.linalg.lu(q)
        self.register_buffer("p", p)
        self.lower, self.upper = nn.Parameter(lower), nn.Parameter(upper)

    def matrix(self) -> Tensor:
        eye = torch.eye(self.p.size(0))
        return self.p @ (self.lower.tril(-1) + eye) @ self.upper.triu()

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        w = self.matrix()
        return x @ w, torch.slogdet(w)[1].expand(x.size(0))

    @torch.jit.export
    def inverse(self, y: Tensor) -> Tensor:
        return torch.linalg.solve(self.matrix(), y, left=False)


class Flow(nn.Module):
    def __init__(self, width: int = 4, depth: int = 2):
        super().__init__()
        masks = [(torch.arange(width) % 2 == i % 2).float() for i in range(depth)]
        self.couplings = nn.ModuleList([Coupling(width, mask) for mask in masks])
        self.mixings = nn.ModuleList([Mixing(width) for _ in range(depth)])
        self.register_buffer("log_norm", torch.tensor(0.5 * math.log(2 * math.pi) * width))

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        total = torch.zeros(x.size(0))
        for coupling, mixing in zip(self.couplings, self.mixings):
            x, d = coupling(x)
            total += d
            x, d = mixing(x)
            total += d
        return x, total - 0.5 * x.square().sum(1) - self.log_norm

    @torch.jit.export
    def inverse(self, y: Tensor) -> Tensor:
        for coupling, mixing in zip(self.couplings[::-1], self.mixings[::-1]):
            y = coupling.inverse(mixing.inverse(y))
        return y


CASES["flow"] = Case(
    Flow, lambda: [call(torch.randn(3, 4)), call(torch.randn(2, 4), method="inverse")], ("script", "freeze")
)


# Autoregressive models: masked convolutions and masked layers.
class MaskedConv(nn.Conv2d):
    def __init__(self, kind: str, *args, **options):
        super().__init__(*args, **options)
        mask = torch.ones_like(self.weight)
        h, w = mask.shape[-2:]
        mask[:, :, h // 2, w // 2 + (kind == "B") :] = 0
        mask[:, :, h // 2 + 1 :] = 0
        self.register_buffer("mask", mask)

    def forward(self, x: Tensor) -> Tensor:
        return self._conv_forward(x, self.weight * self.mask, self.bias)


class PixelCNN(nn.Module):
    def __init__(self, levels: int = 4, width: int = 6):
        super().__init__()
        self.levels = levels
        self.layers = nn.Sequential(
            MaskedConv("A", 1, width, 5, padding=2),
            nn.ReLU(),
            MaskedConv("B", width, width, 3, padding=1),
            nn.ReLU(),
        )
        self.head = nn.Conv2d(width, levels, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(x))

    @torch.jit.export
    def sample(self, count: int, size: int) -> Tensor:
        x = torch.full((count, 1, size, size), -1.0)
        for i in range(size):
            for j in range(size):
                chances = F.softmax(self.forward(x)[:, :, i, j], dim=-1)
                x[:, 0, i, j] = torch.multinomial(chances, 1).squeeze(-1).float() / (self.levels - 1) * 2 - 1
        return x


CASES["pixelcnn"] = Case(
    PixelCNN,
    lambda: [call(torch.randn(2, 1, 6, 6)), call(2, 3, method="sample", seed=5)],
    ("script", "freeze"),
)


class MADE(nn.Module):
    def __init__(self, inputs: int = 5, hidden: int = 12, components: int = 2):
        super().__init__()
        degrees = torch.arange(hidden) % (inputs - 1)
        self.a, self.b = nn.Linear(inputs, hidden), nn.Linear(hidden, 3 * components * inputs)
        self.register_buffer("mask_a", (degrees[:, None] >= torch.arange(inputs)[None, :]).float())
        self.register_buffer(
            "mask_b", (torch.arange(inputs)[:, None] > degrees[None, :]).float().repeat(3 * components, 1)
        )
        self.components = components

    def parameters_of(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        h = F.relu(F.linear(x, self.a.weight * self.mask_a, self.a.bias))
        out = F.linear(h, self.b.weight * self.mask_b, self.b.bias).view(
            x.size(0), 3, self.components, x.size(1)
        )
        return F.log_softmax(out[:, 0], dim=1), out[:, 1], out[:, 2].clamp(-3, 3)

    def forward(self, x: Tensor) -> Tensor:
        weights, means, scales = self.parameters_of(x)
        z = (x.unsqueeze(1) - means) * torch.exp(-scales)
        return torch.logsumexp(weights - 0.5 * z**2 - scales - 0.5 * math.log(2 * math.pi), dim=1).sum(-1)

    @torch.jit.export
    def sample(self, count: int) -> Tensor:
        x = torch.zeros(count, self.mask_a.size(1))
        rows = torch.arange(count)
        for i in range(x.size(1)):
            weights, means, scales = self.parameters_of(x)
            which = torch.multinomial(weights[:, :, i].exp(), 1).squeeze(1)
            x[:, i] = torch.normal(means[rows, which, i], scales[rows, which, i].exp())
        return x


CASES["made"] = Case(
    MADE, lambda: [call(torch.randn(3, 5)), call(2, method="sample", seed=4)], ("script", "freeze")
)
CASES["made_traced"] = Case(MADE, lambda: [call(torch.randn(3, 5)), call(torch.randn(3, 5))], ("trace",))


# Optimal transport and energy-based models
class Sinkhorn(nn.Module):
    def __init__(self, epsilon: float = 0.1, turns: int = 20):
        super().__init__()
        self.epsilon, self.turns = epsilon, turns

    def forward(self, x: Tensor, y: Tensor) -> Tuple[Tensor, Tensor, int]:
        cost = torch.cdist(x, y, p=2.0) ** 2
        mu, nu = torch.full((x.size(0),), 1.0 / x.size(0)), torch.full((y.size(0),), 1.0 / y.size(0))
        u, v = torch.zeros_like(mu), torch.zeros_like(nu)
        done = self.turns
        for i in range(self.turns):
            before = u
            kernel = (-cost + u.unsqueeze(1) + v.unsqueeze(0)) / self.epsilon
            u = self.epsilon * (torch.log(mu + 1e-8) - torch.logsumexp(kernel, dim=-1)) + u
            kernel = (-cost + u.unsqueeze(-1) + v.unsqueeze(-2)) / self.epsilon
            v = self.epsilon * (torch.log(nu + 1e-8) - torch.logsumexp(kernel.mT, dim=-1)) + v
            if (u - before).abs().sum().item() < 1e-2:
                done = i
                break
        plan = torch.exp((-cost + u[:, None] + v[None, :]) / self.epsilon)
        return (plan * cost).sum(), plan, done


CASES["sinkhorn"] = Case(Sinkhorn, lambda: [call(torch.randn(5, 2), torch.randn(4, 2))], ("script", "freeze"))


class Boltzmann(nn.Module):
    def __init__(self, visible: int = 8, hidden: int = 5):
        super().__init__()
        self.w = nn.Parameter(torch.randn(hidden, visible) * 0.3)
        self.v_bias, self.h_bias = nn.Parameter(torch.zeros(visible)), nn.Parameter(torch.zeros(hidden))

    @torch.jit.export
    def free_energy(self, v: Tensor) -> Tensor:
        return -v.mv(self.v_bias) - F.softplus(F.linear(v, self.w, self.h_bias)).sum(1)

    def forward(self, v: Tensor, turns: int = 3) -> Tuple[Tensor, Tensor]:
        h = torch.sigmoid(F.linear(v, self.w, self.h_bias)).bernoulli()
        for _ in range(turns):
            v = torch.bernoulli(torch.sigmoid(F.linear(h, self.w.t(), self.v_bias)))
            h = torch.bernoulli(torch.sigmoid(F.linear(v, self.w, self.h_bias)))
        return v, h


CASES["boltzmann"] = Case(
    Boltzmann,
    lambda: [call(torch.ones(3, 8), seed=6), call(torch.eye(8)[:4], method="free_energy")],
    ("script", "freeze"),
)
