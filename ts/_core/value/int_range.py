"""Range test of Python ints that become 64-bit integers of tensors and scripts.

    fits_64_bits(2**63)                     True: uint64 has this number
    fits_64_bits(2**63, unsigned=False)     False: int64 does not
    checked_int(2**64)                      OverflowError
"""

from __future__ import annotations


def fits_64_bits(value: int, unsigned: bool = True) -> bool:
    """Return whether `value` is a number of int64 or, with `unsigned`, of uint64."""
    return -(2**63) <= value < (2**64 if unsigned else 2**63)


def checked_int(value: int) -> int:
    """Return `value`. Raise OverflowError, as PyTorch does, if it fits in neither int64 nor uint64."""
    if not fits_64_bits(value):
        message = "int too big to convert" if value > 0 else "can't convert negative int to unsigned"
        raise OverflowError(message)
    return value
