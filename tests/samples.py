"""Sample arguments for every operator record, generated from its schema.

Input: a record, a dtype, a device. Output: accepted arguments, or None if the dtype is not accepted:

    samples.arguments(find("aten::mm"), ts.float32)      [3x3 tensor, 3x3 tensor]

The first of PROFILES (shapes) that the operator accepts is used; the few operators that accept none have a row
in SPECIAL, by name. Values are positive and below one, and matrices are well conditioned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

import ts
from tests import quantized_samples
from ts.ops import registry

DTYPES = (
    ts.bool, ts.uint8, ts.int8, ts.int16, ts.int32, ts.int64, ts.float16, ts.bfloat16, ts.float32, ts.float64,
    ts.complex64, ts.complex128,
)  # fmt: skip
PROFILES = (
    (3, 3), (3,), (), (2, 3, 3), (1, 2, 4, 4), (1, 2, 4, 4, 4), (2, 4), (2, 3, 2), (2, 4, 4),
)  # fmt: skip
REJECTION_ERRORS = (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError)

STRINGS = {
    "rounding_mode": "trunc", "reduce": "amax", "ord": "fro", "p": "fro", "equation": "ij,jk->ik", "indexing": "ij",
    "UPLO": "L", "mode": "constant", "padding": "valid", "interpolation": "linear", "a": "cpu", "type": "cpu",
    "driver": "gelsd", "approximate": "none", "norm": "ortho", "pad_mode": "reflect",
}  # fmt: skip
INDICES = ("index", "indices", "repeats", "target", "LU_pivots", "pivots", "tensor_indices_or_sections", "start")
PLAIN = -1
MASKS = ("mask", "condition", "where")

Maker = Callable[..., list[Any]]
Choice = tuple[tuple[int, ...], int | None] | None  # shape and rank of indices; None: the row in SPECIAL


def tensor(shape: tuple[int, ...], dtype: Any, k: int = 0, device: str = "cpu") -> ts.Tensor:
    """Return numbers between 0 and 1 that depend on `k`; square matrices are symmetric positive definite."""
    kind = "b" if dtype == ts.bool else "f" if dtype.is_floating_point else "c" if dtype.is_complex else "i"
    return ts.from_numpy(numbers(tuple(shape), kind, k).copy()).to(dtype).to(device)


@cache
def numbers(shape: tuple[int, ...], kind: str, k: int) -> np.ndarray[Any, Any]:
    """Return a read-only array of 64-bit numbers."""
    n = int(np.prod(shape))
    x = ((np.arange(n) * (7 + 2 * k) + 3 * k) % 11 / 32 + 0.05).reshape(shape)
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        x = (x + np.swapaxes(x, -1, -2)) / 4 + 0.75 * np.eye(shape[-1])
    if kind == "b":
        x = x > 0.2
    elif kind == "i":
        x = np.round(x * 4)
    elif kind == "c":
        x = x + 0.125j * np.tri(*shape[-2:]) if len(shape) >= 2 and not k else x + 0.125j
    return np.array(x)


def indices(shape: tuple[int, ...], device: str, dtype: Any = ts.int64) -> ts.Tensor:
    """Return alternating zeros and ones."""
    n = int(np.prod(shape))
    return ts.from_numpy((np.arange(n) % 2).reshape(shape)).to(dtype).to(device)


def value(parameter: Any, shape: tuple[int, ...], rank: int | None, dtype: Any, k: int, device: str) -> Any:
    """Return a value for a required parameter; index tensors have `rank` dimensions, the full shape, or are
    PLAIN tensors."""
    kind, name = parameter.kind, parameter.name
    if parameter.optional and kind in ("Tensor", "int[]", "ScalarType", "Device"):
        return None
    if kind == "Tensor":
        if name in INDICES and rank != PLAIN:
            return indices(shape if rank is None else shape[:rank] if rank else (), device)
        if name == "value" and rank in (0, 1):
            shape = ()
        if name in MASKS:
            return tensor(shape, ts.bool, k, device)
        return tensor(shape, dtype, k, device)
    if kind == "Tensor[]":
        return [tensor(shape, dtype, k + i, device) for i in range(2)]
    if kind == "Tensor?[]":
        return [indices((2,), device)]
    if kind == "int[]":
        size = parameter.size
        if size:
            return [1 if "pad" in name else 2] * size
        if name in ("size", "sizes", "shape", "repeats"):
            return list(shape)
        return {
            "stride": [int(np.prod(shape[i + 1 :])) for i in range(len(shape))],
            "split_size": [1, shape[0] - 1] if shape else [], "split_sizes": [1, shape[0] - 1] if shape else [],
            "indices": [1], "pad": [1, 1], "normalized_shape": list(shape[-1:]), "source": [0], "destination": [0], "dims_self": [0], "dims_other": [0],
            "physical_layout": list(range(len(shape))),
        }.get(name, list(range(len(shape))))  # fmt: skip
    return {
        "int": 3 if name == "high" else 1, "float": 0.5, "bool": False, "Scalar": 2 if dtype != ts.bool else True, "complex": 1j, "ScalarType": 6,
        "Scalar[]": [2, 1] if dtype != ts.bool else [True, True],
        "str": STRINGS.get(name, "cpu"), "float[]": [2.0] * max(len(shape) - 2, 1), "t[]": [1, 2],
        "Device": ts.device(device),
        "Generator": ts.Generator() if kind == "Generator" else None,
    }.get(kind)  # fmt: skip


def special(record: Any) -> Maker | None:
    """Return the special sample row of a record, or None."""
    return SPECIAL.get(record.key.removeprefix("aten::")) or SPECIAL.get(record.name.removeprefix("aten::"))


def choices(record: Any) -> list[Choice]:
    """Return the sample choices of a record: its special row, or every profile with every rank of indices."""
    if special(record) is not None:
        return [None]
    ranks = (None, 1, 0, PLAIN) if any(p.name in INDICES for p in operator(record).signature.parameters) else (None,)
    return [(shape, rank) for shape in PROFILES for rank in ranks]


def make_arguments(record: Any, choice: Choice, dtype: Any, device: str) -> list[Any]:
    """Return the arguments of a choice."""
    parameters = operator(record).signature.parameters
    if choice is None:
        maker = special(record)
        assert maker is not None
        given = maker(lambda *shape, k=0: tensor(shape, dtype, k, device), lambda *shape: indices(shape, device))
        return [*given, *(p.default for p in parameters[len(given) :])]
    k = 0
    values = []
    for parameter in parameters:
        if parameter.has_default:
            values.append(parameter.default)
        else:
            values.append(value(parameter, *choice, dtype, k, device))
            k += parameter.kind == "Tensor"
    return values


def candidates(record: Any, dtype: Any, device: str) -> Iterator[list[Any]]:
    """Yield candidate arguments for a record, one list per choice."""
    return (make_arguments(record, choice, dtype, device) for choice in choices(record))


@cache
def operator(record: Any) -> Any:
    """Return the operator of a record as a function."""
    return next(o for o in registry.lookup(record.name) if o.record is record)


@cache
@ts.enable_grad()  # an earlier operator may have disabled gradients
def profile(record: Any) -> tuple[int, str]:
    """Return the index of the first accepted candidate, or an explanation if the operator accepts none."""
    explanation = ""
    for dtype in (ts.float32, ts.int64, ts.complex64, ts.bool, ts.uint8):
        for i, values in enumerate(candidates(record, dtype, "cpu")):
            try:
                operator(record)(*values)
            except REJECTION_ERRORS as error:
                explanation = explanation or f"{type(error).__name__}: {error}"
            else:
                return i, ""
    return -1, explanation


@ts.enable_grad()
def arguments(record: Any, dtype: Any, device: str = "cpu") -> list[Any] | None:
    """Return new arguments for a record, or None if no candidate is accepted."""
    at = profile(record)[0]
    if at < 0:
        return None
    return make_arguments(record, choices(record)[at], dtype, device)

# name, or name with overload -> arguments from t(*shape, k=0), a tensor of the dtype, and i(*shape), one of indices
def _layer_backward_arguments(t):
    """Return the inputs of an LSTM layer, its results, and their gradients."""
    given = [t(3, 2, 4), t(20, 4), t(20, 5), t(20), t(20), t(2, 5), t(2, 5)]
    results = [t(3, 2, 5), t(2, 5), t(2, 5), t(150).view(ts.uint8)]
    if given[0].is_floating_point():
        results = ts.mkldnn_rnn_layer(*given, False, [], 2, 5, 1, True, False, False, True)
    grads = [t(3, 2, 5, k=1), None, t(2, 5, k=1)]
    return [*given, *results[:3], *grads, False, 2, 5, 1, True, True, False, [], False, results[3]]


SPECIAL: dict[str, Maker] = {
    **dict.fromkeys(
        [f"_foreach_addc{name}.Tensor" for name in ("div", "div_", "mul", "mul_")],
        lambda t, i: [[t(2), t(3)], [t(2, k=1), t(3, k=1)], [t(2, k=2), t(3, k=2)], i(2) + 1],
    ),
    **quantized_samples.ROWS,
    "prim::EnterAutocast": lambda t, i: ["cpu", ts.bfloat16.code, False],
    "prim::ExitAutocast": lambda t, i: ["cpu", [0, 0, 0, 0]],
    "_amp_update_scale_": lambda t, i: [t(1), i(1).int(), t(1), 2.0, 0.5, 3],
    "clip": lambda t, i: [t(2, 3), 0, 1],
    "clip.Tensor": lambda t, i: [t(2, 3), t(3, k=1), t(3, k=2)],
    "clamp": lambda t, i: [t(2, 3), 0, 1],
    "clamp.Tensor": lambda t, i: [t(2, 3), t(3, k=1), t(3, k=2)],
    "unflatten.int": lambda t, i: [t(2, 6), 1, [2, 3]],
    "select_scatter": lambda t, i: [t(2, 3), t(3), 0, 1],
    "select_backward": lambda t, i: [t(3), [2, 3], 0, 1],
    "slice_backward": lambda t, i: [t(2, 3), [5, 3], 0, 1, 5, 2],
    "diagonal_backward": lambda t, i: [t(2), [2, 3], 1, 0, 1],
    "unfold_backward": lambda t, i: [t(2, 3, 2), [5, 3], 0, 2, 3],
    **{
        f"{name}_pad{n}d_backward": lambda t, i, n=n: [t(1, 2, *(4, 5, 6)[-n:]), t(1, 2, *(2, 3, 4)[-n:]), [1] * (2 * n)]
        for name in ("reflection", "replication") for n in (1, 2, 3)
    },
    "_pack_padded_sequence_backward": lambda t, i: [t(3, 4), [2, 2, 4], 2 - i(2), False],
    "diagonal_scatter": lambda t, i: [t(3, 3), t(3)],
    "mv": lambda t, i: [t(2, 3), t(3)],
    "addmv": lambda t, i: [t(2), t(2, 3), t(3)],
    "addbmm": lambda t, i: [t(3, 3), t(2, 3, 3), t(2, 3, 3)],
    "batch_norm": lambda t, i: [t(2, 3, 4), t(3), t(3), None, None, True, 0.1, 1e-5, False],
    "native_batch_norm": lambda t, i: [t(2, 3, 4), None, None, None, None, True, 0.1, 1e-5],
    "_native_batch_norm_legit": lambda t, i: [t(2, 3, 4), None, None, t(3), t(3), True, 0.1, 1e-5],
    "_native_batch_norm_legit.no_stats": lambda t, i: [t(2, 3, 4), None, None, True, 0.1, 1e-5],
    "_native_batch_norm_legit_no_training": lambda t, i: [t(2, 3, 4), None, None, t(3), t(3), 0.1, 1e-5],
    **{
        f"{name}{n}d{aa}_backward": lambda t, i, n=n, more=more: [t(1, 2, *[3] * n), [3] * n, [1, 2, *[4] * n], *more]
        for n, name, aa, more in (
            *((n, name, "", [None] * n) for n in (1, 2, 3) for name in ("upsample_nearest", "_upsample_nearest_exact")),
            (1, "upsample_linear", "", [False, None]), (2, "upsample_bilinear", "", [False, None, None]),
            (3, "upsample_trilinear", "", [False, None, None, None]), (2, "upsample_bicubic", "", [False, None, None]),
            (2, "_upsample_bilinear", "_aa", [False, None, None]), (2, "_upsample_bicubic", "_aa", [False, None, None]),
            (2, "_upsample_lanczos", "_aa", [False, None, None]),
        )
    },
    "native_batch_norm_backward": lambda t, i: [
        t(2, 3, 4), t(2, 3, 4), None, None, None, t(3), t(3), True, 1e-5, [True, True, True]
    ],
    "batch_norm_backward": lambda t, i: [
        t(2, 3, 4), t(2, 3, 4), t(3), None, None, t(3), t(3), True, 1e-5, [True, True, True], t(0)
    ],
    "_weight_norm_interface_backward": lambda t, i: [t(2, 3), t(2, 3), t(2, 1), t(2, 1), 0],
    "native_layer_norm_backward": lambda t, i: [
        t(2, 4), t(2, 4), [4], t(2, 1), t(2, 1), None, None, [True, True, True]
    ],
    "_fused_rms_norm_backward": lambda t, i: [t(2, 4), t(2, 4), [4], t(2, 1), None, [True, True]],
    "native_group_norm_backward": lambda t, i: [
        t(2, 4, 3), t(2, 4, 3), t(2, 2), t(2, 2), None, 2, 4, 3, 2, [True, True, True]
    ],
    "convolution_backward": lambda t, i: [
        t(1, 3, 2, 2), t(1, 2, 4, 4), t(3, 2, 3, 3), None, [1], [0], [1], False, [0], 1, [True, True, True]
    ],
    "embedding_bag": lambda t, i: [t(4, 3), i(5), i(2)],
    "embedding_bag.padding_idx": lambda t, i: [t(4, 3), i(5), i(2), False, 0, False, None, False, None],
    "_embedding_bag": lambda t, i: [t(4, 3), i(5), i(2)],
    "_embedding_bag_forward_only": lambda t, i: [t(4, 3), i(5), i(2)],
    "ctc_loss.IntList": lambda t, i: [t(5, 2, 3), i(2, 2) + 1, [5, 4], [2, 1]],
    "ctc_loss.Tensor": lambda t, i: [t(5, 2, 3), i(2, 2) + 1, i(2) + 4, i(2) + 1],
    "_ctc_loss": lambda t, i: [t(5, 2, 3), i(2, 2) + 1, [5, 4], [2, 1]],
    "_ctc_loss.Tensor": lambda t, i: [t(5, 2, 3), i(2, 2) + 1, i(2) + 4, i(2) + 1],
    "fractional_max_pool2d": lambda t, i: [t(1, 2, 5, 5), [2, 2], [3, 3], t(1, 2, 2)],
    "fractional_max_pool3d": lambda t, i: [t(1, 2, 5, 5, 5), [2, 2, 2], [3, 3, 3], t(1, 2, 3)],
    "fractional_max_pool2d_backward": lambda t, i: [t(1, 2, 3, 3), t(1, 2, 5, 5), [2, 2], [3, 3], i(1, 2, 3, 3)],
    "fractional_max_pool3d_backward": lambda t, i: [t(1, 2, 3, 3, 3), t(1, 2, 5, 5, 5), [2, 2, 2], [3, 3, 3], i(1, 2, 3, 3, 3)],
    "avg_pool2d_backward": lambda t, i: [t(1, 2, 2, 2), t(1, 2, 4, 4), [2], [], [0], False, True, None],
    "avg_pool3d_backward": lambda t, i: [t(1, 2, 2, 2, 2), t(1, 2, 4, 4, 4), [2], [], [0], False, True, None],
    "max_pool2d_with_indices_backward": lambda t, i: [t(1, 2, 2, 2), t(1, 2, 4, 4), [2], [], [0], [1], False, i(1, 2, 2, 2)],
    "max_pool3d_with_indices_backward": lambda t, i: [
        t(1, 2, 2, 2, 2), t(1, 2, 4, 4, 4), [2], [], [0], [1], False, i(1, 2, 2, 2, 2)
    ],
    "adaptive_max_pool2d_backward": lambda t, i: [t(1, 2, 2, 2), t(1, 2, 4, 4), i(1, 2, 2, 2)],
    "adaptive_max_pool3d_backward": lambda t, i: [t(1, 2, 2, 2, 2), t(1, 2, 4, 4, 4), i(1, 2, 2, 2, 2)],
    "_ctc_loss_backward": lambda t, i: [t(2), t(5, 2, 3), i(2, 2) + 1, [5, 4], [2, 1], t(2), t(2, 5, 5), 0],
    "_ctc_loss_backward.Tensor": lambda t, i: [t(2), t(5, 2, 3), i(2, 2) + 1, i(2) + 4, i(2) + 1, t(2), t(2, 5, 5), 0],
    "grid_sampler_2d_backward": lambda t, i: [t(1, 2, 3, 3), t(1, 2, 4, 4), t(1, 3, 3, 2), 0, 0, False, [True, True]],
    "grid_sampler_3d_backward": lambda t, i: [
        t(1, 2, 3, 3, 3), t(1, 2, 4, 4, 4), t(1, 3, 3, 3, 3), 0, 0, False, [True, True],
    ],
    "_grid_sampler_2d_cpu_fallback_backward": lambda t, i: [t(1, 2, 3, 3), t(1, 2, 4, 4), t(1, 3, 3, 2), 0, 0, False],
    "grid_sampler": lambda t, i: [t(1, 2, 4, 4), t(1, 3, 3, 2), 0, 0, False],
    "grid_sampler_2d": lambda t, i: [t(1, 2, 4, 4), t(1, 3, 3, 2), 0, 0, False],
    "grid_sampler_3d": lambda t, i: [t(1, 2, 4, 4, 4), t(1, 3, 3, 3, 3), 0, 0, False],
    "affine_grid_generator": lambda t, i: [t(1, 2, 3), [1, 2, 4, 4], False],
    "instance_norm": lambda t, i: [t(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, False],
    "col2im": lambda t, i: [t(2, 4, 4), [3, 3], [2, 2], [1, 1], [0, 0], [1, 1]],
    "convolution": lambda t, i: [t(1, 2, 4, 4), t(2, 2, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1],
    "conv_transpose1d": lambda t, i: [t(1, 2, 4), t(2, 2, 3)],
    "scatter.reduce": lambda t, i: [t(3, 3), 0, i(3, 3), t(3, 3, k=1), "add"],
    "scatter.value_reduce": lambda t, i: [t(3, 3), 0, i(3, 3), 1, "add"],
    "random_.from": lambda t, i: [t(2, 3), 0, 2],
    "random.from": lambda t, i: [t(2, 3), 0, 2],
    "resize_as": lambda t, i: [t(2, 3), t(3, 2), None],
    "set_.source_Tensor_storage_offset": lambda t, i: [t(2, 3), t(6), 0, [2, 3], [3, 1]],
    "_pack_padded_sequence": lambda t, i: [t(5, 2, 3), 5 - 2 * i(2), False],
    "_pad_packed_sequence": lambda t, i: [t(8, 3), 2 + 0 * i(4), False, 0, 4],
    "lstm.data": lambda t, i: [
        t(8, 3), 2 + 0 * i(4), [t(1, 2, 4), t(1, 2, 4)], [t(16, 3), t(16, 4)], False, 1, 0.0, False, False,
    ],
    "mkldnn_rnn_layer": lambda t, i: [
        t(3, 2, 4), t(20, 4), t(20, 5), t(20), t(20), t(2, 5), t(2, 5), False, [], 2, 5, 1, True, False, False, True,
    ],
    "mkldnn_rnn_layer_backward": lambda t, i: _layer_backward_arguments(t),
    "_mkldnn_rnn_layer_backward": lambda t, i: [*_layer_backward_arguments(t), [True] * 7],
    "gru.data": lambda t, i: [t(8, 3), 2 + 0 * i(4), t(1, 2, 4), [t(12, 3), t(12, 4)], False, 1, 0.0, False, False],
    "rnn_tanh.data": lambda t, i: [t(8, 3), 2 + 0 * i(4), t(1, 2, 4), [t(4, 3), t(4, 4)], False, 1, 0.0, False, False],
    "rnn_relu.data": lambda t, i: [t(8, 3), 2 + 0 * i(4), t(1, 2, 4), [t(4, 3), t(4, 4)], False, 1, 0.0, False, False],
    "_native_multi_head_attention": lambda t, i: [
        t(2, 3, 4), t(2, 3, 4, k=1), t(2, 3, 4, k=2), 4, 2, t(12, 4), t(12), t(4, 4), t(4),
    ],
    "_transformer_encoder_layer_fwd": lambda t, i: [
        t(2, 3, 4), 4, 2, t(12, 4), t(12), t(4, 4), t(4), True, False, 1e-5, t(4), t(4), t(4), t(4),
        t(6, 4), t(6), t(4, 6), t(4),
    ],
    "linalg_ldl_solve": lambda t, i: [t(3, 3), i(3).to(ts.int32) + 1, t(3, 2)],
    "conv_tbc": lambda t, i: [t(5, 2, 3), t(2, 3, 4), t(4)],
    "nuclear_norm.dim": lambda t, i: [t(3, 3), [0, 1]],
    "index.Tensor": lambda t, i: [t(3, 3), [i(2)]],
    "stft": lambda t, i: [t(16), 4],
    "stft.center": lambda t, i: [t(16), 4],
    "istft": lambda t, i: [t(3, 5), 4],
    "gradient.scalarrayint": lambda t, i: [t(3, 4), [1, 2]],
    "gradient.scalarrayarray": lambda t, i: [t(3, 4), [1, 2], [0, 1]],
    "gradient.tensorarrayint": lambda t, i: [t(3, 4), [t(3), t(4)]],
    "gradient.tensorarray": lambda t, i: [t(3, 4), [t(3), t(4)], [0, 1]],
    "histogramdd.int_bins": lambda t, i: [t(6, 2), 3],
    "histogramdd": lambda t, i: [t(6, 2), [2, 3]],
    "histogramdd.TensorList_bins": lambda t, i: [t(6, 2), [t(2) * 0 + i(2), t(2) * 0 + i(2)]],
    "_histogramdd_bin_edges": lambda t, i: [t(6, 2), [2, 3]],
    "conv_transpose2d.input": lambda t, i: [t(1, 2, 4, 4), t(2, 2, 3, 3)],
    "conv_transpose3d.input": lambda t, i: [t(1, 2, 4, 4, 4), t(2, 2, 3, 3, 3)],
    "lstm_cell": lambda t, i: [t(2, 3), [t(2, 4), t(2, 4)], t(16, 3), t(16, 4)],
    "lstm.input": lambda t, i: [
        t(5, 2, 3), [t(1, 2, 4), t(1, 2, 4)], [t(16, 3), t(16, 4)], False, 1, 0.0, False, False, False,
    ],
    "orgqr": lambda t, i: [t(4, 3), t(3)],
    "linalg_householder_product": lambda t, i: [t(2, 4, 3), t(2, 3)],
    "ormqr": lambda t, i: [t(4, 3), t(3), t(4, 2)],
    "linalg_tensorinv": lambda t, i: [t(6, 6).reshape([2, 3, 6]), 2],
    "lu_unpack": lambda t, i: [t(3, 3), i(3).to(ts.int32) + 1],
    "linalg_lu_solve": lambda t, i: [t(3, 3), i(3).to(ts.int32) + 1, t(3, 2)],
    "lu_solve": lambda t, i: [t(3, 2), t(3, 3), i(3).to(ts.int32) + 1],
    "is_strides_like_format": lambda t, i: [t(2, 3, 4, 4), ts.channels_last.code],
    "_int_mm": lambda t, i: [t(3, 3), (t(3, 3, k=1) * 4).to(ts.int8)],
    "_reshape_from_tensor": lambda t, i: [t(2, 3), i(2) * 3 - 1],
    "_ncf_unsqueeze": lambda t, i: [t(3), 4],
    "_ncf_view": lambda t, i: [t(2, 3), [2, 3, 4], 1],
    "unflatten_dense_tensors": lambda t, i: [t(8), [t(2, 3), t(2)]],
    "__interpolate": lambda t, i: [t(1, 2, 4, 4), None, 1.5, "bilinear", True],
    "__interpolate.scale_list": lambda t, i: [t(1, 2, 4, 4), None, [1.5, 2.0]],
    "__interpolate.size_list": lambda t, i: [t(1, 2, 4, 4), [3, 5]],
    "__interpolate.size_list_scale_list": lambda t, i: [t(1, 2, 4, 4), [3, 5]],
    "__upsample": lambda t, i: [t(1, 2, 4, 4), 3],
    "__upsample.size_list": lambda t, i: [t(1, 2, 4, 4), [3, 5]],
    "__upsample_nearest": lambda t, i: [t(1, 2, 4, 4), 3],
    "__upsample_nearest.size_list": lambda t, i: [t(1, 2, 4, 4), [3, 5]],
    "__upsample_bilinear": lambda t, i: [t(1, 2, 4, 4), 3],
    "__upsample_bilinear.size_list": lambda t, i: [t(1, 2, 4, 4), [3, 5]],
    "__upsample_bilinear.scale_list": lambda t, i: [t(1, 2, 4, 4), None, [2, 1]],
    "__upsample_bilinear.size_list_scale_list": lambda t, i: [t(1, 2, 4, 4), [3, 5]],
    "_batch_norm_impl_index": lambda t, i: [t(2, 3, 4), t(3), t(3), None, None, True, 0.1, 1e-5, False],
    "_batch_norm_no_update": lambda t, i: [t(2, 3, 4), None, None, t(3), t(3, k=1), 0.1, 1e-5],
    "_batch_norm_with_update": lambda t, i: [t(2, 3, 4), None, None, t(3), t(3, k=1), 0.1, 1e-5],
    "_batch_norm_with_update_functional": lambda t, i: [t(2, 3, 4), None, None, t(3), t(3, k=1), 0.1, 1e-5],
    "_native_batch_norm_legit_functional": lambda t, i: [t(2, 3, 4), None, None, t(3), t(3, k=1), True, 0.1, 1e-5],
    "_no_grad_embedding_renorm_": lambda t, i: [t(3, 2), i(3), 0.5, 2.0],
    "_grid_sampler_2d_cpu_fallback": lambda t, i: [t(1, 2, 4, 4), t(1, 3, 3, 2), 0, 0, False],
    "_rowwise_prune": lambda t, i: [t(3, 2), i(3).to(ts.bool), ts.int64.code],
    "_pdist_backward": lambda t, i: [t(3), t(3, 2), 2.0, t(3, k=1)],
    "nll_loss_backward": lambda t, i: [t(), t(2, 3), i(2), None, 1, -100, t()],
    "nll_loss2d": lambda t, i: [t(1, 3, 2, 2), i(1, 2, 2)],
    "nll_loss2d_backward": lambda t, i: [t(), t(1, 3, 2, 2), i(1, 2, 2), None, 1, -100, t()],
    "nll_loss2d_forward": lambda t, i: [t(1, 3, 2, 2), i(1, 2, 2), None, 1, -100],
    "_convolution": lambda t, i: [
        t(1, 2, 4, 4), t(2, 2, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, False, False, True, True,
    ],
    "_convolution.deprecated": lambda t, i: [
        t(1, 2, 4, 4), t(2, 2, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, False, False, True,
    ],
    "convolution_overrideable": lambda t, i: [
        t(1, 2, 4, 4), t(2, 2, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1,
    ],
    "_convolution_mode": lambda t, i: [t(1, 2, 4, 4), t(2, 2, 3, 3), None, [1, 1], "same", [1, 1], 1],
    "_conv_depthwise2d": lambda t, i: [t(1, 2, 4, 4), t(4, 1, 3, 3), [3, 3], t(4), [1, 1], [1, 1], [1, 1]],
    "conv_depthwise3d": lambda t, i: [t(1, 2, 4, 4, 4), t(2, 1, 3, 3, 3), [3] * 3, None, [1] * 3, [0] * 3, [1] * 3],
    "_tensor_to_list": lambda t, i: [i(3).to(ts.int32)],
    "_functional_sym_constrain_range_for_size": lambda t, i: [3, 1, 5, t(2)],
    "_linalg_check_errors": lambda t, i: [i(2).to(ts.int32) * 0, "linalg.inv", False],
    "retain_grad": lambda t, i: [ts.ones(2, requires_grad=True)],
    "backward": lambda t, i: [ts.ones(2, requires_grad=True).sum()],
    "backward.TensorList": lambda t, i: [[ts.ones(2, requires_grad=True).sum()]],
    "_histogramdd_from_bin_cts": lambda t, i: [t(6, 2), [2, 3]],
    "_histogramdd_from_bin_tensors": lambda t, i: [t(6, 2), [t(2) * 0 + i(2), t(2) * 0 + i(2)]],
}  # fmt: skip
