"""Sparse tensors: each expression has PyTorch's values, pattern, text or error."""

import warnings

import pytest
import torch

import ts

SETUP = """
i = T.tensor([[0, 1, 1], [2, 0, 2]])
v = T.tensor([3.0, 4.0, 5.0])
s = T.sparse_coo_tensor(i, v, (2, 3))
u = T.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 3.0], (2, 3))
h = T.sparse_coo_tensor([[0, 1]], [[1.0, 2.0], [3.0, 4.0]], (3, 2))
c = T.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3.0, 4.0, 5.0], (2, 3))
d = T.arange(6.0).reshape(2, 3)
"""
EXPRESSIONS = """
s; u; h; c; u.coalesce(); d.to_sparse(); d.to_sparse(1); s.t(); s * 2; u * 2; u * u; u + u; u + s; s - s; s + u.double(); s * d; d * s; u * d
h * d[0, 0]; h * T.ones(3, 2); s / 2; s // 2; u // 2; s.sum(1); s.sum(0); T.sparse.sum(s); T.sparse.sum(s, 0); T.sparse.sum(h, 1); T.sparse.sum(h, 0)
T.sparse.softmax(s, 0); T.sparse.softmax(s, 1); T.sparse.log_softmax(u, 1); T.sparse.mm(s, d.t()); T.sparse.mm(s, s.t()); s @ d.t(); d.t() @ s; s @ d[0]
T.sparse.addmm(T.ones(2, 2), s, d.t(), beta=2, alpha=3); T.smm(s, d.t()); T.hspmm(s, d.t()); s.index_select(0, T.tensor([1, 1, 0])); h.index_select(1, T.tensor([1]))
s.index_select(1, T.tensor([2, 0])); d.sparse_mask(s); d.sparse_mask(u); s[0]; s[1, 2]; s[:, 2]; h[0]; h[:, 1]; s.unsqueeze(1); h.unsqueeze(2); T.cat([s, s], 1)
T.stack([s, s]); s.double(); s.long(); s.bool(); s.clone(); s.detach(); T.zeros(2, 3, layout=T.sparse_coo); u.norm(); s.any(); -u; abs(u); u.sqrt(); u ** 2; u.relu()
s.clone().zero_(); T.sparse_coo_tensor(i, v); T.sparse_coo_tensor(i, v[:2], (2, 3)); T.sparse_coo_tensor(i, v, (2,)); T.sparse_coo_tensor(i[0], v); s.to_dense(T.double)
T.sparse_coo_tensor(u._indices(), u._values(), (2, 3), is_coalesced=True, check_invariants=True); T.sparse_coo_tensor((2, 3)); s.to_sparse_csr(); c.to_sparse(); c @ d.t()
d.to_sparse_csc(); c.indices(); s.indices(); s.values(); d.values(); d.is_coalesced(); d.coalesce(); c * 2; c + c; c.t(); s + 1; s + d; s / d; s ** 0; s.reshape(6); s.expand(2, 2, 3)
s.contiguous(); s.numpy(); s.tolist(); s.stride(); s.nbytes; s.type(); s.storage(); len(s); h.transpose(0, 1); s.permute(1, 0); s.to_sparse(1); T.mv(s, d[0]); T.mv(s, d[:, 0])
s.narrow_copy(1, 0, 2); s.log1p(); s.isnan(); d.clone().add_(s); T.add(d, s, alpha=2); s.clone().mul_(2); s.clone().add_(u); s.clone().add_(d); s @ d; d @ s; T.cat([s, d])
s.sparse_dim(); h.dense_dim(); d.sparse_dim(); T.zeros_like(s); s.half(); s.requires_grad_(); T.bmm(T.stack([s, s]), T.ones(2, 3, 2)); s.sparse_mask(u); s[None]; s['a']; s[5]
T.sparse.FloatTensor(i, v, T.Size([2, 3])); T.sparse.FloatTensor(2, 3); isinstance(s, T.sparse.FloatTensor); isinstance(s, T.FloatTensor); T.sparse_coo_tensor([[0, 1]], 1.0)
"""
CASES = [e.strip() for line in EXPRESSIONS.strip().splitlines() for e in line.split(";")]


def outcome(package, expression):
    names = {"T": package}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(SETUP, names)
            found = eval(expression, names)
            coalesced = found.is_coalesced() if isinstance(found, package.Tensor) and found.is_sparse else None
            return repr(found), coalesced
        except Exception as error:
            kind = next(cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins")
            return kind, str(error).split("\n")[0]


@pytest.mark.parametrize("expression", CASES)
def test_expression(expression):
    """An expression of sparse tensors has PyTorch's values, pattern, text or error."""
    assert outcome(ts, expression) == outcome(torch, expression)
