"""The meta device compared with PyTorch's: equal shapes, dtypes, strides and errors.

Shapes that do not match raise the errors of PyTorch's CPU operators, as in `tests/test_meta.py`.
"""

import pytest
import torch

import ts

CALLS = """
m.linalg.svd(f(5, 3))
m.linalg.svd(f(2, 5, 3), full_matrices=False)
m.linalg.qr(f(5, 3))
m.linalg.eigh(f(3, 3))
m.linalg.eig(f(3, 3))
m.linalg.inv(f(2, 3, 3))
m.linalg.solve(f(3, 3), f(3, 2))
m.linalg.lu(f(5, 3))
m.linalg.lu_factor(f(5, 3))
m.linalg.cholesky(f(3, 3))
m.linalg.det(f(2, 3, 3))
m.linalg.slogdet(f(2, 3, 3))
m.linalg.pinv(f(5, 3))
m.linalg.matrix_rank(f(5, 3))
m.linalg.matrix_exp(f(3, 3))
m.linalg.ldl_factor(f(3, 3))
m.matrix_exp(f(2, 3, 3))
m.orgqr(f(4, 3), f(3))
m.fft.fft(f(4, 6))
m.fft.rfft(f(4, 6))
m.fft.irfft(f(4, 6).to(m.complex64))
m.fft.fft2(f(2, 4, 6))
m.fft.rfftn(f(2, 4, 6))
m.nn.functional.pad(f(3, 4), [1, 2, 3, 4])
m.nn.functional.pad(f(1, 3, 4), [1, 2], mode="reflect")
f(3, 4).gather(1, i(3, 2))
f(3, 4).scatter(1, i(3, 2), f(3, 2))
f(3, 4).index_select(1, i(5))
f(3, 4)[i(5)]
f(3, 4)[:, i(2, 2)]
f(3, 4, 5)[i(2), :, i(2)]
m.take(f(3, 4), i(2, 2))
m.hstack([f(3, 4), f(3, 2)])
m.vstack([f(4), f(2, 4)])
m.dstack([f(3, 4), f(3, 4)])
m.cat([f(3, 4), f(2, 4)])
m.stack([f(3, 4), f(3, 4)], 1)
m.diag(f(4))
m.diag(f(3, 4), 1)
m.diag_embed(f(3, 4))
m.kron(f(2, 3), f(4, 5))
m.einsum("ij,jk->ik", f(3, 4), f(4, 5))
m.tensordot(f(3, 4, 5), f(5, 4, 2), dims=([1, 2], [1, 0]))
m.cdist(f(5, 3), f(4, 3))
m.pdist(f(5, 3))
m.atleast_3d(f(3, 4))
m.rot90(f(3, 4))
m.trace(f(3, 3))
m.diff(f(3, 4))
m.cummax(f(3, 4), 1)
m.logcumsumexp(f(3, 4), 1)
m.mode(f(3, 4))
m.quantile(f(3, 4), 0.5, 1)
m.searchsorted(f(4), f(2, 3))
m.histc(f(4), 5)
m.nonzero_static(f(3, 4), size=5)
m.polygamma(1, f(3))
m.special.chebyshev_polynomial_t(f(3, 1), f(4))
m.nn.functional.conv2d(f(2, 3, 8, 8), f(5, 3, 3, 3), padding=1)
m.nn.functional.conv_transpose2d(f(2, 3, 8, 8), f(3, 5, 2, 2), stride=2)
m.nn.functional.max_pool2d(f(2, 3, 8, 8), 2)
m.nn.functional.interpolate(f(2, 3, 8, 8), scale_factor=2.0, mode="bilinear")
m.nn.functional.grid_sample(f(1, 2, 4, 4), f(1, 3, 3, 2), align_corners=False)
m.nn.functional.one_hot(i(3), 4)
m.nn.functional.embedding(i(3, 2), f(4, 5))
m.nn.functional.layer_norm(f(3, 4), [4])
m.nn.functional.cross_entropy(f(3, 4), i(3))
m.nn.functional.scaled_dot_product_attention(f(2, 3, 4), f(2, 5, 4), f(2, 5, 6))
f(3, 4).t() + 1
f(3, 4).t().exp()
f(3, 4).t() + f(4, 3)
f(2, 3, 4).permute(2, 0, 1).sum(0)
f(2, 3, 4).permute(2, 0, 1).reshape(4, 6)
f(2, 3, 4).transpose(0, 1).reshape(-1)
f(2, 3, 4).unfold(1, 2, 1)
f(2, 3, 4).as_strided([2, 2], [3, 1], 1)
f(1, 3).expand(4, -1)
f(3, 1, 4).squeeze(1)
f(3, 4)[None, 1:, ::2]
f(3, 4).flip(0)
f(3, 4).unsqueeze(1)
f(3, 3).diagonal(1)
f(3, 4).unflatten(1, [2, -1])
f(4).to(m.complex64).real
f(3, 4).repeat_interleave(i(3), 0, output_size=6)
m.combinations(f(4))
m.nonzero(f(3, 4))
m.argwhere(f(3, 4))
m.where(f(3, 4))
m.masked_select(f(3), f(3) > 0)
m.unique(f(3))
m.unique(f(3, 4), dim=0)
m.unique_consecutive(f(3))
m.bincount(i(3))
m.equal(f(3), f(3))
m.allclose(f(3), f(3))
f(1).item()
bool(f(1))
f(3).tolist()
f(3).cpu()
m.repeat_interleave(i(3))
m.narrow(f(3), 0, i(1)[0], 1)
m.nn.functional.one_hot(i(3))
""".strip().splitlines()

# Operators whose strides on PyTorch's meta device differ from its CPU; here they equal the CPU's.
AS_ON_THE_CPU = {
    "m.linalg.svd(f(5, 3))", "m.linalg.svd(f(2, 5, 3), full_matrices=False)", "m.linalg.eig(f(3, 3))",
    "m.fft.rfftn(f(2, 4, 6))", "m.nonzero_static(f(3, 4), size=5)",
    # PyTorch counts the elements of a mask, which fails here; the number of combinations is known
    "m.combinations(f(4))",
}  # fmt: skip


def leaves(x):
    if isinstance(x, (torch.Tensor, ts.Tensor)):
        return [x]
    return [y for z in x for y in leaves(z)] if isinstance(x, (tuple, list)) else []


def outcome(module, text, device="meta"):
    names = {
        "m": module,
        "f": lambda *shape: module.ones(shape, device=device),
        "i": lambda *shape: module.ones(shape, dtype=module.int64, device=device),
    }
    try:
        result = eval(text, names)
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]
    return [
        (
            tuple(t.shape),
            str(t.dtype).split(".")[1],
            [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1],
        )
        for t in leaves(result)
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", CALLS)
def test_as_in_pytorch(text):
    assert outcome(ts, text) == outcome(torch, text, "cpu" if text in AS_ON_THE_CPU else "meta")
