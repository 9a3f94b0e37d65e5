"""Positional and keyword arguments that PyTorch's Python functions pass to `__torch_function__`.

Example: `forwarded_call(ts.nn.functional.relu, (x,), {})` returns the function and the arguments
`(x,), {"inplace": False}`.

The tables contain parameter lists, such as "x, /, dim, p=2". Parameters before the `/` are forwarded by
position. Parameters after the `/` are forwarded by name, with default values. Functions that PyTorch
implements in C forward the arguments unchanged.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, Final

import ts
from ts._core.dispatch.overloads import OverloadSet
from ts._core.dispatch.overrides import Overridable
from ts.fx.op_locations import is_tensor_method, namespace_of

_POOL: Final = "stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False"
_FRACTIONAL: Final = "output_size=None, output_ratio=None, return_indices=False, _random_samples=None"
_REDUCED: Final = "size_average=None, reduce=None, reduction='mean'"
_DROP: Final = "training=True, inplace=False"
_SOFTMAX: Final = "_stacklevel=3, dtype=None"

# Function of `torch.nn.functional` -> parameters that it passes to `__torch_function__`.
_FUNCTIONAL: Final = {
    "adaptive_avg_pool2d": "input, output_size, /",
    "adaptive_avg_pool3d": "input, output_size, /",
    "adaptive_max_pool1d": "input, output_size, /, return_indices=False",
    "adaptive_max_pool2d": "input, output_size, /, return_indices=False",
    "adaptive_max_pool3d": "input, output_size, /, return_indices=False",
    "affine_grid": "theta, size, /, align_corners=None",
    "alpha_dropout": "input, /, p=0.5, training=False, inplace=False",
    "batch_norm": "input, running_mean, running_var, /, weight=None, bias=None, training=False, "
    "momentum=0.1, eps=1e-05",
    "binary_cross_entropy": f"input, target, /, weight=None, {_REDUCED}",
    "binary_cross_entropy_with_logits": f"input, target, /, weight=None, {_REDUCED}, pos_weight=None",
    "celu": "input, /, alpha=1.0, inplace=False",
    "cosine_embedding_loss": f"input1, input2, target, /, margin=0, {_REDUCED}",
    "cross_entropy": "input, target, /, weight=None, size_average=None, ignore_index=-100, reduce=None, "
    "reduction='mean', label_smoothing=0.0",
    "ctc_loss": "log_probs, targets, input_lengths, target_lengths, /, blank=0, reduction='mean', "
    "zero_infinity=False",
    "dropout": f"input, /, p=0.5, {_DROP}",
    "dropout1d": f"input, /, p=0.5, {_DROP}",
    "dropout2d": f"input, /, p=0.5, {_DROP}",
    "dropout3d": f"input, /, p=0.5, {_DROP}",
    "elu": "input, /, alpha=1.0, inplace=False",
    "embedding": "input, weight, /, padding_idx=None, max_norm=None, norm_type=2.0, "
    "scale_grad_by_freq=False, sparse=False",
    "embedding_bag": "input, weight, /, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, "
    "mode='mean', sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None",
    "feature_alpha_dropout": "input, /, p=0.5, training=False, inplace=False",
    "fold": "input, output_size, kernel_size, /, dilation=1, padding=0, stride=1",
    "fractional_max_pool2d": f"input, kernel_size, /, {_FRACTIONAL}",
    "fractional_max_pool3d": f"input, kernel_size, /, {_FRACTIONAL}",
    "gaussian_nll_loss": "input, target, var, /, full=False, eps=1e-06, reduction='mean'",
    "glu": "input, /, dim=-1",
    "grid_sample": "input, grid, /, mode='bilinear', padding_mode='zeros', align_corners=None",
    "group_norm": "input, num_groups, /, weight=None, bias=None, eps=1e-05",
    "gumbel_softmax": "logits, /, tau=1, hard=False, eps=1e-10, dim=-1",
    "hardsigmoid": "input, /, inplace=False",
    "hardswish": "input, /, inplace=False",
    "hardtanh": "input, /, min_val=-1.0, max_val=1.0, inplace=False",
    "hinge_embedding_loss": f"input, target, /, margin=1.0, {_REDUCED}",
    "huber_loss": "input, target, /, reduction='mean', delta=1.0, weight=None",
    "instance_norm": "input, /, running_mean=None, running_var=None, weight=None, bias=None, "
    "use_input_stats=True, momentum=0.1, eps=1e-05",
    "interpolate": "input, /, size=None, scale_factor=None, mode='nearest', align_corners=None, "
    "recompute_scale_factor=None, antialias=False",
    "kl_div": "input, target, /, size_average=None, reduce=None, reduction='mean', log_target=False",
    "l1_loss": f"input, target, /, {_REDUCED}",
    "layer_norm": "input, normalized_shape, /, weight=None, bias=None, eps=1e-05",
    "leaky_relu": "input, /, negative_slope=0.01, inplace=False",
    "local_response_norm": "input, size, /, alpha=0.0001, beta=0.75, k=1.0",
    "log_softmax": f"input, /, dim=None, {_SOFTMAX}",
    "lp_pool1d": "input, norm_type, kernel_size, /, stride=None, ceil_mode=False",
    "lp_pool2d": "input, norm_type, kernel_size, /, stride=None, ceil_mode=False",
    "lp_pool3d": "input, norm_type, kernel_size, /, stride=None, ceil_mode=False",
    "margin_ranking_loss": f"input1, input2, target, /, margin=0, {_REDUCED}",
    "max_pool1d": f"input, kernel_size, /, {_POOL}",
    "max_pool2d": f"input, kernel_size, /, {_POOL}",
    "max_pool3d": f"input, kernel_size, /, {_POOL}",
    "max_unpool1d": "input, indices, kernel_size, /, stride=None, padding=0, output_size=None",
    "max_unpool2d": "input, indices, kernel_size, /, stride=None, padding=0, output_size=None",
    "max_unpool3d": "input, indices, kernel_size, /, stride=None, padding=0, output_size=None",
    "mish": "input, /, inplace=False",
    "mse_loss": f"input, target, /, {_REDUCED}, weight=None",
    "multi_head_attention_forward": "query, key, value, embed_dim_to_check, num_heads, in_proj_weight, "
    "in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, /, "
    "training=True, key_padding_mask=None, need_weights=True, attn_mask=None, is_causal=False, "
    "use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, "
    "static_k=None, static_v=None, average_attn_weights=True",
    "multi_margin_loss": f"input, target, /, p=1, margin=1.0, weight=None, {_REDUCED}",
    "multilabel_margin_loss": f"input, target, /, {_REDUCED}",
    "multilabel_soft_margin_loss": f"input, target, /, weight=None, {_REDUCED}",
    "nll_loss": "input, target, /, weight=None, size_average=None, ignore_index=-100, reduce=None, "
    "reduction='mean'",
    "normalize": "input, /, p=2.0, dim=1, eps=1e-12, out=None",
    "pad": "input, pad, /, mode='constant', value=None",
    "poisson_nll_loss": "input, target, /, log_input=True, full=False, size_average=None, eps=1e-08, "
    "reduce=None, reduction='mean'",
    "relu": "input, /, inplace=False",
    "relu6": "input, /, inplace=False",
    "rms_norm": "input, normalized_shape, /, weight=None, eps=None",
    "rrelu": "input, /, lower=0.125, upper=0.3333333333333333, training=False, inplace=False",
    "selu": "input, /, inplace=False",
    "silu": "input, /, inplace=False",
    "smooth_l1_loss": f"input, target, /, {_REDUCED}, beta=1.0",
    "soft_margin_loss": f"input, target, /, {_REDUCED}",
    "softmax": f"input, /, dim=None, {_SOFTMAX}",
    "softmin": f"input, /, dim=None, {_SOFTMAX}",
    "softsign": "input, /",
    "tanhshrink": "input, /",
    "threshold": "input, threshold, value, /, inplace=False",
    "triplet_margin_loss": "anchor, positive, negative, /, margin=1.0, p=2, eps=1e-06, swap=False, "
    "size_average=None, reduce=None, reduction='mean'",
    "triplet_margin_with_distance_loss": "anchor, positive, negative, /, distance_function=None, "
    "margin=1.0, swap=False, reduction='mean'",
    "unfold": "input, kernel_size, /, dilation=1, padding=0, stride=1",
}  # fmt: skip
# Function of `torch.functional` -> parameters that it passes to `__torch_function__`.
_TORCH: Final = {
    "cdist": "x1, x2, /, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary'",
    "lu": "A, /, pivot=True, get_infos=False, out=None",
    "norm": "input, /, p='fro', dim=None, keepdim=False, out=None, dtype=None",
    "split": "tensor, split_size_or_sections, /, dim=0",
    "stft": "input, n_fft, /, hop_length=None, win_length=None, window=None, center=True, "
    "pad_mode='reflect', normalized=False, onesided=None, return_complex=None, align_to_window=None",
    "tensordot": "a, b, /, dims=2, out=None",
    "unique": "input, /, sorted=True, return_inverse=False, return_counts=False, dim=None",
    "unique_consecutive": "input, /, return_inverse=False, return_counts=False, dim=None",
    "unravel_index": "indices, /, shape",
}
TORCH_FUNCTIONAL_NAMES: Final = frozenset({
    *_TORCH, "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
    "cartesian_prod", "chain_matmul", "einsum", "meshgrid",
})  # fmt: skip
CALLS: Final = _FUNCTIONAL
_WITH_INDICES: Final = ["adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "max_pool1d",
    "max_pool2d", "max_pool3d", "fractional_max_pool2d", "fractional_max_pool3d"]  # fmt: skip


@functools.cache
def _parse_parameters(parameters: str) -> tuple[int, list[str], dict[str, Any]]:
    """Parse an entry of the tables: "x, /, dim, p=2" -> (1, ["x", "dim", "p"], {"p": 2}).

    The results are the number of positional arguments, the names, and the defaults.
    """
    arguments = ast.parse(f"def f({parameters}): 0").body[0].args  # type: ignore[attr-defined]
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    defaults = [ast.literal_eval(d) for d in arguments.defaults]
    return (
        len(arguments.posonlyargs),
        names,
        dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)),
    )


def forwarded_call(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """Return the function and the arguments that PyTorch passes to `__torch_function__`."""
    name = getattr(func, "__name__", "")
    parameters = _find_parameters(func, name)
    if func is ts.einsum and len(args) == 2 and isinstance(args[1], list | tuple):
        # If the operands of `einsum` are a list, `__torch_function__` receives them as separate arguments.
        return func, (args[0], *args[1]), kwargs
    if parameters is None:
        func = _called_operator(func)
        return (func, args, {"indexing": None, **kwargs}) if _is_meshgrid(func) else (func, args, kwargs)
    count, names, defaults = _parse_parameters(parameters)
    arguments = {**dict(zip(names, args, strict=False)), **kwargs}
    if len(args) > len(names) or any(n not in arguments for n in names if n not in defaults):
        return func, args, kwargs
    every = {n: arguments.pop(n) if n in arguments else defaults[n] for n in names}
    if name in _WITH_INDICES and every["return_indices"] is True:
        func = getattr(ts.nn.functional, f"{name}_with_indices")
    return func, tuple(every[n] for n in names[:count]), {**{n: every[n] for n in names[count:]}, **arguments}


def is_method_inside(func: Callable[..., Any]) -> bool:
    """Return True if the function only calls a tensor method in PyTorch, and never `__torch_function__`."""
    return func in (ts.nn.functional.sigmoid, ts.nn.functional.tanh)


def _find_parameters(func: Callable[..., Any], name: str) -> str | None:
    if not isinstance(func, OverloadSet | Overridable):
        return None
    if name in _FUNCTIONAL and func is getattr(ts.nn.functional, name, None):
        return _FUNCTIONAL[name]
    return _TORCH[name] if name in _TORCH and func is getattr(ts, name, None) else None


def _called_operator(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the operator packet, such as `ts.ops.aten.add`, of an operator that no module of `ts` exports.

    Return `func` unchanged if it is a tensor method, the only overload of its operator, or not an operator.
    """
    if not isinstance(func, OverloadSet) or namespace_of(func) is not None or is_tensor_method(func):
        return func
    space, _, name = func.name.partition("::")
    packet = getattr(getattr(ts.ops, space), name)
    operators = func.operators()
    default_overload = vars(packet).get(operators[0].overload or "default") if len(operators) == 1 else None
    return func if default_overload is func else packet  # type: ignore[no-any-return]


def _is_meshgrid(func: Callable[..., Any]) -> bool:
    return func is ts.meshgrid


def signature_of(func: Callable[..., Any]) -> Signature | None:
    """Return the signature of a function that PyTorch implements in Python, or None for C functions."""
    name = getattr(func, "__name__", "")
    parameters = _find_parameters(func, name)
    if parameters is None:
        return None
    _, names, defaults = _parse_parameters(parameters)
    return Signature(
        [
            Parameter(n, Parameter.POSITIONAL_OR_KEYWORD, default=defaults.get(n, Parameter.empty))
            for n in names
        ]
    )
