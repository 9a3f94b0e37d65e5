"""Module classes by family.

The table `NAME_TO_MODULE` maps the name of a class to the Python module that defines it. Python modules are
imported when one of their classes is first used.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from ts._core.value.build_lock import import_lock
from ts.errors import missing_attribute

_FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "module": ("Module",),
    "container": ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"),
    "linear": ("Identity", "Linear", "Bilinear"),
    "conv": ("Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
    "batchnorm": ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"),
    "instancenorm": ("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
    "normalization": ("LocalResponseNorm", "CrossMapLRN2d", "LayerNorm", "GroupNorm", "RMSNorm"),
    "activation": (
        "ReLU", "SELU", "SiLU", "Mish", "Hardsigmoid", "Hardswish", "Sigmoid", "Tanh", "Tanhshrink",
        "Softsign", "LogSigmoid", "CELU", "ELU", "LeakyReLU", "RReLU", "Threshold", "GELU", "GLU",
        "Hardshrink", "Softshrink", "Softplus", "Softmax", "LogSoftmax", "Softmin", "Softmax2d", "Hardtanh",
        "ReLU6", "PReLU",
    ),
    "dropout": ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"),
    "sparse": ("Embedding", "EmbeddingBag"),
    "pooling": (
        "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "AvgPool1d",
        "AvgPool2d", "AvgPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "AdaptiveMaxPool1d",
        "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d",
        "AdaptiveAvgPool3d",
    ),
    "attention": ("MultiheadAttention",),
    "transformer": (
        "TransformerEncoderLayer", "TransformerDecoderLayer", "TransformerEncoder", "TransformerDecoder",
        "Transformer",
    ),
    "adaptive": ("AdaptiveLogSoftmaxWithLoss",),
    "linear_loss": ("LinearCrossEntropyLoss", "LinearCrossEntropyOptions"),
    "lazy": (
        "LazyLinear", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d",
        "LazyConvTranspose3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyInstanceNorm1d",
        "LazyInstanceNorm2d", "LazyInstanceNorm3d",
    ),
    "fractional": ("FractionalMaxPool2d", "FractionalMaxPool3d"),
    "padding": (
        "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
        "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
        "ReplicationPad3d", "CircularPad1d", "CircularPad2d", "CircularPad3d",
    ),
    "loss": (
        "L1Loss", "MSELoss", "SoftMarginLoss", "MultiLabelMarginLoss", "NLLLoss", "NLLLoss2d",
        "CrossEntropyLoss", "PoissonNLLLoss", "GaussianNLLLoss", "KLDivLoss", "BCELoss",
        "BCEWithLogitsLoss", "MultiLabelSoftMarginLoss", "HingeEmbeddingLoss", "SmoothL1Loss", "HuberLoss",
        "CosineEmbeddingLoss", "MarginRankingLoss", "MultiMarginLoss", "TripletMarginLoss",
        "TripletMarginWithDistanceLoss", "CTCLoss",
    ),
    "flatten": ("Flatten", "Unflatten"),
    "distance": ("PairwiseDistance", "CosineSimilarity"),
    "pixelshuffle": ("PixelShuffle", "PixelUnshuffle"),
    "channelshuffle": ("ChannelShuffle",),
    "fold": ("Fold", "Unfold"),
    "upsampling": ("Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d"),
    "rnn": ("RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"),
}  # fmt: skip
NAME_TO_MODULE: Final = {
    name: f"ts.nn.modules.{family}" for family, names in _FAMILIES.items() for name in names
}


def __getattr__(name: str) -> Any:
    with import_lock():
        if name in NAME_TO_MODULE:
            value = getattr(importlib.import_module(NAME_TO_MODULE[name]), name)
        elif name in _FAMILIES or name == "utils":
            value = importlib.import_module(f"ts.nn.modules.{name}")
        else:
            raise missing_attribute("module 'ts.nn.modules'", name, __dir__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *NAME_TO_MODULE, *_FAMILIES})
