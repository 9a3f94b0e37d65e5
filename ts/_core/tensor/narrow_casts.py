"""Conversion between narrow dtypes (float8, complex32) and other dtypes, with rounding and saturation.

The functions are:

    decode(x)              looks up the float32 values of 8-bit floats in a table of the 256 bit patterns
    encode(x, dtype)       converts to float32, then rounds to nearest even

The results are PyTorch's, and some differ from those of `ml_dtypes`. Values too large for float8_e4m3fn
saturate to its largest number. NaNs keep their sign and have all other bits set. float8_e8m0fnu has no sign
bit, and encodes the absolute value.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ts import dtypes

_SIGN: Final = np.uint8(0x80)
_MAX_FINITE_BITS: Final = np.uint8(0x7E)  # bits of the largest float8_e4m3fn number
_NAN: Final = np.uint8(0x7F)  # bits of the NaN that `encode` writes for formats with several NaNs
_MANTISSA: Final = {dtypes.float8_e5m2: 2, dtypes.float8_e4m3fn: 3}  # dtype -> number of mantissa bits


def decode(x: NDArray[Any]) -> NDArray[Any]:
    """Convert an array of a narrow dtype to float32 (by a lookup table) or complex64.

    Return other arrays unchanged.
    """
    if not dtypes.is_narrow(x.dtype):
        return x
    d = dtypes.from_numpy_dtype(x.dtype)
    _check_conversion(d)
    return x.astype(np.complex64) if d.is_complex else np.asarray(_numbers(x.dtype)[x.view(np.uint8)])


@cache
def _numbers(dtype: np.dtype[Any]) -> NDArray[np.float32]:
    """Return the float32 values of all 256 bit patterns. NaNs have PyTorch's bits."""
    patterns = np.arange(256, dtype=np.uint8)
    numbers = patterns.view(dtype).astype(np.float32)
    nans = np.flatnonzero(np.isnan(numbers))
    width = _MANTISSA.get(dtypes.from_numpy_dtype(dtype))
    bits = numbers.view(np.uint32)
    if width is None:  # The dtype has only one bit pattern for NaN.
        bits[nans] = 0x7F800001
    else:
        sign, mantissa = patterns[nans].astype(np.uint32) >> 7, patterns[nans] & np.uint8((1 << width) - 1)
        bits[nans] = sign << 31 | 0x7FC00000 | mantissa.astype(np.uint32) << (23 - width)
    return numbers


def numbers(x: NDArray[Any]) -> NDArray[Any]:
    """Decode an array for printing and comparison. As in PyTorch, packed elements are read as integers."""
    is_packed = dtypes.from_numpy_dtype(x.dtype).is_packed
    return x.view(np.uint8).astype(np.float32) if is_packed else decode(x)


def _check_conversion(d: dtypes.dtype) -> None:
    if d.is_packed:
        raise NotImplementedError(f"\"copy_\" not implemented for '{d.type_name}'")


def encode(x: Any, dtype: np.dtype[Any]) -> Any:
    """Convert an array to a narrow dtype."""
    kind = dtypes.from_numpy_dtype(dtype)
    _check_conversion(kind)
    if kind.is_complex:
        return (x if x.dtype.kind == "c" else x.astype(np.float32)).astype(np.complex64).astype(dtype)
    with np.errstate(all="ignore"):
        numbers = (x.real if x.dtype.kind == "c" else x).astype(np.float32)
        if kind is dtypes.float8_e8m0fnu:
            return _exponents(numbers).view(dtype)
        converted = numbers.astype(dtype)
    if kind in _MANTISSA:
        patterns = converted.view(np.uint8)
        nan = np.isnan(numbers)
        if kind is dtypes.float8_e4m3fn:
            lost = (patterns & _NAN == _NAN) & ~nan
            patterns[lost] = patterns[lost] & _SIGN | _MAX_FINITE_BITS
        patterns[nan] |= _NAN
    return converted


def _exponents(numbers: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return, for each number, the nearest power of two as a biased exponent (float8_e8m0fnu)."""
    bits = numbers.view(np.uint32)
    exponent, mantissa = bits >> 23 & 0xFF, bits & 0x7FFFFF
    half = 0x400000
    up = (mantissa > half) | ((mantissa == half) & (exponent > 0))
    return np.asarray(np.where(exponent == 255, 255, exponent + up)).astype(np.uint8)
