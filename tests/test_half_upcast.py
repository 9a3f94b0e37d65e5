"""Kernels for 16-bit floats compute in 32 bits and round once."""

import pytest

import ts

f = ts.nn.functional
CALLS = {
    "softmax": lambda x: x.softmax(-1), "log_softmax": lambda x: x.log_softmax(0), "logsumexp": lambda x: x.logsumexp(1),
    "layer_norm": lambda x: f.layer_norm(x, [4], x[0, 0], x[0, 0]), "group_norm": lambda x: f.group_norm(x, 2),
    "silu": f.silu, "gelu": f.gelu, "elu": f.elu, "celu": lambda x: f.celu(x, 0.3), "softplus": f.softplus, "relu6": f.relu6,
    "leaky_relu": lambda x: f.leaky_relu(x, 0.25), "clamp": lambda x: x.clamp(-0.5, 1), "sum": lambda x: x.sum(1),
    "mean": lambda x: x.mean(), "var": lambda x: x.var(1), "norm": lambda x: x.norm(dim=1), "cumsum": lambda x: x.cumsum(1),
    "max": lambda x: x.max(1).values, "amax": lambda x: x.amax((0, 2)), "topk": lambda x: x.topk(2)[0], "median": lambda x: x.median(),
    "max_pool": lambda x: f.max_pool2d(x, 2), "avg_pool": lambda x: f.avg_pool1d(x, 2), "adaptive": lambda x: f.adaptive_avg_pool2d(x, (3, 2)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [ts.bfloat16, ts.float16], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_rounded_once(name, dtype):
    ts.manual_seed(0)
    x = (ts.randn(6, 8, 4) * 3).to(dtype)
    for source in (x, x.permute(2, 0, 1)[..., :4], x[:, ::2]):
        result = CALLS[name](source)
        assert result.dtype == dtype
        assert ts.equal(result, CALLS[name](source.float()).to(dtype))


def test_dtype_argument_is_used():
    x = ts.ones(2, 3, dtype=ts.bfloat16)
    assert x.softmax(1, dtype=ts.float32).dtype == ts.float32
    assert x.sum(1, dtype=ts.float64).dtype == ts.float64
    assert x.cumsum(1, dtype=ts.float32).dtype == ts.float32


def test_tensors_of_two_dtypes_and_without_elements():
    x, weight = ts.ones(2, 4, dtype=ts.bfloat16), ts.ones(4)
    with pytest.raises(RuntimeError):
        f.layer_norm(x, [4], weight.half(), weight.half())
    assert x[:0].softmax(1).shape == (0, 4)
    assert x[:1].expand(3, 4).sum(0).tolist() == [3.0] * 4
    assert x.argmax(1).dtype == ts.int64
