"""Derivatives of short-time Fourier transforms, by decomposition into frames, windows and FFTs."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose


def _window(window: Tensor | None, length: int, n_fft: int, like: Tensor) -> Tensor:
    """Return the window, centered in `n_fft` elements and padded with zeros.

    If `window` is None, the window consists of ones.
    """
    inner = window
    if inner is None:
        inner = ts.ones([length], dtype=ts.real(like).dtype, device=like.device)
    before = (n_fft - length) // 2
    return ts.nn.functional.pad(inner, [before, n_fft - length - before])


def _padded(x: Tensor, half: int, mode: str) -> Tensor:
    """Pad the signals by half a window on both sides."""
    signals = x.reshape([1] * (3 - x.dim()) + x.size())
    padded = ts.nn.functional.pad(signals, [half, half], mode)
    return padded.reshape(x.size()[:-1] + [padded.size(-1)])


def _stft(
    self: Tensor, n_fft: int, hop_length: int | None, win_length: int | None, window: Tensor | None,
    normalized: bool, onesided: bool | None, return_complex: bool | None, align_to_window: bool | None,
) -> Tensor:  # fmt: skip
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    is_complex = self.is_complex() or (window is not None and window.is_complex())
    before = (n_fft - length) // 2
    if align_to_window is not None and align_to_window:
        frames = self.narrow(-1, before, self.size(-1) - 2 * before).unfold(-1, length, hop)
        frames = ts.nn.functional.pad(frames, [before, n_fft - length - before])
    else:
        frames = self.unfold(-1, n_fft, min(hop, self.size(-1)))
    if window is not None or length < n_fft:
        frames = frames * _window(window, length, n_fft, self)
    norm = "ortho" if normalized else "backward"
    half = not is_complex if onesided is None else onesided
    spectrum = ts.fft.rfft(frames, norm=norm) if half else ts.fft.fft(frames, norm=norm)
    spectrum = spectrum.transpose(-2, -1)
    as_complex = is_complex if return_complex is None else return_complex
    return spectrum if as_complex else ts.view_as_real(spectrum)


def _added(frames: Tensor, hop: int) -> Tensor:
    """Add overlapping frames (batch, count, width). Each frame starts `hop` samples after its predecessor."""
    length = (frames.size(1) - 1) * hop + frames.size(2)
    return ts.unfold_backward(frames, [frames.size(0), length], 1, frames.size(2), hop)


def _istft(
    self: Tensor, n_fft: int, hop_length: int | None, win_length: int | None, window: Tensor | None,
    center: bool, normalized: bool, length: int | None, return_complex: bool,
) -> Tensor:  # fmt: skip
    width = n_fft if win_length is None else win_length
    hop = n_fft // 4 if hop_length is None else hop_length
    spectra = (self if self.dim() == 3 else self.unsqueeze(0)).transpose(1, 2)
    norm = "ortho" if normalized else "backward"
    if return_complex:
        frames = ts.fft.ifft(spectra, norm=norm)
    else:
        frames = ts.fft.irfft(spectra.narrow(-1, 0, n_fft // 2 + 1), n_fft, norm=norm)
    shape = _window(window, width, n_fft, frames)
    signal = _added(frames * shape, hop)
    weight = _added((shape * shape).expand([1, spectra.size(1), n_fft]), hop)
    first = n_fft // 2 if center else 0
    last = signal.size(1) - first if length is None else first + max(length, 0)
    samples = signal[:, first:last] / weight[:, first:last]
    if length is not None and samples.size(1) < length:
        samples = ts.nn.functional.pad(samples, [0, length - samples.size(1)])
    return samples if self.dim() == 3 else samples.squeeze(0)


_HOW = "hop_length, win_length, window, normalized, onesided, return_complex, align_to_window"
compose("aten::stft.center", f"_stft(_padded(self, n_fft // 2, pad_mode) if center else self, n_fft, {_HOW})")
compose("aten::stft", f"_stft(self, n_fft, {_HOW})")
compose(
    "aten::istft",
    "_istft(self, n_fft, hop_length, win_length, window, center, normalized, length, return_complex)",
)
