"""Functions of neural networks: operators, and Python functions that scripts can compile.

The table `NAME_TO_MODULE` contains the Python functions. All other names are operators. Example:

    ts.nn.functional.linear(x, weight, bias)       an operator
    ts.nn.functional.relu(x, inplace=True)         a Python function of the module `activation`
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from ts._core.dispatch import overrides as _overrides
from ts._core.value.build_lock import import_lock
from ts.ops import namespace_functions

_FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "activation": (
        "relu", "relu6", "elu", "selu", "celu", "leaky_relu", "rrelu", "silu", "mish", "hardswish",
        "hardsigmoid", "hardtanh", "threshold", "softmax", "log_softmax", "softmin", "gumbel_softmax",
        "softsign", "tanhshrink", "relu_", "elu_", "selu_", "celu_", "leaky_relu_",
        "hardtanh_", "threshold_", "rrelu_", "tanh", "sigmoid",
    ),
    "dropout_functions": (  # the module cannot be named `dropout`, as it would hide the function
        "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout",
    ),
    "normalization": (
        "batch_norm", "group_norm", "instance_norm", "normalize", "local_response_norm",
    ),
    "pooling": (
        *(f"max_pool{n}d" for n in (1, 2, 3)),
        *(f"max_pool{n}d_with_indices" for n in (1, 2, 3)),
        *(f"adaptive_max_pool{n}d" for n in (1, 2, 3)),
        *(f"adaptive_max_pool{n}d_with_indices" for n in (1, 2, 3)),
        *(f"adaptive_avg_pool{n}d" for n in (1, 2, 3)),
        *(f"lp_pool{n}d" for n in (1, 2, 3)),
    ),
    "loss": (
        "l1_loss", "mse_loss", "soft_margin_loss", "smooth_l1_loss", "huber_loss", "hinge_embedding_loss",
        "cosine_embedding_loss", "margin_ranking_loss", "triplet_margin_loss",
        "triplet_margin_with_distance_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
        "poisson_nll_loss", "kl_div", "gaussian_nll_loss",
    ),
    "class_loss": (
        "nll_loss", "cross_entropy", "linear_cross_entropy", "multi_margin_loss", "multilabel_margin_loss",
        "multilabel_soft_margin_loss", "ctc_loss",
    ),
    "attention": ("multi_head_attention_forward", "_mha_shape_check"),
    "unpooling": ("max_unpool1d", "max_unpool2d", "max_unpool3d"),
    "fractional_max_pool": (
        *(f"fractional_max_pool{n}d" for n in (2, 3)),
        *(f"fractional_max_pool{n}d_with_indices" for n in (2, 3)),
    ),
    "interpolation": (
        "interpolate", "upsample", "upsample_nearest", "upsample_bilinear", "grid_sample", "affine_grid",
    ),
    "unfold_fold": ("fold", "unfold"),
    "embeddings": ("embedding", "embedding_bag"),
}  # fmt: skip
_OPERATORS: Final = {"logsigmoid": "log_sigmoid"}  # function name -> operator name, if they differ
OPERATORS: Final = (  # functions of PyTorch's `nn.functional` that are operators
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "channel_shuffle", "conv1d", "conv2d", "conv3d",
    "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "gelu",
    "glu", "hardshrink", "layer_norm", "linear", "logsigmoid", "native_channel_shuffle", "one_hot", "pad",
    "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "rms_norm",
    "scaled_dot_product_attention", "softplus", "softshrink",
)  # fmt: skip
NAME_TO_MODULE: Final = {
    name: f"ts.nn.functional.{family}" for family, names in _FAMILIES.items() for name in names
}
WRITTEN: Final = NAME_TO_MODULE.keys()  # names of functions written in Python


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'ts.nn.functional' has no attribute '{name}'")
    with import_lock():
        if name == "grad":
            value: Any = importlib.import_module("ts.nn.grad")
        elif name == "_threshold":  # name of `threshold` in code that `ts.fx` generates
            value = __getattr__("threshold")
        elif name in NAME_TO_MODULE:
            value = _overridable(NAME_TO_MODULE[name], name)
        else:
            value = namespace_functions.nn_function(_OPERATORS.get(name, name))
    globals()[name] = value
    return value


def _overridable(home: str, name: str) -> Any:
    """Wrap function `name` of module `home`, so that `__torch_function__` can override it.

    Replace the function in the module by the wrapper, and return the wrapper.
    """
    module = importlib.import_module(home)
    function = getattr(module, name)
    if not isinstance(function, _overrides.Overridable):
        function = _overrides.Overridable(function)
        setattr(module, name, function)
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *NAME_TO_MODULE, *OPERATORS})
