"""Audio: spectra and their inverses, filters, resampling, networks on waveforms, streams with state."""

import math
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.pytorch_parity.models import Case, call

CASES = {}


def waves(count=2, length=800):
    """Return sine waves with noise."""
    t = torch.arange(length) / 8000.0
    tones = torch.stack([torch.sin(2 * math.pi * 220.0 * (i + 1) * t) for i in range(count)])
    return 0.5 * tones + 0.05 * torch.randn(count, length)


def wave_calls():
    return [call(waves()), call(waves(1, 1000))]


# Spectra: short-time windows, mel filter banks, cepstral coefficients and their differences.
def mel_filters(bins: int, bands: int, rate: int) -> Tensor:
    frequencies = torch.linspace(0, rate // 2, bins)
    low, high = 0.0, 2595.0 * math.log10(1.0 + rate / 2 / 700.0)
    points = 700.0 * (10.0 ** (torch.linspace(low, high, bands + 2) / 2595.0) - 1.0)
    gaps = points[1:] - points[:-1]
    slopes = points.unsqueeze(0) - frequencies.unsqueeze(1)
    down, up = (-1.0 * slopes[:, :-2]) / gaps[:-1], slopes[:, 2:] / gaps[1:]
    return torch.max(torch.zeros(1), torch.min(down, up))


class MelSpectrogram(nn.Module):
    __constants__ = ["n_fft", "hop", "power"]

    def __init__(
        self, n_fft: int = 128, hop: int = 64, bands: int = 20, power: float = 2.0, rate: int = 8000
    ):
        super().__init__()
        self.n_fft, self.hop, self.power = n_fft, hop, power
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("fb", mel_filters(n_fft // 2 + 1, bands, rate), persistent=False)

    def spectrum(self, wave: Tensor) -> Tensor:
        return torch.stft(wave, self.n_fft, hop_length=self.hop, window=self.window, center=True, pad_mode="reflect",
                          normalized=False, onesided=True, return_complex=True)  # fmt: skip

    def forward(self, wave: Tensor) -> Tensor:
        return torch.matmul(self.spectrum(wave).abs().pow(self.power).transpose(-1, -2), self.fb).transpose(
            -1, -2
        )


def decibels(x: Tensor, multiplier: float, amin: float, top: Optional[float] = None) -> Tensor:
    db = multiplier * torch.log10(torch.clamp(x, min=amin))
    if top is not None:
        shape = db.size()
        packed = shape[-3] if db.dim() > 2 else 1
        db = db.reshape(-1, packed, shape[-2], shape[-1])
        db = torch.max(db, (db.amax(dim=(-3, -2, -1)) - top).view(-1, 1, 1, 1))
        db = db.reshape(shape)
    return db


class MFCC(nn.Module):
    def __init__(self, count: int = 12, log_mels: bool = False):
        super().__init__()
        self.mels = MelSpectrogram(bands=20)
        n = torch.arange(20.0)
        basis = torch.cos(math.pi / 20.0 * (n + 0.5) * torch.arange(float(count)).unsqueeze(1))
        basis[0] *= 1.0 / math.sqrt(2.0)
        self.register_buffer("dct", (basis * math.sqrt(2.0 / 20.0)).t())
        self.log_mels = log_mels
        self.top: Optional[float] = 60.0

    def deltas(self, x: Tensor, width: int = 5) -> Tensor:
        n = (width - 1) // 2
        kernel = torch.arange(-n, n + 1, 1, dtype=x.dtype).repeat(x.shape[-2], 1, 1)
        padded = F.pad(x, (n, n), mode="replicate")
        return F.conv1d(padded, kernel, groups=padded.shape[-2]) / (n * (n + 1) * (2 * n + 1) / 3)

    def forward(self, wave: Tensor) -> Dict[str, Tensor]:
        mels = self.mels(wave)
        mels = torch.log(mels + 1e-6) if self.log_mels else decibels(mels, 10.0, 1e-10, self.top)
        mfcc = torch.matmul(mels.transpose(-1, -2), self.dct).transpose(-1, -2)
        first = self.deltas(mfcc)
        return {"mfcc": mfcc, "delta": first, "delta2": self.deltas(first, 3)}


CASES["mfcc"] = Case(MFCC, wave_calls, ("script", "freeze"))
CASES["mel_spectrogram"] = Case(MelSpectrogram, wave_calls, traced_calls=1)


# Inverse spectra: iterative phase estimation, and a phase vocoder for time stretching.
class GriffinLim(nn.Module):
    def __init__(self, n_fft: int = 64, hop: int = 16, turns: int = 4, momentum: float = 0.9):
        super().__init__()
        self.n_fft, self.hop, self.turns, self.momentum = n_fft, hop, turns, momentum
        self.register_buffer("window", torch.hamming_window(n_fft, periodic=True))

    def forward(self, magnitude: Tensor, length: Optional[int] = None) -> Tensor:
        angles = torch.full(magnitude.size(), 1, dtype=torch.complex64)
        before = torch.tensor(0.0, dtype=magnitude.dtype)
        for _ in range(self.turns):
            inverse = torch.istft(
                magnitude * angles, n_fft=self.n_fft, hop_length=self.hop, window=self.window, length=length
            )
            rebuilt = torch.stft(inverse, self.n_fft, self.hop, window=self.window, return_complex=True)
            angles = rebuilt
            if self.momentum > 0.0:
                angles = angles - before.mul_(self.momentum) if before.dim() == angles.dim() else angles
            angles = angles.div(angles.abs().add(1e-16))
            before = rebuilt
        return torch.istft(magnitude * angles, self.n_fft, self.hop, window=self.window, length=length)

    @torch.jit.export
    def stretched(self, spectrum: Tensor, rate: float) -> Tensor:
        steps = torch.arange(0, spectrum.size(-1), rate)
        alphas = steps % 1.0
        phase = spectrum[..., :1].angle()
        padded = F.pad(torch.view_as_real(spectrum).permute(0, 3, 1, 2), [0, 2])
        padded = torch.view_as_complex(padded.permute(0, 2, 3, 1).contiguous())
        a, b = padded.index_select(-1, steps.long()), padded.index_select(-1, (steps + 1).long())
        advance = torch.linspace(0, math.pi * self.hop, padded.size(-2))[..., None]
        change = b.angle() - a.angle() - advance
        change = change - 2 * math.pi * torch.round(change / (2 * math.pi)) + advance
        phases = torch.cumsum(torch.cat([phase, change[..., :-1]], dim=-1), -1)
        return torch.polar(alphas * b.abs() + (1 - alphas) * a.abs(), phases)


def spectra():
    spectrum = torch.stft(waves(2, 400), 64, 16, window=torch.hamming_window(64), return_complex=True)
    return [
        call(spectrum.abs()),
        call(spectrum.abs(), 400),
        call(spectrum, 1.3, method="stretched"),
        call(spectrum, 0.7, method="stretched"),
    ]


CASES["griffin_lim"] = Case(GriffinLim, spectra, ("script", "freeze"))


# Filters: windowed sinc kernels for resampling, recursive filters, and filters designed by frequency.
class Resample(nn.Module):
    def __init__(self, old: int, new: int, width: int = 6):
        super().__init__()
        shared = math.gcd(old, new)
        self.old, self.new = old // shared, new // shared
        base = min(self.old, self.new) * 0.99
        self.width = math.ceil(width * self.old / base)
        t = torch.arange(-self.width, self.width + self.old, dtype=torch.float64)[None, None] / self.old
        t = torch.arange(0, -self.new, -1, dtype=torch.float64)[:, None, None] / self.new + t
        t = (t * base).clamp_(-width, width)
        window = torch.cos(t * math.pi / width / 2) ** 2
        kernels = torch.where(t == 0, torch.tensor(1.0).to(t), (t * math.pi).sin() / (t * math.pi))
        self.register_buffer("kernel", (kernels * window * (base / self.old)).float())

    def forward(self, wave: Tensor) -> Tensor:
        shape = wave.size()
        wave = wave.view(-1, shape[-1])
        count, length = wave.shape
        wave = F.pad(wave, (self.width, self.width + self.old))
        out = F.conv1d(wave[:, None], self.kernel, stride=self.old)
        out = out.transpose(1, 2).reshape(count, -1)
        out = out[..., : math.ceil(self.new * length / self.old)]
        return out.view(shape[:-1] + out.shape[-1:])


CASES["resample_up"] = Case(lambda: Resample(8000, 12000), wave_calls, traced_calls=1)
CASES["resample_down"] = Case(lambda: Resample(8000, 5000), wave_calls, ("script", "freeze"))


class Filters(nn.Module):
    """Second-order sections in a loop over time, pre-emphasis and de-emphasis, companding and its inverse."""

    def __init__(self, frequency: float = 1000.0, q: float = 0.707, rate: int = 8000):
        super().__init__()
        w = 2 * math.pi * frequency / rate
        alpha = math.sin(w) / 2 / q
        b0 = (1 - math.cos(w)) / 2
        self.b = [b0, 2 * b0, b0]
        self.a = [1 + alpha, -2 * math.cos(w), 1 - alpha]
        self.levels = 256

    def recursive(self, x: Tensor, a: List[float], b: List[float]) -> Tensor:
        order = len(a)
        padded = F.pad(x, [order - 1, 0])
        out = torch.zeros_like(padded)
        numerator = torch.tensor(b).flip(0).view(1, 1, -1)
        driven = F.conv1d(padded.unsqueeze(1), numerator).squeeze(1)
        for n in range(x.shape[-1]):
            value = driven[:, n].clone()
            for k in range(1, order):
                value.sub_(out[:, n + order - 1 - k], alpha=a[k])
            out[:, n + order - 1] = value / a[0]
        return out[:, order - 1 :].clamp(min=-1.0, max=1.0)

    @torch.jit.export
    def companded(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        mu = torch.tensor(self.levels - 1.0, dtype=x.dtype)
        coded = torch.sign(x) * torch.log1p(mu * torch.abs(x)) / torch.log1p(mu)
        coded = ((coded + 1) / 2 * mu + 0.5).to(torch.int64)
        back = (coded / mu) * 2 - 1.0
        return coded, torch.sign(back) * (torch.exp(torch.abs(back) * torch.log1p(mu)) - 1.0) / mu

    @torch.jit.export
    def by_frequencies(self, x: Tensor, low: float, high: float, rate: float) -> Tensor:
        spectrum = (
            torch.fft.rfft(x, n=int(2 ** math.ceil(math.log(x.size(-1)) / math.log(2.0))))
            if x.size(-1) > 64
            else torch.fft.rfft(x)
        )
        frequencies = torch.fft.rfftfreq(2 * (spectrum.size(-1) - 1), 1.0 / rate)
        kept = torch.logical_and(frequencies >= low, frequencies <= high)
        return torch.fft.irfft(spectrum * kept)[..., : x.size(-1)]

    def forward(self, wave: Tensor, coefficient: float = 0.97) -> Tensor:
        wave = torch.cat([wave[:, :1], wave[:, 1:] - coefficient * wave[:, :-1]], -1)
        return self.recursive(wave, self.a, self.b)


CASES["filters"] = Case(
    Filters,
    lambda: [
        call(waves(2, 100)),
        call(waves(1, 60), 0.5),
        call(waves(2, 50), method="companded"),
        call(waves(2, 90), 100.0, 900.0, 8000.0, method="by_frequencies"),
    ],
    ("script", "freeze"),
)


# Detection: pitch by autocorrelation, and speech by energy with a hangover that is kept between calls.
class Pitch(nn.Module):
    def __init__(self, rate: int = 8000, frame: int = 160, lowest: int = 80, highest: int = 500):
        super().__init__()
        self.rate, self.frame = rate, frame
        self.lags = (rate // highest, rate // lowest)

    def forward(self, wave: Tensor) -> Tuple[Tensor, Tensor]:
        low, high = self.lags
        frames = wave.unfold(-1, 2 * self.frame, self.frame)
        frames = frames - frames.mean(-1, keepdim=True)
        spectrum = torch.fft.rfft(frames, n=4 * self.frame)
        correlation = torch.fft.irfft(spectrum * spectrum.conj(), n=4 * self.frame)[..., : high + 1]
        correlation = correlation / correlation[..., :1].clamp_min(1e-9)
        strength, lag = correlation[..., low:].max(dim=-1)
        pitch = self.rate / (lag + low).to(torch.float32)
        smooth = torch.median(F.pad(pitch, (1, 1), "replicate").unfold(-1, 3, 1), dim=-1)[0]
        return torch.where(strength > 0.3, smooth, torch.zeros_like(smooth)), strength


CASES["pitch"] = Case(Pitch, wave_calls, ("script", "freeze"))


class Segment(NamedTuple):
    start: int
    end: int
    energy: float


class VoiceActivity(nn.Module):
    level: Tensor

    def __init__(self, frame: int = 80, patience: int = 2):
        super().__init__()
        self.frame, self.patience = frame, patience
        self.register_buffer("level", torch.tensor(0.01))
        self.hangover = 0
        self.names = {0: "silence", 1: "speech"}

    @torch.jit.export
    def reset(self) -> None:
        self.hangover = 0
        self.level = torch.full_like(self.level, 0.01)

    def forward(self, wave: Tensor) -> Tuple[List[Segment], List[str]]:
        energies: List[float] = wave.view(-1, self.frame).square().mean(-1).tolist()
        active: List[bool] = []
        for energy in energies:
            if energy > 3.0 * float(self.level):
                self.hangover = self.patience
            else:
                self.level = 0.9 * self.level + 0.1 * energy
                self.hangover = max(0, self.hangover - 1)
            active.append(self.hangover > 0)
        segments: List[Segment] = []
        start = -1
        for i, speech in enumerate(active + [False]):
            if speech and start < 0:
                start = i
            elif not speech and start >= 0:
                segments.append(Segment(start, i, sum(energies[start:i]) / (i - start)))
                start = -1
        return segments, [self.names[int(a)] for a in active]


def talk():
    noise, tone = 0.02 * torch.randn(400), waves(1, 240)[0]
    wave = torch.cat([noise[:160], tone, noise[160:], tone[:80]])
    return [call(wave), call(wave[:320]), call(method="reset"), call(wave[80:])]


CASES["voice_activity"] = Case(VoiceActivity, talk, ("script", "freeze"), attributes=("hangover", "level"))


# Networks on waveforms
class GroupedExtractor(nn.Module):
    """Wav2Vec: convolution layers, masked spans, targets from a codebook selected by Gumbel noise."""

    def __init__(self, width: int = 12, groups: int = 2, entries: int = 5):
        super().__init__()
        blocks = [
            nn.Sequential(nn.Conv1d(1, width, 10, 5, bias=False), nn.GroupNorm(width, width), nn.GELU())
        ]
        blocks += [nn.Sequential(nn.Conv1d(width, width, 3, 2, bias=False), nn.GELU()) for _ in range(2)]
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(width)
        self.positions = nn.Conv1d(width, width, 8, padding=4, groups=4)
        layer = nn.TransformerEncoderLayer(width, 2, 16, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.mask_embedding = nn.Parameter(torch.rand(width))
        self.groups, self.entries = groups, entries
        self.to_entries = nn.Linear(width, groups * entries)
        self.codebook = nn.Parameter(torch.randn(1, groups * entries, 4))

    def lengths(self, n: Tensor) -> Tensor:
        for kernel, stride in ((10, 5), (3, 2), (3, 2)):
            n = torch.div(n - kernel, stride, rounding_mode="floor") + 1
        return n

    def quantised(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        b, t, _ = x.shape
        logits = self.to_entries(x).view(b * t * self.groups, -1)
        noise = -torch.empty_like(logits).exponential_().log()
        chosen = ((logits + noise) / 0.5).softmax(-1).max(-1, keepdim=True)[1]
        hard = torch.zeros_like(logits).scatter_(-1, chosen, 1.0)
        used = hard.view(b * t, self.groups, -1).mean(0)
        perplexity = torch.exp(-torch.sum(used * torch.log(used + 1e-7), dim=-1)).sum()
        picked = hard.view(b * t, -1).unsqueeze(-1) * self.codebook
        return picked.view(b * t, self.groups, self.entries, -1).sum(-2).view(b, t, -1), perplexity

    def forward(self, wave: Tensor, lengths: Optional[Tensor] = None) -> Dict[str, Tensor]:
        x = wave.unsqueeze(1)
        for block in self.blocks:
            x = block(x)
        features = self.norm(x.transpose(1, 2))
        quantised, perplexity = self.quantised(features)
        masked = torch.rand(features.shape[:2]) < 0.3
        x = torch.where(masked.unsqueeze(-1), self.mask_embedding, features)
        x = x + F.gelu(self.positions(x.transpose(1, 2))[:, :, :-1]).transpose(1, 2)
        padding: Optional[Tensor] = None
        if lengths is not None:
            lengths = self.lengths(lengths)
            padding = torch.arange(x.size(1)).expand(x.size(0), -1) >= lengths[:, None]
        x = self.encoder(x, src_key_padding_mask=padding)
        return {"context": x, "targets": quantised, "perplexity": perplexity, "masked": masked}


CASES["wav2vec"] = Case(
    GroupedExtractor,
    lambda: [call(waves(2, 400), seed=2), call(waves(2, 500), torch.tensor([500, 300]), seed=3)],
    ("script",),
)


class GlobalNorm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.gain, self.bias = nn.Parameter(torch.ones(1, width, 1)), nn.Parameter(torch.zeros(1, width, 1))

    def forward(self, x: Tensor) -> Tensor:
        mean = torch.mean(x, dim=[1, 2], keepdim=True)
        var = torch.var(x, dim=[1, 2], keepdim=True, unbiased=False)
        return self.gain * (x - mean) / (var + 1e-8).sqrt() + self.bias


class ConvTasNet(nn.Module):
    def __init__(self, basis: int = 12, width: int = 8, sources: int = 2):
        super().__init__()
        self.sources, self.basis = sources, basis
        self.encoder = nn.Conv1d(1, basis, 16, 8, bias=False)
        self.enter = nn.Sequential(GlobalNorm(basis), nn.Conv1d(basis, width, 1))
        blocks = []
        for i in range(3):
            dilation = 2**i
            blocks.append(nn.Sequential(
                nn.Conv1d(width, 16, 1), nn.PReLU(), GlobalNorm(16), nn.Conv1d(16, 16, 3, padding=dilation, dilation=dilation, groups=16), nn.PReLU(),
            ))  # fmt: skip
        self.blocks = nn.ModuleList(blocks)
        self.residual = nn.ModuleList([nn.Conv1d(16, width, 1) for _ in blocks])
        self.skip = nn.ModuleList([nn.Conv1d(16, width, 1) for _ in blocks])
        self.mask = nn.Conv1d(width, sources * basis, 1)
        self.decoder = nn.ConvTranspose1d(basis, 1, 16, 8, bias=False)

    def aligned(self, x: Tensor) -> Tuple[Tensor, int]:
        rest = (x.size(-1) - 16) % 8
        missing = 8 - rest if rest > 0 else 0
        return F.pad(x, [0, missing]), missing

    def forward(self, wave: Tensor) -> Tensor:
        wave, padded = self.aligned(wave.unsqueeze(1))
        features = F.relu(self.encoder(wave))
        x = self.enter(features)
        out = torch.zeros_like(x)
        for block, residual, skip in zip(self.blocks, self.residual, self.skip):
            y = block(x)
            out = out + skip(y)
            x = x + residual(y)
        masks = torch.sigmoid(self.mask(out)).view(wave.size(0), self.sources, self.basis, -1)
        masked = (masks * features.unsqueeze(1)).flatten(0, 1)
        decoded = self.decoder(masked).view(wave.size(0), self.sources, -1)
        return decoded[..., : decoded.size(-1) - padded] if padded > 0 else decoded


CASES["conv_tasnet"] = Case(
    ConvTasNet, lambda: [call(waves(2, 200)), call(waves(1, 203))], ("script", "freeze")
)


class WaveNet(nn.Module):
    """Gated dilated convolutions; generation stores the inputs of each layer in a queue."""

    def __init__(self, width: int = 6, classes: int = 16, dilations: Tuple[int, ...] = (1, 2, 4)):
        super().__init__()
        self.embed = nn.Embedding(classes, width)
        self.filters = nn.ModuleList([nn.Conv1d(width, 2 * width, 2, dilation=d) for d in dilations])
        self.outs = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in dilations])
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(width, classes, 1))
        self.dilations = list(dilations)

    def forward(self, codes: Tensor) -> Tensor:
        x = self.embed(codes).transpose(1, 2)
        skips = torch.zeros_like(x)
        for i, (conv, out) in enumerate(zip(self.filters, self.outs)):
            a, b = conv(F.pad(x, (self.dilations[i], 0))).chunk(2, 1)
            y = out(torch.tanh(a) * torch.sigmoid(b))
            skips = skips + y
            x = x + y
        return self.head(skips)

    @torch.jit.export
    def generate(self, first: int, steps: int, greedy: bool = True) -> List[int]:
        queues = [[torch.zeros(1, self.embed.embedding_dim)] * d for d in self.dilations]
        code, found = first, [first]
        for _ in range(steps):
            x = self.embed(torch.tensor([code]))
            skips = torch.zeros_like(x)
            for i, (conv, out) in enumerate(zip(self.filters, self.outs)):
                before = queues[i].pop(0)
                queues[i].append(x)
                gates = conv.weight[:, :, 0] @ before[0] + conv.weight[:, :, 1] @ x[0]
                bias = conv.bias
                if bias is not None:
                    gates = gates + bias
                a, b = gates.split(gates.size(0) // 2)
                y = out((a.tanh() * b.sigmoid())[None, :, None]).squeeze(-1)
                skips += y
                x = x + y
            logits = self.head(skips.unsqueeze(-1)).squeeze()
            code = int(logits.argmax()) if greedy else int(torch.multinomial(logits.softmax(0), 1))
            found.append(code)
        return found


CASES["wavenet"] = Case(
    WaveNet,
    lambda: [
        call(torch.randint(0, 16, (2, 20))),
        call(3, 12, method="generate"),
        call(3, 12, False, method="generate", seed=5),
    ],
    ("script", "freeze"),
)


class LocationAttention(nn.Module):
    def __init__(self, width: int = 10):
        super().__init__()
        self.query, self.memory = nn.Linear(width, 8, bias=False), nn.Linear(width, 8, bias=False)
        self.location = nn.Conv1d(2, 8, 5, padding=2, bias=False)
        self.v = nn.Linear(8, 1, bias=False)
        self.score_mask_value = -float("inf")

    def forward(
        self, query: Tensor, memory: Tensor, processed: Tensor, weights: Tensor, mask: Optional[Tensor]
    ) -> Tuple[Tensor, Tensor]:
        location = self.location(weights).transpose(1, 2)
        energies = self.v(torch.tanh(self.query(query.unsqueeze(1)) + location + processed)).squeeze(2)
        if mask is not None:
            energies = energies.masked_fill(mask, self.score_mask_value)
        alignment = F.softmax(energies, dim=1)
        return torch.bmm(alignment.unsqueeze(1), memory).squeeze(1), alignment


class Tacotron(nn.Module):
    def __init__(self, symbols: int = 20, width: int = 10, mels: int = 6, most: int = 12):
        super().__init__()
        self.mels, self.most = mels, most
        self.embed = nn.Embedding(symbols, width)
        self.encoder = nn.LSTM(width, width // 2, 1, batch_first=True, bidirectional=True)
        self.prenet = nn.ModuleList([nn.Linear(mels, 8, bias=False), nn.Linear(8, 8, bias=False)])
        self.cell = nn.LSTMCell(8 + width, width)
        self.attention = LocationAttention(width)
        self.project, self.gate = nn.Linear(2 * width, mels), nn.Linear(2 * width, 1)
        self.postnet = nn.Sequential(
            nn.Conv1d(mels, 8, 5, padding=2), nn.Tanh(), nn.Conv1d(8, mels, 5, padding=2)
        )

    def decoded(self, memory: Tensor, mask: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        batch, length, width = memory.size()
        h, c = torch.zeros(batch, width), torch.zeros(batch, width)
        weights, total = torch.zeros(batch, length), torch.zeros(batch, length)
        context, frame = torch.zeros(batch, width), torch.zeros(batch, self.mels)
        processed = self.attention.memory(memory)
        frames, alignments, stops = [], [], []
        finished = torch.zeros(batch, dtype=torch.int32)
        lengths = torch.zeros(batch, dtype=torch.int32)
        while True:
            x = frame
            for layer in self.prenet:
                x = F.dropout(F.relu(layer(x)), p=0.5, training=True)
            h, c = self.cell(torch.cat((x, context), -1), (h, c))
            context, weights = self.attention(h, memory, processed, torch.stack([weights, total], 1), mask)
            total = total + weights
            both = torch.cat((h, context), dim=1)
            frame, stop = self.project(both), torch.sigmoid(self.gate(both)).squeeze(1)
            frames.append(frame)
            alignments.append(weights)
            stops.append(stop)
            lengths = lengths + (1 - finished)
            finished = torch.maximum(finished, torch.gt(stop, 0.52).to(torch.int32))
            if bool(torch.all(finished > 0)) or len(frames) >= self.most:
                break
        return torch.stack(frames, dim=2), torch.stack(alignments, dim=1), lengths

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        x = self.embed(tokens)
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        out, _ = self.encoder(packed)
        memory, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        mask = torch.arange(int(lengths.max())).unsqueeze(0) >= lengths.unsqueeze(1)
        frames, alignments, found = self.decoded(memory, mask)
        return frames + self.postnet(frames), alignments, found


CASES["tacotron"] = Case(
    Tacotron, lambda: [call(torch.randint(0, 20, (2, 7)), torch.tensor([7, 5]), seed=6)], ("script", "freeze")
)


# Conformer, and a streaming convolution whose context is passed from call to call.
class Conformer(nn.Module):
    def __init__(self, width: int = 12, kernel: int = 5):
        super().__init__()
        self.first, self.last = self.feed_forward(width), self.feed_forward(width)
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2)
        self.conv = nn.Sequential(
            nn.Conv1d(width, 2 * width, 1), nn.GLU(dim=1), nn.Conv1d(width, width, kernel, padding=(kernel - 1) // 2, groups=width),
            nn.BatchNorm1d(width), nn.SiLU(), nn.Conv1d(width, width, 1),
        )  # fmt: skip
        self.final = nn.LayerNorm(width)

    @staticmethod
    def feed_forward(width: int):
        return nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, 2 * width),
            nn.SiLU(),
            nn.Dropout(0.1),
            nn.Linear(2 * width, width),
        )

    def forward(self, x: Tensor, padding: Optional[Tensor] = None) -> Tensor:
        x = self.first(x) * 0.5 + x
        y = self.norm(x)
        y, _ = self.attention(query=y, key=y, value=y, key_padding_mask=padding, need_weights=False)
        x = x + y
        x = x + self.conv(x.permute(1, 2, 0)).permute(2, 0, 1)
        return self.final(x + 0.5 * self.last(x))


CASES["conformer"] = Case(
    Conformer,
    lambda: [
        call(torch.randn(9, 2, 12)),
        call(torch.randn(9, 2, 12), torch.tensor([[False] * 9, [False] * 6 + [True] * 3])),
    ],
    ("script", "trace"),
    traced_calls=1,
)


class Stream(nn.Module):
    def __init__(self, width: int = 4, kernel: int = 5):
        super().__init__()
        self.kernel = kernel
        self.conv = nn.Conv1d(1, width, kernel)
        self.gru = nn.GRU(width, 3, batch_first=True)
        self.register_buffer("count", torch.zeros((), dtype=torch.long))
        self.register_buffer("mean", None)

    def forward(
        self, chunk: Tensor, state: Optional[Tuple[Tensor, Tensor]] = None
    ) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        if state is None:
            context, hidden = (
                chunk.new_zeros(chunk.size(0), self.kernel - 1),
                torch.zeros(1, chunk.size(0), 3),
            )
        else:
            context, hidden = state
        x = torch.cat([context, chunk], dim=-1)
        self.count += chunk.numel()
        out, hidden = self.gru(self.conv(x.unsqueeze(1)).mT, hidden)
        return out, (x[:, -(self.kernel - 1) :], hidden)


def chunks():
    wave = waves(2, 60)
    return [call(wave[:, :20]), call(wave[:, 20:40], (wave[:, 16:20], torch.randn(1, 2, 3)))]


CASES["stream"] = Case(Stream, chunks, ("script", "freeze"))


# A vocoder: transposed convolutions, blocks with several receptive fields, weight norm during training.
class Fields(nn.Module):
    def __init__(self, width: int, kernel: int, dilations: Tuple[int, ...]):
        super().__init__()
        self.convs = nn.ModuleList(
            [
                nn.utils.weight_norm(nn.Conv1d(width, width, kernel, 1, d * (kernel - 1) // 2, d))
                for d in dilations
            ]
        )

    def forward(self, x: Tensor) -> Tensor:
        for conv in self.convs:
            x = conv(F.leaky_relu(x, 0.1)) + x
        return x


class HiFiGAN(nn.Module):
    def __init__(self, mels: int = 6, width: int = 16):
        super().__init__()
        self.pre = nn.Conv1d(mels, width, 7, padding=3)
        self.ups, self.fields = nn.ModuleList(), nn.ModuleList()
        for _ in range(2):
            self.ups.append(nn.utils.weight_norm(nn.ConvTranspose1d(width, width // 2, 4, 2, 1)))
            width //= 2
            for kernel, dilations in ((3, (1, 3)), (5, (1, 2))):
                self.fields.append(Fields(width, kernel, dilations))
        self.post = nn.Conv1d(width, 1, 7, padding=3, padding_mode="reflect")

    def forward(self, mels: Tensor) -> Tensor:
        x = self.pre(mels)
        for i, up in enumerate(self.ups):
            x = up(F.leaky_relu(x, 0.1))
            x = (self.fields[2 * i](x) + self.fields[2 * i + 1](x)) / 2
        return torch.tanh(self.post(F.leaky_relu(x)))


def without_norm(model):
    """Remove weight normalization for deployment."""
    for module in model.modules():
        if hasattr(module, "weight_g"):
            nn.utils.remove_weight_norm(module)
    return model


CASES["hifigan_training"] = Case(HiFiGAN, lambda: [call(torch.randn(2, 6, 10))], ("trace",))


class Deployed(HiFiGAN):
    def forward(self, mels: Tensor) -> Tensor:
        x = self.pre(mels)
        for i, up in enumerate(self.ups):
            x = up(F.leaky_relu(x, 0.1))
            total = torch.zeros_like(x)
            for j, field in enumerate(self.fields):
                if j // 2 == i:
                    total = total + field(x)
            x = total / 2
        return torch.tanh(self.post(F.leaky_relu(x)))


CASES["hifigan"] = Case(
    lambda: without_norm(Deployed()),
    lambda: [call(torch.randn(2, 6, 10)), call(torch.randn(1, 6, 13))],
    ("script",),
)
