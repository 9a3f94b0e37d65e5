"""Fake tensors, which have metadata but no elements: `torch._subclasses`."""

from ts._subclasses.fake_tensor import (
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedFakeTensorException,
)
from ts.unsupported import names_for

__all__ = ["DynamicOutputShapeException", "FakeTensor", "FakeTensorMode", "UnsupportedFakeTensorException"]
__getattr__ = names_for(__name__)
