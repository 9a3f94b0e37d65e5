"""Features of images and signals without learning: gradients, filters, corners, motion, states, decompositions."""

import math
from enum import Enum
from typing import Dict, List, NamedTuple, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.pytorch_parity.models import Case, call

CASES = {}


def picture(height: int = 24, width: int = 28):
    """Return images of smooth shapes with edges."""
    y, x = torch.meshgrid(torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij")
    return (
        torch.sin(4 * x + 2 * y) * 0.3
        + ((x - 0.2) ** 2 + y**2 < 0.2).float() * 0.5
        + 0.02 * torch.randn(height, width)
    )


def pictures():
    return [call(picture()[None, None]), call(picture(20, 16)[None, None])]


def gaussian(sigma: float, radius: int) -> Tensor:
    x = torch.arange(-radius, radius + 1, dtype=torch.float32)
    k = torch.exp(-(x**2) / (2 * sigma**2))
    return k / k.sum()


def blurred(image: Tensor, sigma: float) -> Tensor:
    radius = math.ceil(2.5 * sigma)
    k = gaussian(sigma, radius).to(image.dtype)
    image = F.pad(image, [radius, radius, radius, radius], mode="reflect")
    return F.conv2d(F.conv2d(image, k.view(1, 1, 1, -1)), k.view(1, 1, -1, 1))


# Gradients of images
class HOG(nn.Module):
    def __init__(self, bins: int = 9, cell: int = 4, block: int = 2):
        super().__init__()
        self.bins, self.cell, self.block = bins, cell, block
        self.register_buffer("kernel", torch.tensor([[[[-1.0, 0.0, 1.0]]]]))

    def forward(self, image: Tensor) -> Tuple[Tensor, Tensor]:
        gx = F.conv2d(F.pad(image, (1, 1, 0, 0), mode="replicate"), self.kernel)
        gy = F.conv2d(F.pad(image, (0, 0, 1, 1), mode="replicate"), self.kernel.transpose(2, 3))
        magnitude = torch.hypot(gx, gy)
        angle = torch.rad2deg(torch.atan2(gy, gx)) % 180.0
        place = angle / (180.0 / self.bins) - 0.5
        low = torch.floor(place)
        share = place - low
        low = low.long() % self.bins
        b, _, h, w = image.shape
        histogram = torch.zeros(b, self.bins, h, w)
        histogram.scatter_add_(1, low, magnitude * (1 - share))
        histogram.scatter_add_(1, (low + 1) % self.bins, magnitude * share)
        cells = F.avg_pool2d(histogram, self.cell) * self.cell**2
        blocks = cells.unfold(2, self.block, 1).unfold(3, self.block, 1).permute(0, 2, 3, 1, 4, 5).flatten(3)
        blocks = blocks / torch.sqrt(blocks.pow(2).sum(-1, keepdim=True) + 1e-5)
        blocks = blocks.clamp(max=0.2)
        return F.normalize(blocks, dim=-1).flatten(1), cells


CASES["hog"] = Case(HOG, pictures, traced_calls=1)


class Canny(nn.Module):
    def __init__(self, low: float = 0.1, high: float = 0.25):
        super().__init__()
        self.low, self.high = low, high
        sobel = torch.tensor([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]])
        self.register_buffer("sobel", torch.stack([sobel, sobel.t()]).unsqueeze(1))

    def forward(self, image: Tensor) -> Dict[str, Tensor]:
        grad = F.conv2d(F.pad(blurred(image, 1.0), [1] * 4, "replicate"), self.sobel)
        magnitude, angle = grad.norm(2, dim=1), torch.atan2(grad[:, 1], grad[:, 0])
        sector = torch.round(angle / (math.pi / 4)).to(torch.int64) % 4
        padded = F.pad(magnitude, (1, 1, 1, 1))
        h, w = magnitude.shape[-2:]
        keep = torch.zeros_like(magnitude, dtype=torch.bool)
        for k, (dy, dx) in enumerate([(0, 1), (1, 1), (1, 0), (1, -1)]):
            ahead = padded[:, 1 + dy : 1 + dy + h, 1 + dx : 1 + dx + w]
            behind = padded[:, 1 - dy : 1 - dy + h, 1 - dx : 1 - dx + w]
            keep |= (sector == k) & (magnitude >= ahead) & (magnitude > behind)
        thin = magnitude * keep
        strong, weak = thin > self.high, thin > self.low
        count, turns = -1, 0
        while int(strong.sum()) != count:
            count = int(strong.sum())
            near = F.max_pool2d(strong.float().unsqueeze(1), 3, 1, 1).squeeze(1) > 0
            strong = strong | (near & weak)
            turns += 1
        return {"edges": strong, "magnitude": thin, "turns": torch.tensor(turns)}


CASES["canny"] = Case(Canny, pictures, ("script", "freeze"))


# Filters by frequency and direction, textures
class Gabor(nn.Module):
    def __init__(self, scales: Tuple[float, ...] = (2.0, 3.0), directions: int = 4, size: int = 9):
        super().__init__()
        kernels = []
        half = size // 2
        y, x = torch.meshgrid(torch.arange(-half, half + 1.0), torch.arange(-half, half + 1.0), indexing="ij")
        for sigma in scales:
            for d in range(directions):
                theta = math.pi * d / directions
                u = x * math.cos(theta) + y * math.sin(theta)
                v = -x * math.sin(theta) + y * math.cos(theta)
                envelope = torch.exp(-(u**2 + 0.5 * v**2) / (2 * sigma**2))
                kernels.append(envelope * torch.exp(1j * 2 * math.pi * u / (2.5 * sigma)))
        self.register_buffer("bank", torch.stack(kernels)[:, None])
        self.half = half

    def forward(self, image: Tensor) -> Tuple[Tensor, Tensor]:
        bank = torch.view_as_real(self.bank)
        re = F.conv2d(image, bank[..., 0].contiguous(), padding=self.half)
        im = F.conv2d(image, bank[..., 1].contiguous(), padding=self.half)
        response = torch.complex(re, im)
        energy = response.abs()
        stats = torch.stack(
            [energy.mean((2, 3)), energy.std(dim=(2, 3)), energy.flatten(2).median(2).values], -1
        )
        return stats, response.angle().mul(energy > energy.mean())


CASES["gabor"] = Case(Gabor, pictures, traced_calls=1)


class LocalPatterns(nn.Module):
    """Binary patterns, integral images, moments and co-occurrences."""

    offsets: List[Tuple[int, int]]

    def __init__(self):
        super().__init__()
        self.offsets = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
        self.levels = 6

    @torch.jit.export
    def co_occurrence(self, image: Tensor, dy: int, dx: int) -> Tuple[Tensor, Dict[str, float]]:
        low, high = torch.aminmax(image)
        q = ((image - low) / (high - low + 1e-9) * self.levels).long().clamp_(max=self.levels - 1)
        h, w = q.shape
        pairs = q[: h - dy, : w - dx] * self.levels + q[dy:, dx:]
        p = (
            torch.bincount(pairs.flatten(), minlength=self.levels * self.levels)
            .view(self.levels, self.levels)
            .float()
        )
        p = p + p.t()
        p /= p.sum()
        i, j = torch.meshgrid(torch.arange(self.levels), torch.arange(self.levels), indexing="ij")
        found = {"contrast": float((p * (i - j) ** 2).sum()), "energy": float(p.square().sum())}
        found["homogeneity"] = float((p / (1 + (i - j).abs())).sum())
        found["entropy"] = float(-torch.special.xlogy(p, p).sum())
        return p, found

    def forward(self, image: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        plane = image[0, 0]
        centre = plane[1:-1, 1:-1]
        code = torch.zeros_like(centre, dtype=torch.uint8)
        for bit, (dy, dx) in enumerate(self.offsets):
            near = plane[1 + dy : plane.size(0) - 1 + dy, 1 + dx : plane.size(1) - 1 + dx]
            code |= (near >= centre).to(torch.uint8) << bit
        histogram = torch.histc(code.float(), bins=16, min=0, max=256)
        integral = F.pad(plane.cumsum(0).cumsum(1), (1, 0, 1, 0))
        box = integral[5:, 5:] - integral[:-5, 5:] - integral[5:, :-5] + integral[:-5, :-5]
        y, x = torch.arange(plane.size(0)).float(), torch.arange(plane.size(1)).float()
        m = plane.abs()
        total = m.sum()
        cy, cx = (m.sum(1) @ y) / total, (m.sum(0) @ x) / total
        central = [
            ((y[:, None] - cy) ** p * (x[None, :] - cx) ** q * m).sum() / total
            for p, q in [(2, 0), (0, 2), (1, 1), (3, 0)]
        ]
        return histogram / code.numel(), box, torch.stack(central)


CASES["local_patterns"] = Case(
    LocalPatterns, lambda: [*pictures(), call(picture(), 1, 2, method="co_occurrence")], ("script", "freeze")
)


# Key points in scale space, with directions and descriptors
class KeyPoint(NamedTuple):
    x: float
    y: float
    scale: float
    angle: float
    strength: float


class ScaleSpace(nn.Module):
    def __init__(self, levels: int = 4, octaves: int = 2, threshold: float = 0.01):
        super().__init__()
        self.levels, self.octaves, self.threshold = levels, octaves, threshold
        self.k = 2 ** (1.0 / (levels - 2))

    def pyramid(self, image: Tensor) -> List[Tensor]:
        found: List[Tensor] = []
        for octave in range(self.octaves):
            stack = torch.cat([blurred(image, 1.2 * self.k**i) for i in range(self.levels)], 1)
            found.append(stack)
            image = stack[:, -2:-1, ::2, ::2]
        return found

    def direction(self, image: Tensor, y: int, x: int) -> float:
        patch = image[max(0, y - 4) : y + 5, max(0, x - 4) : x + 5]
        gy, gx = torch.gradient(patch)
        angle = torch.atan2(gy, gx)
        bins = ((angle + math.pi) / (2 * math.pi) * 36).long().clamp(0, 35)
        histogram = torch.zeros(36).index_put_(
            (bins.flatten(),), torch.sqrt(gx**2 + gy**2).flatten(), accumulate=True
        )
        smooth = (torch.roll(histogram, 1) + histogram + torch.roll(histogram, -1)) / 3
        return float(smooth.argmax()) * 10.0

    def forward(self, image: Tensor) -> List[KeyPoint]:
        points: List[KeyPoint] = []
        for octave, stack in enumerate(self.pyramid(image)):
            dog = (stack[:, 1:] - stack[:, :-1]).unsqueeze(1)
            strength = dog.abs()
            peaks = (F.max_pool3d(strength, 3, 1, 1) == strength) & (strength > self.threshold)
            where = peaks[0, 0, 1:-1].nonzero()
            for place in where:
                s, y, x = int(place[0]) + 1, int(place[1]), int(place[2])
                points.append(
                    KeyPoint(
                        float(x * 2**octave),
                        float(y * 2**octave),
                        1.2 * self.k**s,
                        self.direction(stack[0, s], y, x),
                        float(strength[0, 0, s, y, x]),
                    )
                )
        return points


CASES["scale_space"] = Case(
    ScaleSpace, lambda: [call(picture()[None, None]), call(picture(32, 24)[None, None])], ("script", "freeze")
)


class Corners(nn.Module):
    def __init__(self, k: float = 0.05, best: int = 6):
        super().__init__()
        self.k, self.best = k, best

    def forward(self, image: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        gy, gx = torch.gradient(image, dim=[2, 3])
        xx, yy, xy = blurred(gx * gx, 1.0), blurred(gy * gy, 1.0), blurred(gx * gy, 1.0)
        response = xx * yy - xy**2 - self.k * (xx + yy) ** 2
        peaks = response * (F.max_pool2d(response, 5, 1, 2) == response)
        values, flat = peaks.flatten().topk(self.best)
        ys, xs = torch.div(flat, image.size(3), rounding_mode="trunc"), flat.remainder(image.size(3))
        patches = F.unfold(image, 7, padding=3)[0].t()[flat]
        patches = (patches - patches.mean(1, True)) / (patches.std(1, keepdim=True) + 1e-6)
        return torch.stack([xs, ys], 1), values, patches @ patches.T / 49


CASES["corners"] = Case(Corners, pictures, ("script", "freeze"))


# Motion
class LucasKanade(nn.Module):
    def __init__(self, window: int = 7, levels: int = 2, turns: int = 3):
        super().__init__()
        self.window, self.levels, self.turns = window, levels, turns
        self.register_buffer("box", torch.ones(1, 1, window, window))

    def warped(self, image: Tensor, flow: Tensor) -> Tensor:
        h, w = image.shape[-2:]
        y, x = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        grid = torch.stack([(x + flow[:, 0]) * 2 / (w - 1) - 1, (y + flow[:, 1]) * 2 / (h - 1) - 1], -1)
        return F.grid_sample(image, grid, mode="bilinear", padding_mode="border", align_corners=True)

    def step(self, a: Tensor, b: Tensor, flow: Tensor) -> Tensor:
        warped = self.warped(b, flow)
        gx = (
            F.pad(warped, [0, 1, 0, 0], "replicate")[..., 1:]
            - F.pad(warped, [1, 0, 0, 0], "replicate")[..., :-1]
        ) / 2
        gy = (
            F.pad(warped, [0, 0, 0, 1], "replicate")[..., 1:, :]
            - F.pad(warped, [0, 0, 1, 0], "replicate")[..., :-1, :]
        ) / 2
        products = torch.cat([gx * gx, gx * gy, gy * gy, gx * (a - warped), gy * (a - warped)], 1)
        sums = F.conv2d(
            products, self.box.expand(5, 1, self.window, self.window), padding=self.window // 2, groups=5
        )
        xx, xy, yy, xt, yt = sums.unbind(1)
        matrix = torch.stack([torch.stack([xx + 1e-2, xy], -1), torch.stack([xy, yy + 1e-2], -1)], -2)
        change = torch.linalg.solve(matrix, torch.stack([xt, yt], -1).unsqueeze(-1)).squeeze(-1)
        return flow + change.permute(0, 3, 1, 2).clamp(-1, 1)

    def forward(self, a: Tensor, b: Tensor) -> Tuple[Tensor, Tensor]:
        pyramid = [(a, b)]
        for _ in range(self.levels - 1):
            x, y = pyramid[-1]
            pyramid.append((F.avg_pool2d(blurred(x, 0.8), 2), F.avg_pool2d(blurred(y, 0.8), 2)))
        flow = torch.zeros(a.size(0), 2, pyramid[-1][0].size(2), pyramid[-1][0].size(3))
        for x, y in pyramid[::-1]:
            if flow.shape[-2:] != x.shape[-2:]:
                flow = 2 * F.interpolate(flow, size=x.shape[-2:], mode="bilinear", align_corners=True)
            for _ in range(self.turns):
                flow = self.step(x, y, flow)
        return flow, (a - self.warped(b, flow)).abs().mean()


def motion():
    image = picture()[None, None]
    return [call(image, image.roll((1, 1), (2, 3))), call(image[..., :16], image.roll(1, 2)[..., :16])]


CASES["lucas_kanade"] = Case(LucasKanade, motion, traced_calls=1)


# State estimation over time
class Mode(Enum):
    POSITION = 0
    VELOCITY = 1


class Kalman(nn.Module):
    x: Tensor
    p: Tensor

    def __init__(self, dt: float = 0.1, noise: float = 0.05):
        super().__init__()
        f = torch.eye(4, dtype=torch.float64)
        f[0, 2] = f[1, 3] = dt
        self.register_buffer("f", f)
        self.register_buffer("q", noise * torch.eye(4, dtype=torch.float64))
        self.register_buffer("x", torch.zeros(4, 1, dtype=torch.float64))
        self.register_buffer("p", torch.eye(4, dtype=torch.float64))
        self.mode = Mode.POSITION

    def measured(self, mode: Mode) -> Tensor:
        h = torch.zeros(2, 4, dtype=torch.float64)
        start = 0 if mode == Mode.POSITION else 2
        h[0, start] = h[1, start + 1] = 1.0
        return h

    def forward(self, z: Tensor, variance: float = 0.1) -> Tuple[Tensor, float]:
        h = self.measured(self.mode)
        self.x = self.f @ self.x
        self.p = self.f @ self.p @ self.f.t() + self.q
        residual = z.to(torch.float64).view(2, 1) - h @ self.x
        s = h @ self.p @ h.T + variance * torch.eye(2, dtype=torch.float64)
        gain = torch.linalg.solve(s, h @ self.p).T
        self.x = self.x + gain @ residual
        self.p = (torch.eye(4, dtype=torch.float64) - gain @ h) @ self.p
        distance = residual.t().mm(torch.inverse(s)).mm(residual)
        return self.x.clone().flatten(), float(
            -0.5 * (distance + torch.logdet(s) + 2 * math.log(2 * math.pi))
        )

    @torch.jit.export
    def use_velocity(self, wanted: bool) -> str:
        self.mode = Mode.VELOCITY if wanted else Mode.POSITION
        return self.mode.name

    @torch.jit.export
    def smoothed(self, zs: Tensor) -> Tensor:
        xs = torch.jit.annotate(List[Tensor], [])
        ps = torch.jit.annotate(List[Tensor], [])
        for z in zs:
            self.forward(z, 0.1)
            xs.append(self.x)
            ps.append(self.p)
        out = [xs[-1]]
        for k in range(len(xs) - 2, -1, -1):
            ahead = self.f @ ps[k] @ self.f.t() + self.q
            c = ps[k] @ self.f.t() @ torch.linalg.inv(ahead)
            out.insert(0, xs[k] + c @ (out[0] - self.f @ xs[k]))
        return torch.cat(out, 1).t()


def readings():
    zs = torch.randn(4, 2).cumsum(0) * 0.1
    return [
        call(zs[0]),
        call(zs[1], 0.5),
        call(True, method="use_velocity"),
        call(zs[2]),
        call(False, method="use_velocity"),
        call(zs, method="smoothed"),
    ]


CASES["kalman"] = Case(Kalman, readings, ("script",))


# Decompositions and fits
class PCA(nn.Module):
    def __init__(self, components: int = 2, whiten: bool = True):
        super().__init__()
        self.components, self.whiten = components, whiten
        self.register_buffer("mean", torch.empty(0))
        self.register_buffer("basis", torch.empty(0))
        self.register_buffer("scale", torch.empty(0))

    @torch.jit.export
    def fit(self, x: Tensor) -> Tensor:
        self.mean = x.mean(0)
        u, s, vh = torch.linalg.svd(x - self.mean, full_matrices=False)
        largest = u.abs().argmax(0)
        signs = torch.sign(u[largest, torch.arange(u.size(1))])
        self.basis = (vh * signs[:, None])[: self.components]
        self.scale = s[: self.components] / math.sqrt(x.size(0) - 1)
        return s.square() / s.square().sum()

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        if self.basis.numel() == 0:
            self.fit(x)
        z = (x - self.mean) @ self.basis.T
        if self.whiten:
            z = z / self.scale
        back = (z * self.scale if self.whiten else z) @ self.basis + self.mean
        return z, (x - back).pow(2).sum(1).sqrt()


CASES["pca"] = Case(
    PCA,
    lambda: [
        call(torch.randn(12, 5) * torch.arange(1.0, 6)),
        call(torch.randn(3, 5)),
        call(torch.randn(9, 5), method="fit"),
    ],
    ("script",),
)


class Discriminant(nn.Module):
    """Fisher's linear discriminant, and distances in its projection."""

    def forward(self, x: Tensor, y: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        labels, counts = torch.unique(y, return_counts=True)
        within = torch.zeros(x.size(1), x.size(1), dtype=x.dtype)
        between = torch.zeros_like(within)
        for i in range(labels.numel()):
            part = x[y == labels[i]]
            centred = part - part.mean(dim=0, keepdim=True)
            within += centred.t() @ centred
            d = (part.mean(0) - x.mean(0)).unsqueeze(1)
            between.addmm_(d, d.t(), alpha=float(counts[i]))
        lower = torch.linalg.cholesky(within + 1e-3 * torch.eye(x.size(1), dtype=x.dtype))
        half = torch.linalg.solve_triangular(lower, between, upper=False)
        symmetric = torch.linalg.solve_triangular(lower, half.t(), upper=False)
        values = torch.linalg.eigvalsh((symmetric + symmetric.t()) / 2)
        whitened = torch.cholesky_solve(x.t(), lower).t()
        return values.flip(0), torch.einsum("ni,ni->n", x, whitened), labels


CASES["discriminant"] = Case(
    Discriminant, lambda: [call(torch.randn(15, 3).double(), torch.arange(15) % 3)], ("script", "freeze")
)


class Clusters(nn.Module):
    def __init__(self, k: int = 3, turns: int = 10):
        super().__init__()
        self.k, self.turns = k, turns

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, float]:
        picked = [int(torch.randint(x.size(0), (1,)))]
        for _ in range(1, self.k):
            d = torch.cdist(x, x[picked]).min(1)[0].pow(2)
            picked.append(int(torch.multinomial(d / d.sum(), 1)))
        centres = x[picked].clone()
        labels = torch.zeros(x.size(0), dtype=torch.long)
        for turn in range(self.turns):
            following = torch.cdist(x, centres).argmin(dim=1)
            if turn > 0 and torch.equal(following, labels):
                break
            labels = following
            for j in range(self.k):
                mask = labels == j
                if mask.any():
                    centres[j] = x[mask].mean(0)
        return labels, centres, float((x - centres[labels]).square().sum())


CASES["clusters"] = Case(
    Clusters,
    lambda: [call(torch.randn(20, 2), seed=1), call(torch.randn(10, 3), seed=2)],
    ("script", "freeze"),
)


class Registration(nn.Module):
    """Registration of point clouds, and robust line fitting."""

    def forward(self, a: Tensor, b: Tensor, turns: int = 5) -> Tuple[Tensor, Tensor, List[float]]:
        rotation, shift = torch.eye(3), torch.zeros(3)
        errors: List[float] = []
        for _ in range(turns):
            moved = a @ rotation.T + shift
            distance, index = torch.cdist(moved, b).min(dim=1)
            errors.append(distance.mean().item())
            p, q = a - a.mean(0), b[index] - b[index].mean(0)
            u, _, vh = torch.linalg.svd(p.T @ q)
            flip = torch.diag(torch.tensor([1.0, 1.0, float(torch.det(vh.T @ u.T).sign())]))
            rotation = vh.T @ flip @ u.T
            shift = b[index].mean(0) - rotation @ a.mean(0)
        return rotation, shift, errors

    @torch.jit.export
    def line(self, points: Tensor, turns: int, tolerance: float) -> Tuple[Tensor, int]:
        best, most = torch.zeros(3), -1
        for _ in range(turns):
            i, j = torch.randperm(points.size(0))[:2].unbind(0)
            d = points[j] - points[i]
            normal = torch.stack([-d[1], d[0]]) / d.norm().clamp(min=1e-9)
            distances = ((points - points[i]) @ normal).abs()
            inside = int((distances < tolerance).sum())
            if inside > most:
                most = inside
                best = torch.cat([normal, -(normal @ points[i]).view(1)])
        return best, most


def clouds():
    a = torch.randn(8, 3)
    turn = torch.linalg.matrix_exp(torch.tensor([[0.0, -0.1, 0.0], [0.1, 0.0, 0.05], [0.0, -0.05, 0.0]]))
    points = torch.cat([torch.stack([torch.arange(6.0), torch.arange(6.0) * 2], 1), torch.randn(3, 2) * 5])
    return [call(a, a @ turn.T + 0.1), call(points, 8, 0.5, method="line", seed=4)]


CASES["registration"] = Case(Registration, clouds, ("script", "freeze"))


# Signals: wavelets, block cosine transforms, heart beats
class Wavelets(nn.Module):
    def __init__(self, levels: int = 2):
        super().__init__()
        self.levels = levels
        r = math.sqrt(3.0)
        low = torch.tensor([1 + r, 3 + r, 3 - r, 1 - r]) / (4 * math.sqrt(2.0))
        high = low.flip(0) * torch.tensor([1.0, -1.0, 1.0, -1.0])
        self.register_buffer("filters", torch.stack([low, high]).unsqueeze(1))
        n = torch.arange(8.0)
        dct = torch.cos(math.pi / 8 * (n[None] + 0.5) * n[:, None]) * math.sqrt(2.0 / 8)
        dct[0] /= math.sqrt(2.0)
        self.register_buffer("dct", dct)

    def forward(self, signal: Tensor) -> Tuple[List[Tensor], Tensor]:
        parts: List[Tensor] = []
        x = signal[:, None]
        for _ in range(self.levels):
            y = F.conv1d(F.pad(x, (0, 3), mode="circular"), self.filters, stride=2)
            x, detail = y[:, :1], y[:, 1:]
            threshold = detail.abs().median() / 0.6745
            parts.append(F.softshrink(detail, 0.1) * (detail.abs() > threshold))
        parts.append(x)
        y = x
        for detail in parts[:-1][::-1]:
            y = F.conv_transpose1d(torch.cat([y, detail], 1), self.filters, stride=2)
            y = torch.cat([y[..., :2] + y[..., -2:], y[..., 2:-2]], -1)
        return parts, y[:, 0]

    @torch.jit.export
    def compressed(self, image: Tensor, kept: int) -> Tensor:
        h, w = image.shape
        blocks = image.view(h // 8, 8, w // 8, 8).permute(0, 2, 1, 3)
        spectrum = self.dct @ blocks @ self.dct.t()
        zigzag = (torch.arange(8)[:, None] + torch.arange(8)[None, :]) < kept
        back = torch.linalg.multi_dot([self.dct.t(), (spectrum * zigzag)[0, 0], self.dct])
        all_back = torch.einsum("ki,hwkl,lj->hiwj", self.dct, spectrum * zigzag, self.dct)
        torch._assert(torch.allclose(back, all_back[0:1, :, 0:1].reshape(8, 8), atol=1e-4), "blocks differ")
        return all_back.reshape(h, w)


CASES["wavelets"] = Case(
    Wavelets,
    lambda: [call(torch.randn(2, 32).cumsum(1)), call(picture(16, 24), 5, method="compressed")],
    ("script", "freeze"),
)


class Beats(nn.Module):
    """Peaks of a filtered signal and their intervals, smoothed by polynomial least squares."""

    def __init__(self, width: int = 5, order: int = 2):
        super().__init__()
        t = torch.arange(-(width // 2), width // 2 + 1, dtype=torch.float64)
        vandermonde = torch.stack([t**k for k in range(order + 1)], 1)
        self.register_buffer("smooth", torch.linalg.pinv(vandermonde)[0].float().view(1, 1, -1))
        self.refractory = 5

    def forward(self, signal: Tensor, rate: float = 50.0) -> Tuple[List[int], Dict[str, float]]:
        x = F.conv1d(signal.view(1, 1, -1), self.smooth, padding="same").flatten()
        energy = F.avg_pool1d(x.diff(prepend=x[:1]).square().view(1, 1, -1), 5, 1, 2).flatten()
        threshold = energy.quantile(0.8).item()
        peaks: List[int] = []
        values: List[float] = energy.tolist()
        for i in range(1, len(values) - 1):
            if values[i] < threshold or values[i] < values[i - 1] or values[i] <= values[i + 1]:
                continue
            if len(peaks) > 0 and i - peaks[-1] < self.refractory:
                if values[i] > values[peaks[-1]]:
                    peaks[-1] = i
            else:
                peaks.append(i)
        found: Dict[str, float] = {}
        if len(peaks) > 2:
            gaps = torch.tensor(peaks, dtype=torch.float32).diff() / rate
            found["mean"] = gaps.mean().item()
            found["sdnn"] = gaps.std(unbiased=False).item()
            found["rmssd"] = float(gaps.diff().pow(2).mean().sqrt())
            spectrum = torch.fft.rfft(gaps - gaps.mean()).abs()
            found["power"] = float(torch.trapezoid(spectrum**2))
        return peaks, found


def beats():
    t = torch.arange(200.0)
    return [call(torch.exp(-((t % 25 - 8) ** 2) / 4) + 0.02 * torch.randn(200)), call(torch.randn(80), 25.0)]


CASES["beats"] = Case(Beats, beats, ("script", "freeze"))


# Neighborhood operations: bilateral, guided and morphological filters, and the Hough transform
class Neighbourhoods(nn.Module):
    def __init__(self, radius: int = 2, space: float = 1.5, colour: float = 0.2):
        super().__init__()
        self.radius, self.colour = radius, colour
        k = gaussian(space, radius)
        self.register_buffer("weights", torch.outer(k, k).reshape(1, -1, 1))

    def boxed(self, x: Tensor) -> Tensor:
        size = 2 * self.radius + 1
        return F.avg_pool2d(x, size, 1, self.radius, count_include_pad=False)

    def forward(self, image: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        size = 2 * self.radius + 1
        b, _, h, w = image.shape
        near = F.unfold(F.pad(image, [self.radius] * 4, mode="reflect"), size)
        weights = torch.exp(-0.5 * ((near - image.view(b, 1, h * w)) / self.colour) ** 2) * self.weights
        bilateral = F.fold((near * weights).sum(1, keepdim=True) / weights.sum(1, True), (h, w), 1)
        mean = self.boxed(image)
        variance = self.boxed(image * image) - mean * mean
        a = variance / (variance + 0.01)
        guided = self.boxed(a) * image + self.boxed(mean - a * mean)
        opened = F.max_pool2d(-F.max_pool2d(-image, 3, 1, 1), 3, 1, 1)
        return bilateral, guided, image - opened

    @torch.jit.export
    def lines(self, edges: Tensor, angles: int, best: int) -> Tuple[Tensor, Tensor]:
        y, x = torch.where(edges)
        thetas = torch.arange(angles) * math.pi / angles
        diagonal = math.ceil(math.sqrt(edges.size(0) ** 2 + edges.size(1) ** 2))
        rho = (x[:, None] * torch.cos(thetas) + y[:, None] * torch.sin(thetas)).round().long() + diagonal
        flat = rho + torch.arange(angles) * (2 * diagonal + 1)
        votes = torch.zeros(angles * (2 * diagonal + 1), dtype=torch.int32)
        votes.put_(flat.flatten(), torch.ones(flat.numel(), dtype=torch.int32), accumulate=True)
        values, places = torch.sort(votes, descending=True, stable=True)
        return values[:best], torch.stack(
            [places[:best] // (2 * diagonal + 1), places[:best] % (2 * diagonal + 1) - diagonal], 1
        )


CASES["neighbourhoods"] = Case(
    Neighbourhoods, lambda: [*pictures(), call(picture() > 0.4, 12, 5, method="lines")], ("script", "freeze")
)
