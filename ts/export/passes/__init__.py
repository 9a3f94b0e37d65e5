"""Passes on exported programs: `move_to_device_pass`."""

from __future__ import annotations

from ts.export.passes.move_to_device import move_to_device_pass
from ts.unsupported import names_for

__all__ = ["move_to_device_pass"]

__getattr__ = names_for(__name__)
