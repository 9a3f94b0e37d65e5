"""Causal attention masks that are created only when needed: `causal_upper_left`, `causal_lower_right`.

In this example, query i attends to keys 0 to i + 1:

    mask = causal_lower_right(2, 3)
    scaled_dot_product_attention(q, k, v, mask)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.unsupported import names_for

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]
__getattr__ = names_for(__name__)


class CausalVariant(IntEnum):
    """Corner of the score matrix through which the diagonal of a causal mask goes."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """Causal mask of shape (seq_len_q, seq_len_kv). Only attention accepts it."""

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> CausalBias:
        """Return a tensor without the elements of the mask, which `_materialize` computes when needed."""
        bias: CausalBias = ts.zeros(1).expand(2, seq_len_q, seq_len_kv).as_subclass(cls)
        return bias

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            warnings.warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!",
                stacklevel=2,
            )

    def _upper_left(self, device: Any) -> Tensor:
        return ts.ones(self.seq_len_q, self.seq_len_kv, device=device, dtype=ts.bool).tril()

    def _lower_right(self, device: Any) -> Tensor:
        shift = self.seq_len_kv - self.seq_len_q
        return ts.ones(self.seq_len_q, self.seq_len_kv, device=device, dtype=ts.bool).tril(shift)

    def _materialize(self, device: Any = None) -> Tensor:
        """Return the mask as a bool tensor: element (i, j) is True if row i attends to column j."""
        target_device = "cpu" if device is None else device
        if self.variant == CausalVariant.UPPER_LEFT:
            return self._upper_left(target_device)
        return self._lower_right(target_device)

    @staticmethod
    def _dispatch(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: CausalBias,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        """Compute `scaled_dot_product_attention` with `attn_mask`. Raise ValueError for `is_causal=True`."""
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        options: dict[str, Any] = {"dropout_p": dropout_p, "scale": scale, "enable_gqa": enable_gqa}
        if attn_mask.seq_len_q == attn_mask.seq_len_kv or attn_mask.variant == CausalVariant.UPPER_LEFT:
            return F.scaled_dot_product_attention(query, key, value, is_causal=True, **options)
        mask = attn_mask._materialize(query.device)
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, **options)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call `_dispatch` for attention. Run other functions as for an ordinary subclass of Tensor."""
        if func is F.scaled_dot_product_attention:
            return cls._dispatch(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]

    def __repr__(self) -> str:
        return repr(self._materialize())

    __str__ = __repr__


def causal_upper_left(*size: int) -> CausalBias:
    """Return a mask in which row i attends to columns up to i."""
    _check_size(size)
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """Return a mask in which the last row attends to all columns."""
    _check_size(size)
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)


def _check_size(size: tuple[int, ...]) -> None:
    if len(size) != 2:
        raise AssertionError("causal bias only supports 2D tensors")
