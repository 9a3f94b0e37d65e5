"""Transformers (encoder-decoder): encoder and decoder layers, and stacks of layers.

PyTorch has a second, faster implementation for inference. Here, `forward` is the only implementation.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import InitVar
from typing import Any, ClassVar

import ts
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts.nn import functional as F
from ts.nn import init
from ts.nn.functional.attention import additive_mask
from ts.nn.modules.attention import MultiheadAttention
from ts.nn.modules.container import ModuleList
from ts.nn.modules.dropout import Dropout
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.linear import Linear
from ts.nn.modules.module import Module
from ts.nn.modules.normalization import LayerNorm

Activation = str | Callable[[Tensor], Tensor]


def _causal_mask(size: int, device: ts.device | None, dtype: ts.dtype | None) -> Tensor:
    """Return a mask with -inf above the diagonal."""
    return ts.triu(ts.full([size, size], -math.inf, dtype=dtype, device=device), 1)


def _is_causal(mask: Tensor | None, is_causal: bool | None, size: int) -> bool:
    """Return `is_causal`. If `is_causal` is None, return whether `mask` equals the causal mask.

    During tracing, return False if `is_causal` is None, because `mask` may have other values when the trace
    runs.
    """
    if is_causal is not None:
        return is_causal
    if mask is None:
        return False
    if not ts.jit.is_scripting():  # a nested `if`, because scripts would compile both operands of `and`
        if current_tracer() is not None:
            return False
    causal = _causal_mask(size, mask.device, mask.dtype)
    if mask.size() != causal.size():
        return False
    return bool(ts.eq(mask, causal).all())


def _length(x: Tensor, batch_first: bool) -> int:
    if x.dim() == 3 and batch_first:
        return x.size(1)
    return x.size(0)


def _get_activation_fn(name: Any) -> Callable[[Tensor], Tensor]:
    if not isinstance(name, str):
        return name
    if name not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {name}")
    return getattr(F, name)


def _get_clones(layer: Module, n: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(n)])


class _TransformerLayer(Module):
    """Base class of encoder and decoder layers: attention blocks and a feed-forward network.

    Each of these blocks has its own normalization and dropout (`norm1`, `dropout1`, ...).
    """

    _attention_names: ClassVar[tuple[str, ...]]

    def __post_init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float,
        activation: Activation,
        layer_norm_eps: float,
        batch_first: bool,
        bias: bool,
        device: Any,
        dtype: Any,
    ) -> None:
        factory_kwargs: dict[str, Any] = {"device": device, "dtype": dtype}
        for name in self._attention_names:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **factory_kwargs
            )
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **factory_kwargs)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **factory_kwargs)
        count = len(self._attention_names) + 1
        for i in range(1, count + 1):
            self.add_module(f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory_kwargs))
        for i in range(1, count + 1):
            self.add_module(f"dropout{i}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        x = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )[0]
        return self.dropout1(x)


@hyperparameters
class TransformerEncoderLayer(_TransformerLayer):
    """Encoder layer: self-attention and a feed-forward network, with residual connections and layer norm."""

    _attention_names = ("self_attn",)
    d_model: InitVar[int]
    nhead: InitVar[int]
    dim_feedforward: InitVar[int] = 2048
    dropout: InitVar[float] = 0.1
    activation: InitVar[Activation] = "relu"
    layer_norm_eps: InitVar[float] = 1e-5
    batch_first: InitVar[bool] = False
    norm_first: bool = False
    bias: InitVar[bool] = True
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        padding = additive_mask(src_key_padding_mask, "src_key_padding_mask", src_mask, "src_mask", src)
        mask = additive_mask(src_mask, "src_mask", None, "", src)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask, padding, is_causal)
            x = x + self._ff_block(self.norm2(x))
        else:
            x = self.norm1(x + self._sa_block(x, mask, padding, is_causal))
            x = self.norm2(x + self._ff_block(x))
        return x

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout2(x)


@hyperparameters
class TransformerDecoderLayer(_TransformerLayer):
    """Decoder layer: self-attention, attention to the memory, and a feed-forward network."""

    _attention_names = ("self_attn", "multihead_attn")
    d_model: InitVar[int]
    nhead: InitVar[int]
    dim_feedforward: InitVar[int] = 2048
    dropout: InitVar[float] = 0.1
    activation: InitVar[Activation] = "relu"
    layer_norm_eps: InitVar[float] = 1e-5
    batch_first: InitVar[bool] = False
    norm_first: bool = False
    bias: InitVar[bool] = True
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), tgt_mask, tgt_key_padding_mask, tgt_is_causal)
            x = x + self._mha_block(
                self.norm2(x), memory, memory_mask, memory_key_padding_mask, memory_is_causal
            )
            x = x + self._ff_block(self.norm3(x))
        else:
            x = self.norm1(x + self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
            x = self.norm2(
                x + self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal)
            )
            x = self.norm3(x + self._ff_block(x))
        return x

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        x = self.multihead_attn(
            x,
            mem,
            mem,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )[0]
        return self.dropout2(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout3(x)


class TransformerEncoder(Module):
    """Stack of encoder layers, applied in sequence."""

    __constants__ = ["norm"]

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        padding = additive_mask(src_key_padding_mask, "src_key_padding_mask", mask, "mask", src)
        mask = additive_mask(mask, "mask", None, "", src)
        causal = _is_causal(mask, is_causal, _length(src, self.layers[0].self_attn.batch_first))
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if self.norm is not None:
            output = self.norm(output)
        return output


class TransformerDecoder(Module):
    """Stack of decoder layers, applied in sequence."""

    __constants__ = ["norm"]

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        output = tgt
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, self.layers[0].self_attn.batch_first))
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        if self.norm is not None:
            output = self.norm(output)
        return output


class Transformer(Module):
    """Transformer: encoder of the source and decoder with attention to the encoder's output."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        factory_kwargs: dict[str, Any] = {"device": device, "dtype": dtype}
        options: Any = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first,
            bias,
        )  # fmt: skip
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*options, **factory_kwargs)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory_kwargs)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            decoder_layer = TransformerDecoderLayer(*options, **factory_kwargs)
            decoder_norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory_kwargs)
            self.decoder = TransformerDecoder(decoder_layer, num_decoder_layers, decoder_norm)
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        batch = 1
        if self.batch_first:
            batch = 0
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: ts.device | None = None, dtype: ts.dtype | None = None
    ) -> Tensor:
        """Return a square mask that excludes later positions: -inf above the diagonal, 0 elsewhere."""
        return _causal_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        """Initialize each parameter that has at least two dimensions with random numbers."""
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)
