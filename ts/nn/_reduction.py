"""Reductions of losses: conversion of names and of two deprecated flags to the codes of operators.

The codes are 0 none, 1 mean, 2 sum. The flags are `size_average` and `reduce`, and cause a warning. Example:

    get_enum("mean")                     1
    legacy_get_string(False, None)       "sum"
"""

from __future__ import annotations

import warnings


def get_enum(reduction: str) -> int:
    """Return the code that operators use for a reduction. Raise ValueError for an unknown name."""
    if reduction == "none":
        code = 0
    elif reduction == "mean":
        code = 1
    elif reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2
        )
        code = 1
    elif reduction == "sum":
        code = 2
    else:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return code


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """Convert the deprecated flags `size_average` and `reduce` to the name of a reduction."""
    if reduce is not None and not reduce:
        reduction = "none"
    elif size_average is not None and not size_average:
        reduction = "sum"
    else:
        reduction = "mean"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=2,
        )
    return reduction


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """Convert the deprecated flags `size_average` and `reduce` to the code of a reduction."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
