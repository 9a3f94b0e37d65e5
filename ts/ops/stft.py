"""Short-time Fourier transform and its inverse by overlap-add.

Input: one signal or a batch of signals. Output: an array with frequencies in rows and frames in columns. For
example, 20 samples with n_fft=8, hop 2 and center=True give 5 frequencies and 11 frames. The inverse
transform adds overlapping windowed frames.
"""

from __future__ import annotations

from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common, cost_model
from ts.ops.registry import op
from ts.ops.unfold import sliding_window_view

Array = common.Array


def _call_text(prefix: str, window: Array | None, options: dict[str, Any]) -> str:
    """Return the text of a call for an error message: `prefix`, then `name=value` for each option."""
    window_text = (
        "None" if window is None else f"torch.{common.NAME_OF[window.dtype]}Tensor{{{list(window.shape)}}}"
    )
    option_values = {key: int(value) if isinstance(value, bool) else value for key, value in options.items()}
    return (
        f"{prefix}, "
        + ", ".join(f"{k}={window_text if k == 'window' else v}" for k, v in option_values.items())
        + ") "
    )


def _full_window(xp: Any, window: Array | None, win_length: int, n_fft: int, dtype: common.DType) -> Array:
    """Return `window` (by default a window of ones), padded with zeros on both sides to `n_fft` elements."""
    inner = xp.ones(win_length, dtype=dtype) if window is None else window
    if win_length == n_fft:
        return inner
    result = xp.zeros(n_fft, dtype=inner.dtype)
    left = (n_fft - win_length) // 2
    result[left : left + win_length] = inner
    return result


@op(
    "aten::stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
    'window=None, bool center=True, str pad_mode="reflect", bool normalized=False, bool? onesided=None, '
    "bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    where="",
    autocast={"cpu": "float32"},
)
def _stft_center(
    xp: Any,
    self: Array,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Array | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Array:
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    x = self
    if center:
        half = n_fft // 2
        modes = {"reflect": "reflect", "constant": "constant", "replicate": "edge", "circular": "wrap"}
        if pad_mode not in modes:
            raise NotImplementedError(f"Unrecognised padding mode {pad_mode}")
        if pad_mode == "reflect" and half >= x.shape[-1]:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({half}, {half}) at dimension 2 of input {list(x.shape)}"
            )
        x = xp.pad(x, [(0, 0)] * (x.ndim - 1) + [(half, half)], mode=modes[pad_mode])
    return _stft(
        xp, x, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window
    )


@op(
    "aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
    "window=None, bool "
    "normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    where="m",
    order="-",
    autocast={"cpu": "float32"},
)
def _stft(
    xp: Any,
    self: Array,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Array | None = None,
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Array:
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    options = {
        "n_fft": n_fft, "hop_length": hop, "win_length": length, "window": window, "normalized": normalized,
        "onesided": onesided, "return_complex": return_complex, "align_to_window": align_to_window,
    }  # fmt: skip
    call_text = _call_text(
        f"stft(torch.{common.NAME_OF[self.dtype]}Tensor{list(self.shape)}", window, options
    )
    is_complex = self.dtype.kind == "c" or (window is not None and window.dtype.kind == "c")
    if return_complex is None and not is_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require "
            "that return_complex=True in a future PyTorch release."
        )
    if common.category(self) < common.FLOATING:
        raise RuntimeError(f"{call_text}: expected a tensor of floating point or complex values")
    if self.dtype in common.HALF_DTYPES:
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {common.NAME_OF[self.dtype]}")
    if self.ndim not in (1, 2):
        raise RuntimeError(f"{call_text}: expected a 1D or 2D tensor")
    x = self if self.ndim == 2 else self[None]
    count = x.shape[1]
    if not 0 < n_fft <= count:
        raise RuntimeError(f"{call_text}: expected 0 < n_fft < {count}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{call_text}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{call_text}: expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and not size_guards.equal_shapes(window.shape, (length,)):
        raise RuntimeError(
            f"{call_text}: expected a 1D window tensor of size equal to win_length={length}, but got "
            f"window with size {list(window.shape)}"
        )
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    half = not is_complex if onesided is None else onesided
    hop = min(hop, count)  # any hop of at least `count` samples leads to one frame
    if align_to_window:
        x = x[:, (n_fft - length) // 2 :]
        count = x.shape[1] - (n_fft - length) // 2
        x = x[:, :count]
        frames = sliding_window_view(xp, x, (length,), (hop,), (1,))
        padded = xp.zeros((*frames.shape[:-1], n_fft), dtype=x.dtype)
        padded[..., (n_fft - length) // 2 : (n_fft - length) // 2 + length] = frames
        frames = padded
    else:
        frames = sliding_window_view(xp, x, (n_fft,), (hop,), (1,))
    if window is not None or length < n_fft:
        frames = frames * _full_window(xp, window, length, n_fft, common.real_dtype(x.dtype))
    norm = "ortho" if normalized else None
    fft = xp.transforms
    spectra = fft.rfft(frames, axis=-1, norm=norm) if half else fft.fft(frames, axis=-1, norm=norm)
    result = spectra.swapaxes(1, 2)
    result = result if self.ndim == 2 else result[0]
    if is_complex if return_complex is None else return_complex:
        return result
    return xp.stack([result.real, result.imag], axis=-1)


@op(
    "aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool "
    "return_complex=False) -> Tensor",
)
def _istft(
    xp: Any,
    self: Array,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Array | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Array:
    width = n_fft if win_length is None else win_length
    hop = n_fft // 4 if hop_length is None else hop_length
    options = {
        "n_fft": n_fft, "hop_length": hop, "win_length": width, "window": window, "center": center,
        "normalized": normalized, "onesided": onesided, "length": length, "return_complex": return_complex,
    }  # fmt: skip
    call_text = _call_text(f"istft(CPU{common.NAME_OF[self.dtype]}Type{list(self.shape)}", window, options)
    if self.dtype.kind != "c":
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if self.ndim not in (2, 3):
        raise RuntimeError(f"{call_text}: expected a tensor with 2 or 3 dimensions, but got {self.ndim}")
    if not self.size:
        raise RuntimeError(f"{call_text}: input tensor cannot be empty.")
    rows, count = self.shape[-2:]
    half = rows != n_fft if onesided is None else onesided
    if half and rows != n_fft // 2 + 1:
        raise RuntimeError(
            f"{call_text}: expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"n_fft / 2 + 1 when onesided=True, but got {rows}"
        )
    if not half and rows != n_fft:
        raise RuntimeError(
            f"{call_text}: expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"n_fft when onesided=False, but got {rows}"
        )
    if not 0 < hop <= width:
        raise RuntimeError(f"{call_text}: expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"{call_text}: expected 0 < win_length <= n_fft")
    if window is not None and not size_guards.equal_shapes(window.shape, (width,)):
        raise RuntimeError(
            f"{call_text}: Invalid window shape. window has to be 1D and length of `win_length`"
        )
    if window is not None and window.dtype.kind == "c" and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if return_complex and half:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    spectra = (self if self.ndim == 3 else self[None]).swapaxes(1, 2)
    norm = "ortho" if normalized else None
    fft = xp.transforms
    real = common.real_dtype(self.dtype)
    shape = _full_window(xp, window, width, n_fft, real)
    if return_complex:
        frames = fft.ifft(spectra, axis=-1, norm=norm)
    else:  # a real signal is computed from half of the frequencies
        frames = fft.irfft(spectra[..., : n_fft // 2 + 1], n_fft, axis=-1, norm=norm)
    signal = _overlap_add(xp, frames * shape, hop)
    weight = _overlap_add(xp, xp.broadcast_to(shape * shape, (1, count, n_fft)), hop)
    first = n_fft // 2 if center else 0
    last = signal.shape[1] - first if length is None else first + max(length, 0)
    segment, scale = signal[:, first:last], weight[:, first:last]
    if not scale.size or common.is_any_true(xp, ~(xp.abs(scale) >= 1e-11)):
        raise RuntimeError(f"{call_text}window overlap add min: 1")
    result = segment / scale
    if length is not None and result.shape[1] < length:
        result = xp.pad(result, [(0, 0), (0, length - result.shape[1])])
    return result if self.ndim == 3 else result[0]


def _overlap_add(xp: Any, frames: Array, hop: int) -> Array:
    """Add overlapping frames (batch, count, width). Each frame starts `hop` samples after its predecessor."""
    batch, count, width = frames.shape
    pieces = -(-width // hop)
    total = xp.zeros((batch, count - 1 + pieces, hop), dtype=frames.dtype)
    # each frame is cut into sections of `hop` samples. Section i of different frames do not overlap, so all
    # are added at once
    for i in cost_model.steps(range(pieces)):
        piece = frames[..., i * hop : (i + 1) * hop]
        total[:, i : i + count, : piece.shape[-1]] += piece
    return total.reshape(batch, -1)[:, : (count - 1) * hop + width]
