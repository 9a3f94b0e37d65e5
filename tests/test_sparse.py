"""Sparse tensors: construction, operators, files, gradients, optimizers and errors."""

import copy
import io
import pickle

import numpy as np
import pytest

import ts

INDICES = [[0, 1, 1], [2, 0, 2]]
VALUES = [3.0, 4.0, 5.0]
DENSE = [[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]]


def sparse(**options):
    return ts.sparse_coo_tensor(INDICES, VALUES, (2, 3), **options)


def with_duplicate_index():
    """Return a COO tensor with a duplicate index."""
    return ts.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 3.0], (2, 3))


def other():
    return ts.arange(6.0).reshape(2, 3)


def equals_dense(x, y):
    dense = x.to_dense() if x.layout is not ts.strided else x
    return ts.equal(dense, ts.as_tensor(y, dtype=dense.dtype))


# ---------------------------------------------------------------- construction and parts


def test_parts():
    """A COO tensor has PyTorch's layout, indices, values and counts."""
    x = sparse()
    assert x.layout is ts.sparse_coo and x.is_sparse and not x.is_sparse_csr and x.is_cpu
    assert (x.shape, x.dtype, x.sparse_dim(), x.dense_dim(), x._nnz()) == ((2, 3), ts.float32, 2, 0, 3)
    assert x.type() == "torch.sparse.FloatTensor" and x.device == ts.device("cpu")
    assert not x.is_coalesced() and x.coalesce().is_coalesced()
    assert equals_dense(x, DENSE) and x.stride() == (0, 0) and not x.is_contiguous()


def test_coalesce_sums_equal_indices():
    """`coalesce` sums the values of equal indices and sorts the indices."""
    x = with_duplicate_index().coalesce()
    assert x.indices().tolist() == [[0, 1], [1, 0]] and x.values().tolist() == [3.0, 3.0]
    assert x.coalesce() is x


def test_values_of_blocks():
    """The values of a hybrid tensor have the dense dimensions after the sparse dimensions."""
    x = ts.sparse_coo_tensor([[0, 1]], [[1.0, 2.0], [3.0, 4.0]], (3, 2))
    assert (x.sparse_dim(), x.dense_dim()) == (1, 1)
    assert equals_dense(x, [[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]) and equals_dense(x[0], [1.0, 2.0])


def test_size_is_inferred():
    """Without a size, the largest indices determine it; without values the tensor is empty."""
    assert ts.sparse_coo_tensor(INDICES, VALUES).shape == (2, 3)
    assert ts.sparse_coo_tensor((2, 3))._nnz() == 0
    assert ts.zeros(2, 3, layout=ts.sparse_coo)._nnz() == 0


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ts.sparse_coo_tensor(INDICES, VALUES[:2], (2, 3)), "must have same nnz"),
        (lambda: ts.sparse_coo_tensor([0, 1], [1.0, 2.0]), "indices must be sparse_dim x nnz"),
        (lambda: ts.sparse_coo_tensor([[5]], [1.0], (3,)), "found index 5"),
        (lambda: ts.sparse_coo_tensor([[-5]], [1.0], (3,)), "found negative index -5 for dim 0"),
        (lambda: ts.sparse_coo_tensor([[0]], [[1.0, 2]], (3, 3)), "values has incorrect size"),
        (lambda: ts.sparse_coo_tensor([[0]], [1.0], (3, 3)), "is not satisfied"),
        (lambda: sparse().values(), "Cannot get values on an uncoalesced tensor"),
        (lambda: ts.ones(3).indices(), "expected sparse coordinate tensor layout but got Strided"),
        (lambda: sparse() + 1, "add\\(sparse, dense\\) is not supported"),
        (lambda: sparse() + other(), "add\\(sparse, dense\\) is not supported"),
        (lambda: sparse() / other(), "Sparse division requires a scalar"),
        (lambda: sparse() ** 0, "cannot raise to zeroth power"),
        (lambda: sparse().reshape(6), "reshape is not implemented for sparse tensors"),
        (lambda: sparse() @ other(), "Expected dim 0 size 3, got 2"),
    ],
)
def test_rejected(make, message):
    """Inconsistent indices, values and sizes raise PyTorch's errors."""
    with pytest.raises(RuntimeError, match=message):
        make()


@pytest.mark.parametrize(
    "name", ["exp", "sort", "cumsum", "argmax", "sigmoid", "eq", "mean", "numpy", "nonzero"]
)
def test_operators_without_a_sparse_kernel(name):
    """An operator without a sparse kernel raises an error and does not read the array."""
    arguments = {"cumsum": (0,), "eq": (sparse(),)}.get(name, ())
    error, message = (
        (TypeError, "Sparse layout") if name == "numpy" else (NotImplementedError, "'SparseCPU' backend")
    )
    with pytest.raises(error, match=message):
        getattr(sparse(), name)(*arguments)


def test_every_record_without_a_sparse_kernel_rejects():
    """No unary operator treats a sparse tensor as a dense one."""
    from ts.ops import registry

    x = sparse().coalesce()
    for record in registry.records():
        arguments = record.schema.arguments
        is_unary = len(arguments) == 1 and arguments[0].type.str() == "Tensor"
        if not is_unary or record.tensor_kernel or record.sparse or (record.base is not None and record.base.sparse):
            continue
        if record.reads_elements:
            with pytest.raises((NotImplementedError, RuntimeError)):
                record.operator(x)


# ---------------------------------------------------------------- arithmetic


def test_arithmetic():
    """Sums and products of sparse tensors, dense tensors and numbers equal the dense results."""
    x, y, d = sparse(), with_duplicate_index(), other()
    assert equals_dense(x * 2, [[0, 0, 6], [8, 0, 10]]) and equals_dense(x / 2, [[0, 0, 1.5], [2, 0, 2.5]])
    assert equals_dense(-x, [[0, 0, -3], [-4, 0, -5]]) and equals_dense(x + y, [[0, 3, 3], [7, 0, 5]])
    assert equals_dense(x - y, [[0, -3, 3], [1, 0, 5]]) and equals_dense(d + x, [[0, 1, 5], [7, 4, 10]])
    assert equals_dense(d - x, [[0, 1, -1], [-1, 4, 0]]) and equals_dense(ts.add(d, x, alpha=2), [[0, 1, 8], [11, 4, 15]])
    assert equals_dense(x * d, [[0, 0, 6], [12, 0, 25]]) and equals_dense(d * x, [[0, 0, 6], [12, 0, 25]])
    assert equals_dense(x * y, [[0, 0, 0], [12, 0, 0]]) and equals_dense(y**2, [[0, 9, 0], [9, 0, 0]])
    assert (x + y.double()).dtype is ts.float64 and (x * d).layout is ts.sparse_coo


def test_functions_of_sums():
    """Nonlinear functions are applied after equal indices are summed."""
    assert equals_dense(with_duplicate_index().sqrt(), [[0, 3**0.5, 0], [3**0.5, 0, 0]])
    assert equals_dense(abs(-with_duplicate_index()), [[0, 3, 0], [3, 0, 0]])


def test_in_place():
    """In-place operators change the tensor; those of dense tensors accept sparse arguments."""
    x, d = sparse(), other()
    x.mul_(2).add_(with_duplicate_index())
    assert equals_dense(x, [[0, 3, 6], [11, 0, 10]])
    d.add_(sparse(), alpha=-1)
    assert equals_dense(d, [[0, 1, -1], [-1, 4, 0]])
    assert x.zero_()._nnz() == 0 and x.shape == (2, 3)


def test_products():
    """Products with dense and sparse matrices and vectors equal the dense products."""
    x, d = sparse(), other()
    expected = [[6, 15], [10, 37]]
    for product in (x @ d.t(), ts.mm(x, d.t()), ts.sparse.mm(x, d.t()), ts.spmm(x, d.t()), ts.smm(x, d.t())):
        assert equals_dense(product, expected)
    assert equals_dense(d.t() @ x, [[12, 0, 15], [16, 0, 23], [20, 0, 31]]) and equals_dense(x @ d[0], [6, 10])
    assert equals_dense(x @ x.t(), [[9, 15], [15, 41]]) and (x @ x.t()).is_sparse
    assert equals_dense(ts.sparse.addmm(ts.ones(2, 2), x, d.t(), beta=2, alpha=3), [[20, 47], [32, 113]])
    assert equals_dense(ts.hspmm(x, d.t()), expected) and equals_dense(with_duplicate_index() @ d.t(), [[3, 12], [0, 9]])
    batch = ts.stack([x, x]).matmul(ts.stack([d.t(), d.t()]))
    assert equals_dense(batch, [expected, expected])


def test_large_products_in_blocks():
    """A product that needs several blocks of scaled rows equals the dense product."""
    generator = np.random.default_rng(0)
    indices = generator.integers(0, 300, (2, 20_000))
    values = generator.standard_normal(20_000)
    x = ts.sparse_coo_tensor(indices, values, (300, 300))
    d = ts.from_numpy(generator.standard_normal((300, 100)))
    assert ts.allclose(x @ d, x.to_dense() @ d)


def test_sums_and_softmax():
    """Sums, norms, and softmax over stored elements equal the dense results."""
    x = sparse()
    assert x.sum().item() == 12 and ts.sparse.sum(with_duplicate_index()).item() == 6
    assert equals_dense(ts.sparse.sum(x, 0), [4, 0, 8]) and equals_dense(x.sum(1), [3, 9])
    assert x.norm().item() == pytest.approx(50**0.5) and ts.norm(x).item() == pytest.approx(50**0.5)
    weights = ts.sparse.softmax(x, 1).values()
    assert ts.allclose(weights, ts.tensor([1.0, 0.26894143, 0.73105860]))
    assert ts.allclose(ts.sparse.log_softmax(x, 1).values().exp(), weights)


def test_shapes():
    """Transpose, select and concatenation of sparse tensors equal the dense results."""
    x = sparse()
    for transposed in (x.t(), x.T, x.mT, x.transpose(0, 1), x.permute(1, 0)):
        assert equals_dense(transposed, np.array(DENSE).T)
    assert equals_dense(x[1], DENSE[1]) and equals_dense(x[:, 2], [3, 5]) and equals_dense(x[1, 2], 5) and equals_dense(x[...], DENSE)
    assert equals_dense(x.index_select(0, ts.tensor([1, 1, 0])), [DENSE[1], DENSE[1], DENSE[0]])
    assert equals_dense(x.index_select(1, ts.tensor([2, 0])), [[3, 0], [5, 4]])
    assert equals_dense(ts.cat([x, x]), DENSE + DENSE) and equals_dense(ts.stack([x, x], 2)[:, :, 0], DENSE)
    assert equals_dense(x.unsqueeze(1)[:, 0], DENSE) and [equals_dense(row, d) for row, d in zip(x, DENSE, strict=True)]
    assert equals_dense(x.narrow_copy(1, 2, 1), [[3], [5]])
    with pytest.raises(IndexError):
        x[2]


def test_conversions():
    """Conversions between dense, COO and CSR, and between dtypes, preserve the elements."""
    x, d = sparse(), ts.tensor(DENSE)
    assert equals_dense(d.to_sparse(), DENSE) and d.to_sparse().is_coalesced() and d.to_sparse(1).dense_dim() == 1
    assert x.double().dtype is ts.float64 and x.to(ts.int32).dtype is ts.int32 and x.bool().dtype is ts.bool
    assert equals_dense(x.clone(), DENSE) and equals_dense(copy.deepcopy(x), DENSE) and equals_dense(x.detach(), DENSE)
    assert equals_dense(ts.ones(2, 3).sparse_mask(x), [[0, 0, 1], [1, 0, 1]])
    assert ts.zeros_like(x)._nnz() == 0 and ts.zeros_like(x).is_sparse
    with pytest.raises(NotImplementedError, match="only supported on the CPU"):
        x.to("meta")


def test_compressed_rows():
    """CSR and CSC tensors can be constructed, converted and multiplied."""
    x = ts.sparse_csr_tensor([0, 1, 3], [2, 0, 2], VALUES, (2, 3))
    assert x.layout is ts.sparse_csr and x.is_sparse_csr and not x.is_sparse and equals_dense(x, DENSE)
    assert x.crow_indices().tolist() == [0, 1, 3] and x.col_indices().tolist() == [2, 0, 2]
    assert equals_dense(x @ other().t(), [[6, 15], [10, 37]]) and equals_dense(x * 2, np.array(DENSE) * 2)
    assert equals_dense(x.to_sparse(), DENSE) and equals_dense(sparse().to_sparse_csr(), DENSE)
    assert x.t().layout is ts.sparse_csc and equals_dense(x.t(), np.array(DENSE).T)
    assert sparse().to_sparse_csc().ccol_indices().tolist() == [0, 1, 1, 3]
    with pytest.raises(RuntimeError, match="expected sparse coordinate tensor layout"):
        x.indices()
    with pytest.raises(RuntimeError, match="col_indices < ncols"):
        ts.sparse_csr_tensor([0, 1], [5], [1.0], (1, 2))
    with pytest.raises(NotImplementedError, match="sparse_csr_tensor"):
        ts.sparse_bsr_tensor([0, 1], [0], [[[1.0]]])


def test_repr():
    """`repr` of sparse tensors equals PyTorch's."""
    assert repr(sparse()) == (
        "tensor(indices=tensor([[0, 1, 1],\n"
        "                       [2, 0, 2]]),\n"
        "       values=tensor([3., 4., 5.]),\n"
        "       size=(2, 3), nnz=3, layout=torch.sparse_coo)"
    )
    assert repr(ts.sparse_coo_tensor((0, 2), dtype=ts.float64, requires_grad=True)) == (
        "tensor(indices=tensor([], size=(2, 0)),\n"
        "       values=tensor([], size=(0,)),\n"
        "       size=(0, 2), nnz=0, dtype=torch.float64, layout=torch.sparse_coo,\n"
        "       requires_grad=True)"
    )
    assert repr(sparse().to_sparse_csr()) == (
        "tensor(crow_indices=tensor([0, 1, 3]),\n"
        "       col_indices=tensor([2, 0, 2]),\n"
        "       values=tensor([3., 4., 5.]), size=(2, 3), nnz=3,\n"
        "       layout=torch.sparse_csr)"
    )


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    "make", [sparse, with_duplicate_index, lambda: sparse().coalesce(), lambda: sparse().to_sparse_csr()]
)
def test_pickles_and_files(make):
    """Pickles and saved files preserve indices, values, size and the coalesced flag."""
    x = make()
    file = io.BytesIO()
    ts.save({"x": x}, file)
    file.seek(0)
    for y in (pickle.loads(pickle.dumps(x)), ts.load(file)["x"]):
        assert y.layout is x.layout and equals_dense(y, x.to_dense()) and y._nnz() == x._nnz()
        assert not x.is_sparse or y.is_coalesced() == x.is_coalesced()


def test_files_with_invalid_indices():
    """Loading a file with indices out of range raises an error."""
    x = sparse()
    x._indices()[0, 0] = 7
    file = io.BytesIO()
    ts.save(x, file)
    file.seek(0)
    with pytest.raises(ts.errors.ArchiveError, match="components of a sparse tensor are inconsistent"):
        ts.load(file)


# ---------------------------------------------------------------- gradients


def test_gradient_of_values():
    """The gradient of sparse values is the tensor's gradient at their indices, including duplicate
    indices."""
    values = ts.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def made():
        return ts.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], values, (2, 3))

    ts.sparse.mm(made(), other().t()).sum().backward()
    assert values.grad.tolist() == [5.0, 5.0, 3.0]
    values.grad = None
    (made().to_dense() * other()).sum().backward()
    assert values.grad.tolist() == [1.0, 1.0, 3.0]
    values.grad = None
    made().coalesce().values().pow(2).sum().backward()
    assert values.grad.tolist() == [6.0, 6.0, 6.0]


def test_gradient_of_sparse_product():
    """The sparse factor has a sparse gradient with `sparse.mm` and a dense one with `mm`."""
    for product, is_sparse in ((ts.sparse.mm, True), (ts.mm, False)):
        x, d = sparse(requires_grad=True), other().t().requires_grad_()
        product(x, d).sum().backward()
        assert x.grad.is_sparse == is_sparse
        expected = [[0, 0, 7], [3, 0, 7]] if is_sparse else [[3, 5, 7], [3, 5, 7]]
        assert equals_dense(x.grad, expected) and equals_dense(d.grad, [[4, 4], [0, 0], [8, 8]])


def test_gradients_of_conversions_and_sums():
    """Conversions, sums, softmax and products with numbers have gradients."""
    x = sparse(requires_grad=True)
    x.to_dense().sum().backward()
    assert equals_dense(x.grad, [[0, 0, 1], [1, 0, 1]]) and x.grad.is_sparse
    d = other().requires_grad_()
    (d.to_sparse() * 2).to_dense().sum().backward()
    assert equals_dense(d.grad, [[0, 2, 2], [2, 2, 2]])
    y = sparse(requires_grad=True)
    ts.sparse.sum(y, 0).to_dense().mul(ts.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert equals_dense(y.grad, [[0, 0, 3], [1, 0, 3]])
    z = sparse(requires_grad=True)
    ts.sparse.softmax(z, 1).to_dense().mul(other()).sum().backward()
    a = 0.19661193
    assert ts.allclose(z.grad.to_dense(), ts.tensor([[0, 0, 0], [-2 * a, 0, 2 * a]]), atol=1e-6)


def test_embedding_gradients():
    """With `sparse=True` the gradient stores one row per index; it can be added to a dense gradient."""
    table = ts.nn.Embedding(4, 2, sparse=True)
    table(ts.tensor([1, 1, 2])).sum().backward()
    assert table.weight.grad.is_sparse and equals_dense(table.weight.grad, [[0, 0], [2, 2], [1, 1], [0, 0]])
    table(ts.tensor([3])).sum().backward()
    assert table.weight.grad.is_sparse and equals_dense(table.weight.grad, [[0, 0], [2, 2], [1, 1], [1, 1]])
    table.weight.sum().backward()
    assert not table.weight.grad.is_sparse and equals_dense(table.weight.grad, [[1, 1], [3, 3], [2, 2], [2, 2]])
    table(ts.tensor([0])).sum().backward()
    assert equals_dense(table.weight.grad, [[2, 2], [3, 3], [2, 2], [2, 2]])
    table.zero_grad()
    (table(ts.tensor([0])).sum() + table.weight.sum()).backward()
    assert equals_dense(table.weight.grad, [[2, 2], [1, 1], [1, 1], [1, 1]])


def test_embedding_bag_gradients():
    """Sparse gradients of embedding bags are scaled by the mode; padding has no gradient."""
    for mode, factor in (("sum", 1.0), ("mean", 0.5)):
        bag = ts.nn.EmbeddingBag(4, 2, mode=mode, sparse=True, padding_idx=3)
        bag(ts.tensor([1, 2, 3, 1]), ts.tensor([0, 2])).sum().backward()
        assert bag.weight.grad.is_sparse
        assert equals_dense(bag.weight.grad, [[0, 0], [1 + factor] * 2, [factor] * 2, [0, 0]])
    with pytest.raises(ValueError, match="max mode does not support sparse weights"):
        ts.nn.EmbeddingBag(4, 2, mode="max", sparse=True)(ts.tensor([1]), ts.tensor([0]))


@pytest.mark.parametrize(
    ("sizes", "index", "coordinates"),
    [((4,), 3, [[3]]), ((4,), [3], [[3]]), ((1,), 0, [[0]]), ((), 0, []), ((), [0], []), ((2, 3), [[0, 1]], [[0, 1], [0, 1]])],
)
def test_coordinates_of_the_sparse_gradient_of_gather(sizes, index, coordinates):
    """A 0-dim index selects one element of a vector. The gradient of a 0-dim tensor has no coordinates."""
    x = ts.ones(sizes, requires_grad=True)
    ts.gather(x, 0, ts.tensor(index), sparse_grad=True).sum().backward()
    assert x.grad.is_sparse and x.grad._indices().tolist() == coordinates
    assert x.grad._values().tolist() == [1.0] * ts.tensor(index).numel()


def test_gather_with_sparse_gradient():
    """`gather` with `sparse_grad=True` has a sparse gradient."""
    x = ts.ones(3, 2, requires_grad=True)
    ts.gather(x, 1, ts.tensor([[0], [1], [0]]), sparse_grad=True).sum().backward()
    assert x.grad.is_sparse and equals_dense(x.grad, [[1, 0], [0, 1], [1, 0]])


# ---------------------------------------------------------------- optimizers


def steps(make, count=3):
    """Return the embedding table after some steps with sparse gradients."""
    table = ts.nn.Embedding.from_pretrained(ts.arange(18.0).reshape(6, 3) / 10, freeze=False, sparse=True)
    optimizer = make(table.parameters())
    for k in range(count):
        optimizer.zero_grad()
        y = table(ts.tensor([[1, 2], [1, 5 - k]]))
        (y * ts.arange(1.0, 13.0).reshape(2, 2, 3)).sum().backward()
        optimizer.step()
    return table.weight.detach()


@pytest.mark.parametrize(
    "name, options, row",
    [
        ("SGD", {}, [-2.1, -2.6, -3.1]),
        ("SGD", {"momentum": 0.9}, [-4.188, -5.21, -6.232]),
        ("SGD", {"momentum": 0.9, "nesterov": True}, [-6.1392, -7.649, -9.1588]),
        ("SGD", {"maximize": True}, [2.7, 3.4, 4.1]),
        ("Adagrad", {}, [0.07155, 0.17155, 0.27155]),
        ("Adagrad", {"lr_decay": 0.1}, [0.08761, 0.18761, 0.28761]),
        ("SparseAdam", {}, [0.0, 0.1, 0.2]),
        ("SparseAdam", {"maximize": True, "betas": (0.8, 0.9)}, [0.6, 0.7, 0.8]),
    ],
)
def test_optimizers(name, options, row):
    """Optimizer steps with sparse gradients equal PyTorch's; rows without a gradient do not change."""
    weight = steps(lambda params: getattr(ts.optim, name)(params, lr=0.1, **options))
    assert ts.allclose(weight[1], ts.tensor(row), atol=1e-4) and weight[0].tolist() == pytest.approx(
        [0, 0.1, 0.2]
    )


@pytest.mark.parametrize(
    "name", ["Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adadelta", "ASGD", "RMSprop", "Rprop"]
)
def test_optimizers_that_reject(name):
    """Optimizers without sparse support raise an error with their name."""
    optimizer_name = "Adam" if name == "AdamW" else name
    with pytest.raises(RuntimeError, match=f"^{optimizer_name} does not support sparse gradients"):
        steps(lambda params: getattr(ts.optim, name)(params, lr=0.1))


def test_sparse_adam_rejects_dense_gradients():
    """SparseAdam raises errors for dense gradients and for sparse parameters."""
    x = ts.nn.Parameter(ts.ones(2))
    x.grad = ts.ones(2)
    with pytest.raises(RuntimeError, match="please consider Adam instead"):
        ts.optim.SparseAdam([x]).step()
    with pytest.raises(ValueError, match="Sparse params at indices"):
        ts.optim.SparseAdam([ts.ones(2).to_sparse()])


def test_deprecated_constructors():
    """Deprecated constructors such as `torch.sparse.FloatTensor` create sparse tensors."""
    at, values = ts.tensor([[0, 1]]), ts.tensor([1.0, 2.0])
    with pytest.warns(UserWarning, match="deprecated"):
        x = ts.sparse.FloatTensor(at, values, ts.Size([3]))
    assert equals_dense(x, [1, 2, 0]) and isinstance(x, ts.sparse.FloatTensor) and not isinstance(x, ts.FloatTensor)
    with pytest.warns(UserWarning, match="deprecated"):
        assert ts.sparse.LongTensor(at, values).dtype is ts.int64
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        ts.sparse.FloatTensor([[0]], [1.0])


# ---------------------------------------------------------------- untrusted sizes and components

HUGE = 1 << 62


@pytest.mark.parametrize(
    "make",
    [
        # the linear indices of both elements were equal modulo 2**64, and their values were summed
        lambda: ts.sparse_coo_tensor([[0, 1], [0, 0], [0, 0]], [1.0, 2.0], (4, 1 << 32, 1 << 32)).coalesce(),
        lambda: ts.sparse_coo_tensor((HUGE, HUGE)),
        lambda: ts.sparse_coo_tensor((1 << 64, 2)),
        lambda: ts.sparse_coo_tensor((-1, 2)),
        lambda: ts.sparse_coo_tensor(ts.zeros(2, 0), ts.zeros(0), (-1, 2)),
        lambda: ts.sparse_coo_tensor(ts.tensor([[(1 << 63) - 1]]), ts.ones(1)),
        lambda: ts.sparse_csr_tensor(ts.tensor([0]), ts.tensor([], dtype=ts.int64), ts.zeros(0), (0, -3)),
        lambda: ts.sparse_coo_tensor((2, 3)).sparse_resize_([-1, 2], 2, 0),
        lambda: ts.sparse_coo_tensor((2, 3)).sparse_resize_and_clear_([-3, 2], 2, 0),
        lambda: sparse().sparse_resize_([HUGE, HUGE], 2, 0),
    ],
)
def test_sizes_without_a_number_of_elements_are_rejected(make):
    with pytest.raises(RuntimeError, match=r"^numel: integer multiplication overflow$"):
        make()


@pytest.mark.parametrize("dims", [(-1, 3), (3, -1), (1, 2)])
def test_mismatched_dimensions_are_rejected(dims):
    x = ts.sparse_coo_tensor((2, 3))
    for make in (
        lambda: x.sparse_resize_([3, 2], *dims),
        lambda: x.sparse_resize_and_clear_([3, 2], *dims),
        lambda: ts.ops.aten._sparse_coo_tensor_with_dims(*dims, [3, 2]),
        lambda: ts.ops.aten._sparse_coo_tensor_with_dims_and_tensors(
            *dims, [3, 2], ts.tensor([[0], [0]]), ts.ones(1)
        ),
    ):
        with pytest.raises(RuntimeError, match="is not satisfied: len"):
            make()


def test_overflowing_pointers_are_rejected():
    pointers = ts.tensor([0, HUGE, -(1 << 63), -HUGE, 0, 2])  # each difference is 2**62, modulo 2**64
    with pytest.raises(RuntimeError, match="is not satisfied"):
        ts.sparse_csr_tensor(pointers[:-1] * 0 + pointers[1:], ts.tensor([0]), ts.ones(1), (4, 1 << 60))
    with pytest.raises(RuntimeError, match="is not satisfied"):
        ts.sparse_csr_tensor(ts.tensor([0, HUGE, -HUGE, 2]), ts.tensor([0, 1]), ts.ones(2), (3, 1 << 61))


@pytest.mark.parametrize(
    "written", [[0, HUGE, -HUGE, 2], [0, 1 << 40, 1 << 41, 1 << 42], [0, 2, 1, 2], [-1, 0, 1, 2]]
)
def test_pointers_that_were_written_to_are_checked_again(written):
    pointers = ts.tensor([0, 1, 2, 2])
    x = ts.sparse_csr_tensor(pointers, ts.tensor([0, 1]), ts.ones(2), (3, 2))
    pointers.copy_(ts.tensor(written))
    for use in (x.to_dense, x.to_sparse, lambda: x @ ts.ones(2, 1), lambda: x + x):
        with pytest.raises(RuntimeError, match="must be non-decreasing from 0 to 2"):
            use()


def test_an_expansion_that_no_memory_holds_is_rejected():
    x = ts.sparse_coo_tensor(ts.zeros(2, 4, dtype=ts.int64), ts.ones(4), (1, 1))
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        x * ts.sparse_coo_tensor(ts.zeros(2, 1, dtype=ts.int64), ts.ones(1), (1, HUGE))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ts.sgn(ts.ones(2, 3), out=x),
        lambda x: ts.arcsin(ts.ones(2, 3), out=x),
        lambda x: ts.index_select(ts.ones(2, 3), 0, x),
        lambda x: ts.index_select(x, 0, ts.sparse_coo_tensor((2,), dtype=ts.int64)),
        lambda x: ts.sspaddmm(ts.ones(2, 2), x, ts.ones(3, 2)),
    ],
)
def test_operands_of_another_layout_are_rejected(call):
    with pytest.raises((NotImplementedError, RuntimeError)):
        call(sparse())
