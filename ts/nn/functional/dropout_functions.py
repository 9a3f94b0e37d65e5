"""Dropout of elements and of channels."""

from __future__ import annotations

import warnings

import ts
from ts._core.tensor.tensor import Tensor


def _check(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set elements to zero with probability `p`, and scale others by 1 / (1 - p) (inverted dropout)."""
    _check(p)
    if inplace:
        result = ts.dropout_(input, p, training)
    else:
        result = ts.dropout(input, p, training)
    return result


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Set elements to the negative limit of SELU with probability `p`.

    Mean and variance are preserved.
    """
    _check(p)
    if inplace:
        result = ts.alpha_dropout_(input, p, training)
    else:
        result = ts.alpha_dropout(input, p, training)
    return result


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Apply `alpha_dropout` to whole channels."""
    _check(p)
    if inplace:
        result = ts.feature_alpha_dropout_(input, p, training)
    else:
        result = ts.feature_alpha_dropout(input, p, training)
    return result


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set channels of (N, C, L) to zero with probability `p`."""
    _check(p)
    if input.dim() != 2 and input.dim() != 3:
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. "
            "Note that dropout1d exists to provide channel-wise dropout on inputs with 1 "
            "spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    batched = input.dim() == 3
    if not batched:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    if inplace:
        result = ts.feature_dropout_(input, p, training)
    else:
        result = ts.feature_dropout(input, p, training)
    if not batched:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result


def _warn_of_rank(name: str, rank: int, min_rank: int) -> None:
    warnings.warn(
        f"{name}: Received a {rank}-D input to {name}, which is deprecated and will result in an error in a "
        "future release. To retain the behavior and silence this warning, please use dropout instead. Note "
        f"that {name} exists to provide channel-wise dropout on inputs with {min_rank - 1} spatial "
        "dimensions, "
        f"a channel dimension, and an optional batch dimension (i.e. {min_rank}D or {min_rank + 1}D inputs).",
        stacklevel=3,
    )


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set channels of (N, C, H, W) to zero with probability `p`."""
    _check(p)
    if input.dim() != 3 and input.dim() != 4:
        _warn_of_rank("dropout2d", input.dim(), 3)
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
            "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior "
            "will change in a future release to interpret the input as one without a batch dimension, i.e. "
            "shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using "
            "dropout1d instead.",
            stacklevel=2,
        )
    if inplace:
        result = ts.feature_dropout_(input, p, training)
    else:
        result = ts.feature_dropout(input, p, training)
    return result


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set channels of (N, C, D, H, W) to zero with probability `p`."""
    _check(p)
    if input.dim() != 4 and input.dim() != 5:
        _warn_of_rank("dropout3d", input.dim(), 4)
    batched = input.dim() == 5
    if not batched:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    if inplace:
        result = ts.feature_dropout_(input, p, training)
    else:
        result = ts.feature_dropout(input, p, training)
    if not batched:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result
