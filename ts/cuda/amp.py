"""`ts.cuda.amp.autocast`, the older name of `ts.autocast("cuda")`.

with ts.cuda.amp.autocast(enabled=False): ...
"""

from __future__ import annotations

import warnings

from ts import amp, dtypes


class autocast(amp.autocast):
    """`ts.autocast` for CUDA devices."""

    def __init__(
        self, enabled: bool = True, dtype: dtypes.dtype = dtypes.NAMES["float16"], cache_enabled: bool = True
    ) -> None:
        warnings.warn(
            "`torch.cuda.amp.autocast(args...)` is deprecated. Please use "
            "`torch.amp.autocast('cuda', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cuda", dtype, enabled, cache_enabled)
