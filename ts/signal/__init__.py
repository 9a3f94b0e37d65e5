"""Signal processing: `ts.signal.windows`."""

from __future__ import annotations

from ts.signal import windows

__all__ = ["windows"]
