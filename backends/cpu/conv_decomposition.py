"""Polyphase decomposition of floating and complex convolutions on the CPU, for `cpu.kernels.conv`.

Input: the arguments of a convolution, checked by `ts.ops.conv`. Output: the convolution.

A phase is a set of output elements that use the same elements of the kernel. Each phase is computed as one
correlation. For example, a transposed convolution of stride 2 has two phases per dimension. They are the even
and the odd output elements.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ts.backends.cpu.kernels.conv import correlate
from ts.backends.cpu.kernels.conv_layout import InputLayout, SubConvolution
from ts.backends.cpu.kernels.conv_weight_grad import correlate_weights

from ..base import Kernel, default_of

if TYPE_CHECKING:
    from ts.ops.conv import Geometry

Array = NDArray[Any]
# Maximal number of output rows of a cached decomposition. Larger decompositions take too much memory, because
# they store several numbers per row.
_MAX_CACHED_ROWS = 1 << 16


class ConvAxis(NamedTuple):
    """Convolution phase along one dimension: output elements that read the input at equal relative offsets.

    For each tap, output element `first + t * output_stride` reads input element `t * input_stride + offset`.
    """

    taps: list[tuple[int, int]]  # (index in the kernel window, offset added to t * input_stride)
    input_stride: int
    number: int  # number of output elements that the phase computes: t is in [0, number)
    first: int = 0
    output_stride: int = 1


_TRIVIAL_AXIS: Final = ConvAxis([(0, 0)], 1, 1)  # phase along a dimension that the convolution does not have


class ConvDecomposition(NamedTuple):
    """Phases of a convolution and the memory offsets that its taps read, for inputs of given sizes."""

    source: InputLayout
    phases: list[SubConvolution]
    complete: bool  # True if the phases write every element of the output


def _forward_axis(kernel: int, stride: int, before: int, dilation: int, count: int) -> list[ConvAxis]:
    return [ConvAxis([(k, k * dilation - before) for k in range(kernel)], stride, count)]


def _transposed_axis(kernel: int, stride: int, before: int, dilation: int, count: int) -> list[ConvAxis]:
    """Return the phases of a transposed convolution along one dimension.

    There is one phase for each residue of the output index modulo `stride` for which the kernel has taps.
    """
    phases: dict[int, list[tuple[int, int]]] = {}
    for k in range(kernel):
        first = (k * dilation - before) % stride
        phases.setdefault(first, []).append((k, (first + before - k * dilation) // stride))
    return [
        ConvAxis(taps, 1, -((first - count) // stride), first, stride)
        for first, taps in phases.items()
        if first < count
    ]


def _drop_padding(axis: ConvAxis, size: int) -> ConvAxis:
    """Return `axis` without the taps that read only padding."""
    taps = []
    for k, offset in axis.taps:
        t = max(0, -(offset // axis.input_stride))  # first t for which the tap is inside of the input
        if t < axis.number and offset + t * axis.input_stride < size:
            taps.append((k, offset))
    return axis._replace(taps=taps)


def decompose(g: Geometry, sizes: Sequence[int]) -> ConvDecomposition:
    """Return the decomposition of convolution `g` for inputs of the given spatial sizes."""
    spatial = [1] * (3 - len(sizes)) + list(sizes)
    output_size = [1] * (3 - len(sizes)) + list(g.output_size)
    axes = [[_TRIVIAL_AXIS] for _ in range(3 - len(sizes))]
    of_axis = _transposed_axis if g.transposed else _forward_axis
    for kernel, stride, (before, _), dilation, count in zip(
        g.kernel, g.stride, g.pads, g.dilation, g.output_size, strict=True
    ):
        axes.append(of_axis(kernel, stride, before, dilation, count))
    axes = [
        [_drop_padding(axis, size) for axis in phases] for phases, size in zip(axes, spatial, strict=True)
    ]
    firsts, lengths, residues = [], [], []
    # For each dimension, compute the first position that a tap reads and the number of positions up to the
    # last one. Both are in units of the stride.
    for phases in axes:
        stride = phases[0].input_stride if phases else 1
        offsets = [(offset, axis.number) for axis in phases for _, offset in axis.taps]
        first = min((offset // stride for offset, _ in offsets), default=0)
        longest = max((axis.number for axis in phases), default=1)
        end = max((offset // stride + count for offset, count in offsets), default=first + longest)
        firsts.append(first)
        lengths.append(max(end - first, longest))
        residues.append(sorted({offset % stride for offset, _ in offsets}) or [0])
    strides = [phases[0].input_stride if phases else 1 for phases in axes]
    pitch = (lengths[1] * lengths[2], lengths[2], 1)
    # Number of positions with one combination of residues modulo `strides`. The layout stores them as one
    # block.
    own = math.prod(lengths)
    residue_strides = (len(residues[1]) * len(residues[2]) * own, len(residues[2]) * own, own)
    # For each dimension, a dict from the offset of a tap in the input to its offset in the layout's memory.
    # The memory offset of a tap is the sum over the three dimensions.
    offsets_by_dimension = [
        {
            offset: residues[d].index(offset % strides[d]) * residue_strides[d]
            + (offset // strides[d] - firsts[d]) * pitch[d]
            for axis in axes[d]
            for _, offset in axis.taps
        }
        for d in range(3)
    ]
    result = []
    for phase in itertools.product(*axes):
        taps = [
            (
                sum(
                    memory_offsets[offset]
                    for memory_offsets, (_, offset) in zip(offsets_by_dimension, tap, strict=True)
                ),
                tuple(k for k, _ in tap),
            )
            for tap in itertools.product(*(axis.taps for axis in phase))
        ]
        x, y = (np.arange(axis.number, dtype=np.int64) for axis in phase[:2])
        q = np.add.outer(x * pitch[0], y * pitch[1]).ravel()
        outer = (phase[0].first + x * phase[0].output_stride) * output_size[1]
        lines = np.add.outer(outer, phase[1].first + y * phase[1].output_stride)
        to = (lines * output_size[2] + phase[2].first).ravel()
        row = phase[2].number
        # Join adjacent rows whose results are adjacent in the output, too.
        adjacent = (np.diff(q) == row).all() and (np.diff(to) == row).all()
        if len(q) > 1 and phase[2].output_stride == 1 and adjacent:
            q, to, row = q[:1], to[:1], row * len(q)
        plane = None
        if phase[0] == _TRIVIAL_AXIS and not g.transposed:
            plane = [(axis.number, axis.input_stride, [o for _, o in axis.taps]) for axis in phase[1:]]
        result.append(SubConvolution(taps, q, to, row, phase[2].output_stride, plane))
    written = math.prod(sum(axis.number for axis in phases) for phases in axes)
    layout = InputLayout(spatial, strides, firsts, lengths, residues)
    return ConvDecomposition(layout, result, written == math.prod(output_size))


def compute(general: Kernel, xp: Any, g: Geometry, input: Array, weight: Array, bias: Array | None) -> Array:
    """Return the convolution of `input` with geometry `g`.

    The kernel `general` computes it for integers and empty arrays.
    """
    if input.dtype.kind in "iub" or input.size == 0 or weight.size == 0:
        result: Array = general(xp, g, input, weight, bias)
        return result
    x = input if g.batched else input[None]
    if input.dtype.kind == "c":
        result = _convolve_complex(g, x, weight)
        if bias is not None:
            result += bias.reshape(-1, *(1,) * len(g.kernel))
    elif input.itemsize == 2:
        wide = None if bias is None else bias.astype(np.float32)
        result = _convolve_real(g, x.astype(np.float32), weight.astype(np.float32), wide).astype(input.dtype)
    else:
        result = _convolve_real(g, x, weight, bias)
    return result if g.batched else result[0]


def _cached_decomposition(g: Geometry, x: Array) -> ConvDecomposition:
    """Return the decomposition of `g` for the size of `x`. It is cached in `g` if the output has few rows."""
    decomposition: ConvDecomposition = g.decomposition or decompose(g, x.shape[2:])
    if math.prod(g.output_size[:-1]) <= _MAX_CACHED_ROWS:
        g.decomposition = decomposition
    return decomposition


def _convolve_real(g: Geometry, x: Array, weight: Array, bias: Array | None) -> Array:
    decomposition = _cached_decomposition(g, x)
    out = np.empty(
        (x.shape[0], weight.shape[1] * g.groups if g.transposed else weight.shape[0], *g.output_size), x.dtype
    )
    if not decomposition.complete:
        out[...] = 0 if bias is None else bias.reshape(-1, *(1,) * len(g.kernel))
    if out.size:
        x, weight = (a if a.flags.aligned else a.copy() for a in (x, weight))
        correlate(x, weight, bias, out, decomposition.source, decomposition.phases, g.groups, g.transposed)
    return out


def _convolve_complex(g: Geometry, x: Array, weight: Array) -> Array:
    """Convolve complex arrays as real arrays with twice the channels in each group.

    The channels are [real, imaginary], the filters [[real, -imaginary], [imaginary, real]].
    """
    images, groups = x.shape[0], g.groups
    real_input = np.stack([x.real, x.imag], 1).reshape(images, 2, groups, -1, *x.shape[2:]).swapaxes(1, 2)
    w = weight.reshape(groups, -1, *weight.shape[1:])
    filters, channels = (2, 1) if g.transposed else (1, 2)
    of_real = np.concatenate([w.real, -w.imag], channels)
    of_imaginary = np.concatenate([w.imag, w.real], channels)
    both = np.concatenate([of_real, of_imaginary], filters)
    channel_sums = _convolve_real(
        g, real_input.reshape(images, -1, *x.shape[2:]), both.reshape(-1, *both.shape[2:]), None
    )
    channel_sums = channel_sums.reshape(images, groups, 2, -1, *g.output_size)
    result = np.empty((images, groups, channel_sums.shape[3], *g.output_size), x.dtype)
    result.real, result.imag = channel_sums[:, :, 0], channel_sums[:, :, 1]
    return result.reshape(images, g.filters, *g.output_size)


def weight_gradient(general: Kernel, xp: Any, g: Geometry, conv_input: Array, other: Array) -> Array:
    """Return the gradient of a convolution's weight. `other` is the gradient of the convolution's output.

    The kernel `general` computes the gradient for integers, complex numbers and empty arrays. It also
    recomputes a result with infinities or NaN, because padding zeros times infinity give NaN.
    """
    if conv_input.dtype.kind not in "iubc" and conv_input.size and other.size:
        dtype = np.float32 if conv_input.itemsize == 2 else conv_input.dtype
        decomposition = _cached_decomposition(g, conv_input)
        x, y = (np.require(a, dtype, ["C", "A", "W"]) for a in (conv_input, other))
        out = np.zeros((y.shape[1], x.shape[1] // g.groups, *g.kernel), dtype)
        correlate_weights(x, y, out, decomposition.source, decomposition.phases[0], g.groups)
        if np.isfinite(out).all():
            return out.astype(conv_input.dtype, copy=False)
    result: Array = general(xp, g, conv_input, other)
    return result


def kernel(record: Any) -> Kernel:
    """Return the CPU kernel for the operator record of a convolution or of a convolution's backward.

    The kernel calls functions of this module.
    """
    result = partial(record.kernel, compute=partial(compute, default_of(record.kernel, "compute")))
    if record.key == "aten::convolution_backward":
        result = partial(result, weigh=partial(weight_gradient, default_of(record.kernel, "weigh")))
    return result
