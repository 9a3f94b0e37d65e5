"""Resampling of images and volumes: `interpolate` by size or scale factor, and `grid_sample`.

Size and scale factor may be a number or a list. For scripts, a function has one overload for each combination
of a number or a list.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import ts
from ts._core.tensor.tensor import Tensor

if TYPE_CHECKING:
    from typing import overload
else:
    from ts.frontend.overloads import declare_overload as overload


@overload
def interpolate(
    input: Tensor,
    size: int | None = None,
    scale_factor: list[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor: ...


@overload
def interpolate(
    input: Tensor,
    size: list[int] | None = None,
    scale_factor: list[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor: ...


@overload
def interpolate(
    input: Tensor,
    size: int | None = None,
    scale_factor: float | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor: ...


@overload
def interpolate(
    input: Tensor,
    size: list[int] | None = None,
    scale_factor: float | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor: ...


def interpolate(
    input: Tensor,
    size=None,
    scale_factor=None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resample the input to the size `size`, or by the factor `scale_factor`."""
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear "
                "| bicubic | trilinear"
            )
        corners = False
    else:
        corners = align_corners is not None and align_corners
    dim = input.dim() - 2
    sizes: list[int] | None = None
    factors: list[float] | None = None
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    elif size is not None:
        if isinstance(size, (list, tuple)):
            if len(size) != dim:
                raise ValueError(
                    "Input and output must have the same number of spatial dimensions, but got input with "
                    f"spatial dimensions of {list(input.shape[2:])} and output size of {size}. Please "
                    "provide input tensor in (N, C, d1, d2, ...,dK) format and output size in "
                    "(o1, o2, ...,oK) format."
                )
            sizes = list(size)
        else:
            sizes = [size for _ in range(dim)]
    elif scale_factor is not None:
        if isinstance(scale_factor, (list, tuple)):
            if len(scale_factor) != dim:
                raise ValueError(
                    "Input and scale_factor must have the same number of spatial dimensions, but got input "
                    f"with spatial dimensions of {list(input.shape[2:])} and scale_factor of shape "
                    f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                    "scale_factor in (s1, s2, ...,sK) format."
                )
            factors = [float(factor) for factor in scale_factor]
        else:
            factors = [float(scale_factor) for _ in range(dim)]
    else:
        raise ValueError("either size or scale_factor should be defined")
    computed = recompute_scale_factor is not None and recompute_scale_factor
    if computed and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if factors is not None and (computed or mode == "area"):
        sizes = [scaled(input.size(i + 2), factors[i]) for i in range(dim)]
        factors = None
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
            "tensor as input"
        )
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    return _resampled(input, mode, sizes, factors, corners, antialias)


def scaled(length: int, factor: float) -> int:
    """Return floor(length * factor).

    During tracing, `length` is a tensor, and the operations are recorded.
    """
    if not ts.jit.is_scripting() and isinstance(length, Tensor):
        return (length.double() * factor).floor().long()
    return math.floor(float(length) * factor)


def _resampled(
    input: Tensor,
    mode: str,
    size: list[int] | None,
    factors: list[float] | None,
    corners: bool,
    antialias: bool,
) -> Tensor:
    """Call the operator for the mode and the number of dimensions."""
    dim = input.dim()
    if mode == "nearest":
        if dim == 3:
            return ts.upsample_nearest1d(input, size, factors)
        if dim == 4:
            return ts.upsample_nearest2d(input, size, factors)
        if dim == 5:
            return ts.upsample_nearest3d(input, size, factors)
    if mode == "nearest-exact":
        if dim == 3:
            return ts._upsample_nearest_exact1d(input, size, factors)
        if dim == 4:
            return ts._upsample_nearest_exact2d(input, size, factors)
        if dim == 5:
            return ts._upsample_nearest_exact3d(input, size, factors)
    if mode == "area" and size is not None:
        if dim == 3:
            return ts.adaptive_avg_pool1d(input, size)
        if dim == 4:
            return ts.adaptive_avg_pool2d(input, size)
        if dim == 5:
            return ts.adaptive_avg_pool3d(input, size)
    if mode == "linear" and dim == 3:
        return ts.upsample_linear1d(input, size, corners, factors)
    if mode == "bilinear" and dim == 4:
        if antialias:
            return ts._upsample_bilinear2d_aa(input, size, corners, factors)
        return ts.upsample_bilinear2d(input, size, corners, factors)
    if mode == "trilinear" and dim == 5:
        return ts.upsample_trilinear3d(input, size, corners, factors)
    if mode == "bicubic" and dim == 4:
        if antialias:
            return ts._upsample_bicubic2d_aa(input, size, corners, factors)
        return ts.upsample_bicubic2d(input, size, corners, factors)
    if mode == "lanczos" and dim == 4:
        return ts._upsample_lanczos2d_aa(input, size, corners, factors)
    if dim in (3, 4, 5) and mode in ("linear", "bilinear", "trilinear"):
        needed = {"linear": 3, "bilinear": 4, "trilinear": 5}[mode]
        raise NotImplementedError(f"Got {dim}D input, but {mode} mode needs {needed}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dim}D) for the modes: nearest "
        f"| linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})"
    )


@overload
def upsample(
    input: Tensor,
    size: int | None = None,
    scale_factor: float | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor: ...


@overload
def upsample(
    input: Tensor,
    size: list[int] | None = None,
    scale_factor: float | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor: ...


def upsample(
    input: Tensor,
    size=None,
    scale_factor=None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Resample to a size or by scale factors. Deprecated in favor of `interpolate`."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


@overload
def upsample_nearest(input: Tensor, size: int | None = None, scale_factor: float | None = None) -> Tensor: ...


@overload
def upsample_nearest(
    input: Tensor, size: list[int] | None = None, scale_factor: float | None = None
) -> Tensor: ...


def upsample_nearest(input: Tensor, size=None, scale_factor=None) -> Tensor:
    """Resample by the nearest element. Deprecated in favor of `interpolate`."""
    return interpolate(input, size, scale_factor, mode="nearest")


@overload
def upsample_bilinear(
    input: Tensor, size: int | None = None, scale_factor: float | None = None
) -> Tensor: ...


@overload
def upsample_bilinear(
    input: Tensor, size: list[int] | None = None, scale_factor: float | None = None
) -> Tensor: ...


@overload
def upsample_bilinear(
    input: Tensor, size: int | None = None, scale_factor: list[float] | None = None
) -> Tensor: ...


@overload
def upsample_bilinear(
    input: Tensor, size: list[int] | None = None, scale_factor: list[float] | None = None
) -> Tensor: ...


def upsample_bilinear(input: Tensor, size=None, scale_factor=None) -> Tensor:
    """Resample bilinearly with aligned corners. Deprecated in favor of `interpolate`."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _corners(align_corners: bool | None) -> bool:
    """Return `align_corners`. For None, return False and warn that the default changed in PyTorch 1.3."""
    if align_corners is not None:
        return align_corners
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
        "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
        "details.",
        stacklevel=3,
    )
    return False


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample the input at grid positions, with coordinates normalized to [-1, 1]."""
    if mode == "bilinear":
        mode_code = 0
    elif mode == "nearest":
        mode_code = 1
    elif mode == "bicubic":
        mode_code = 2
    else:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode == "zeros":
        padding_code = 0
    elif padding_mode == "border":
        padding_code = 1
    elif padding_mode == "reflection":
        padding_code = 2
    else:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    return ts.grid_sampler(input, grid, mode_code, padding_code, _corners(align_corners))


def affine_grid(theta: Tensor, size: list[int], align_corners: bool | None = None) -> Tensor:
    """Return the sampling grid of affine maps (N, 2, 3) or (N, 3, 4), for `grid_sample`."""
    corners = _corners(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) == 4:
        if theta.dim() != 3 or theta.size(-2) != 2 or theta.size(-1) != 3:
            raise ValueError(
                f"Expected a batch of 2D affine matrices of shape Nx2x3 for size {size}. Got {theta.size()}."
            )
    elif len(size) == 5:
        if theta.dim() != 3 or theta.size(-2) != 3 or theta.size(-1) != 4:
            raise ValueError(
                f"Expected a batch of 3D affine matrices of shape Nx3x4 for size {size}. Got {theta.size()}."
            )
    else:
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
            f"size {size}."
        )
    if any([n <= 0 for n in size]):  # noqa: C419  (scripts have no generators)
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return ts.affine_grid_generator(theta, size, corners)
