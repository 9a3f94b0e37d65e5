"""Fast Fourier transforms (FFT). For example, `ts.fft.fft` is the operator `aten::fft_fft`."""

from __future__ import annotations

from ts.ops.namespace_functions import namespace_attributes

__getattr__, __dir__ = namespace_attributes("fft", globals())
