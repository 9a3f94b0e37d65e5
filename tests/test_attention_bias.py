"""`ts.nn.attention.bias`: causal masks created on demand."""

import pytest

import ts
from ts.nn.attention.bias import CausalBias, CausalVariant, causal_lower_right, causal_upper_left
from ts.nn.functional import scaled_dot_product_attention


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("make", [causal_upper_left, causal_lower_right])
def test_attention(make, rows):
    """Attention with a bias equals attention with the bool mask, and has gradients."""
    ts.manual_seed(0)
    q, k, v = ts.randn(1, 2, rows, 4, requires_grad=True), ts.randn(1, 2, 3, 4), ts.randn(1, 2, 3, 4)
    mask = make(rows, 3)
    result = scaled_dot_product_attention(q, k, v, mask)
    assert ts.allclose(result, scaled_dot_product_attention(q, k, v, mask._materialize()))
    result.sum().backward()
    assert q.grad is not None
    scaled = scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.1)
    assert ts.allclose(scaled, scaled_dot_product_attention(q, k, v, mask._materialize(), scale=0.1))
    with pytest.raises(ValueError, match="CausalBias should not be used with causal=True"):
        scaled_dot_product_attention(q, k, v, mask, is_causal=True)


def test_masks():
    assert causal_upper_left(2, 3)._materialize().tolist() == [[True, False, False], [True, True, False]]
    assert causal_lower_right(2, 3)._materialize().tolist() == [[True, True, False], [True, True, True]]
    mask = CausalBias(CausalVariant.LOWER_RIGHT, 2, 3)
    assert isinstance(mask, ts.Tensor) and repr(mask) == repr(mask._materialize()) and mask.seq_len_kv == 3
    with pytest.warns(UserWarning, match="will produce NaNs in the output when seq_len_q > seq_len_kv!"):
        causal_lower_right(3, 2)
    with pytest.raises(AssertionError, match="variant must be a CausalVariant, got int"):
        CausalBias(1, 2, 3)


@pytest.mark.parametrize("dtype", [ts.float32, ts.bfloat16])
def test_attention_without_features(dtype):
    """Without features, all weights are equal, and the result is the mean of the values."""
    query, key, value = (ts.ones(shape, dtype=dtype) for shape in ((1, 2, 0), (1, 3, 0), (1, 3, 4)))
    result = ts.nn.functional.scaled_dot_product_attention(query, key, value)
    assert result.shape == (1, 2, 4) and result.float().sub(1).abs().max() < 1e-2
