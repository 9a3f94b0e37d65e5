"""Operators on noncontiguous and permuted tensors, and of two dtypes: PyTorch's values, dtypes and strides."""

import itertools
import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

SHAPES = [(3, 4), (2, 3, 4), (2, 3, 4, 5), (8, 3, 2, 2)]


def layouts(x):
    """Yield the tensor in each order of dimensions, with gaps, and expanded."""
    for order in itertools.permutations(range(x.dim())):
        yield x.permute(order)
    yield x[..., ::2]
    yield x[:, 1:]
    yield x[..., :1]
    yield x[:, :1].expand(*x.shape)


def tensor_pairs(shape, seed, max_pairs):
    """Return pairs of tensors of both libraries with equal strides."""
    x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    pairs = list(zip(layouts(ts.tensor(x)), layouts(torch.tensor(x)), strict=True))
    return pairs if len(pairs) <= max_pairs else random.Random(seed).sample(pairs, max_pairs)


def outcome(function, *operands):
    """Return the result, or the class and the first line of the error."""
    try:
        return function(*operands)
    except (RuntimeError, IndexError) as error:
        return type(error).__name__, str(error).split("\n")[0]


def check(ours, theirs, what):
    """Check equal dtypes, elements and strides (except in dimensions of size 1), or equal errors."""
    if isinstance(ours, tuple) or isinstance(theirs, tuple):
        assert ours == theirs, what
        return
    assert (str(ours.dtype), tuple(ours.shape)) == (str(theirs.dtype), tuple(theirs.shape)), what
    long = [d for d, n in enumerate(theirs.shape) if n > 1] if theirs.numel() else []
    assert [ours.stride(d) for d in long] == [theirs.stride(d) for d in long], what
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy(), str(what))


ONE = {
    "neg": lambda x: -x,
    "number": lambda x: x * 2.5,
    "compared": lambda x: x > 0,
    "floor": lambda x: x.floor(),
    "copy": lambda x: x.clone().mul_(2),
    "part in place": lambda x: x[..., 0].add_(1),
    "in place": lambda x: x.add_(1.5).neg_(),
    "clamp": lambda x: x.clamp(-1, 1),
    "contiguous": lambda x: x.contiguous(),
    "largest": lambda x: x.amax(-1),
}
TWO = {
    "sum": lambda x, y: x + y,
    "less": lambda x, y: x < y,
    "in place": lambda x, y: x.sub_(y),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ONE)
def test_unary_operators(name, shape):
    """Unary operators return PyTorch's strides."""
    for x, y in tensor_pairs(shape, 0, 12):
        check(outcome(ONE[name], x), outcome(ONE[name], y), (y.shape, y.stride()))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", TWO)
def test_two_operands(name, shape):
    """The strides follow the first operand, then the second; operands that do not broadcast raise PyTorch's error."""
    for (x, u), (y, v) in itertools.product(tensor_pairs(shape, 0, 9), tensor_pairs(shape, 1, 9)):
        check(outcome(TWO[name], x, y), outcome(TWO[name], u, v), (u.shape, u.stride(), v.shape, v.stride()))


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_rows(shape):
    """Operators along the last dimension agree with PyTorch for tensors in any order of dimensions."""
    n = shape[-1]
    for x, y in tensor_pairs(shape, 0, 12):
        if y.shape[-1] != n:
            continue
        for name, arguments in (
            ("layer_norm", ([n],)),
            ("rms_norm", ([n],)),
            ("softmax", (-1,)),
            ("cumsum", (-1,)),
        ):
            ours, theirs = getattr(ts, name)(x, *arguments), getattr(torch, name)(y, *arguments)
            assert ours.stride() == theirs.stride(), (name, y.stride())
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-5, 1e-6, err_msg=name)


SELECTIONS = {
    "where": lambda p, m, x, y: p.where(m, x, y),
    "a number": lambda p, m, x, y: p.where(m, x, 2.5),
    "and a tensor": lambda p, m, x, y: p.where(m, -1.0, y),
    "masked_fill": lambda p, m, x, y: x.masked_fill(m, 7.0),
    "in place": lambda p, m, x, y: x.clone().masked_fill_(m, float("-inf")),
    "a part in place": lambda p, m, x, y: y[..., :2].masked_fill_(m, 3),
}


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (4, 3, 2, 2)])
@pytest.mark.parametrize("name", SELECTIONS)
def test_selection_by_masks(name, shape):
    """Selections by masks that broadcast, in any order of dimensions."""
    masks = tensor_pairs(shape, 2, 9)
    masks += [(x[..., :1], y[..., :1]) for x, y in masks[:4]] + [(x[0], y[0]) for x, y in masks[:2]]
    for (x, u), (y, v), (m, n) in zip(tensor_pairs(shape, 0, 9) * 9, tensor_pairs(shape, 1, 9) * 9, masks * 5, strict=False):
        what = (u.stride(), v.stride(), tuple(n.shape), n.stride())
        found, wanted = outcome(SELECTIONS[name], ts, m > 0, x, y), outcome(SELECTIONS[name], torch, n > 0, u, v)
        if isinstance(wanted, tuple) and "in place" in name:
            assert found[0] == wanted[0], what  # PyTorch's message has the sizes in reverse order
        else:
            check(found, wanted, what)


ATTENTION = [
    ((2, 2, 5, 8), (2, 2, 20, 8)),
    ((5, 8), (5, 8)),
    ((3, 5, 8), (3, 7, 8)),
    ((2, 1, 5, 8), (1, 2, 6, 8)),
]


@pytest.mark.parametrize("kind", ["none", "causal", "bool", "number", "row of nothing"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_attention(kind, dtype):
    """Attention equals PyTorch's for projected heads, broadcast masks and fully masked rows."""
    for queries, keys in ATTENTION:
        torch.manual_seed(0)
        q, k, v = torch.randn(queries), torch.randn(keys), torch.randn(*keys[:-1], 6)
        q, k, v = (x.mT.contiguous().mT.to(getattr(torch, dtype)) for x in (q, k, v))
        rows, columns = q.shape[-2], k.shape[-2]
        mask = {"bool": torch.rand(rows, columns) > 0.3, "number": torch.randn(1, columns).to(q.dtype)}.get(
            kind
        )
        if kind == "row of nothing":
            mask = torch.arange(rows)[:, None].expand(rows, columns) > 1
        given = [
            None if x is None else ts.tensor(x.tolist(), dtype=getattr(ts, str(x.dtype)[6:]))
            for x in (q, k, v, mask)
        ]
        found = ts.nn.functional.scaled_dot_product_attention(*given, is_causal=kind == "causal")
        wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, is_causal=kind == "causal")
        assert found.is_contiguous() and tuple(found.shape) == tuple(wanted.shape)
        near = 2e-2 if dtype == "bfloat16" else 1e-5
        np.testing.assert_allclose(found.float().numpy(), wanted.float().numpy(), near, near)


@pytest.mark.parametrize("mask", ["none", "bool", "float", "source", "all"])
def test_layers_of_encoders(mask):
    """Encoder layers equal PyTorch's for random sizes, norm first and last, both activations, and padding."""
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    for _ in range(40):
        heads, batch, length, inner = (int(rng.integers(1, max_pairs)) for max_pairs in (4, 4, 22, 40))
        width = heads * int(rng.choice([2, 4, 8]))
        sizes = [(3 * width, width), (3 * width,), (width, width), (width,), *[(width,)] * 4]
        sizes += [(inner, width), (inner,), (width, inner), (width,)]
        x, *weights = (torch.randn(*size) / 2 for size in [(batch, length, width), *sizes])
        padding = torch.rand(batch, length) > 0.7
        padding[:, 0] = False
        if mask == "float":
            padding = torch.zeros(batch, length).masked_fill(padding, float("-inf"))
        given = [x, width, heads, *weights[:4], rng.random() < 0.5, rng.random() < 0.5, 1e-5, *weights[4:]]
        source = torch.rand(length, length).fill_diagonal_(0) > 0.6
        kinds = {
            "none": [None, None],
            "source": [source, 0],
            "all": [source.expand(batch, heads, -1, -1).contiguous(), 2],
        }
        given += kinds.get(mask, [padding, 1])
        ours = [ts.tensor(a.numpy()) if isinstance(a, torch.Tensor) else a for a in given]
        found, wanted = ts._transformer_encoder_layer_fwd(*ours), torch._transformer_encoder_layer_fwd(*given)
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), 1e-4, 1e-4)
        transposed = ours[0].transpose(0, 1).contiguous().transpose(0, 1)
        assert ts.equal(ts._transformer_encoder_layer_fwd(transposed, *ours[1:]), found)


def test_concatenation_in_any_order():
    """Concatenated parts may have gaps and different orders of dimensions."""
    for (x, u), (y, v) in itertools.product(tensor_pairs((4, 4), 0, 9), tensor_pairs((4, 4), 1, 9)):
        for name, dim in (("cat", 0), ("cat", 1), ("stack", -1)):
            ours, theirs = outcome(getattr(ts, name), [x, y], dim), outcome(getattr(torch, name), [u, v], dim)
            check(ours, theirs, (name, dim, u.stride(), v.stride()))


KINDS = ["uint8", "int32", "int64", "float16", "float32", "float64", "bool"]
SIZES = [((3, 4), (3, 4)), ((3, 4), ()), ((), (3, 4)), ((), ()), ((3, 1), (4,)), ((0, 3), (1,))]
WITH_NUMBERS = ["add", "sub", "mul", "div", "lt", "eq"]


@pytest.mark.parametrize("name", [*WITH_NUMBERS, "maximum", "bitwise_and"])
def test_two_dtypes(name):
    """Operands of two dtypes, or a tensor and a number, have PyTorch's result dtype."""
    rng = np.random.RandomState(0)
    for one, other, (size, second) in itertools.product(KINDS, KINDS, SIZES):
        arrays = (np.asarray(rng.randint(0, 5, size), one), np.asarray(rng.randint(0, 5, second), other))
        ours, theirs = ([package.tensor(a) for a in arrays] for package in (ts, torch))
        check(
            outcome(getattr(ts, name), *ours),
            outcome(getattr(torch, name), *theirs),
            (one, other, size, second),
        )
        for number in (2, 0.5, True) if name in WITH_NUMBERS else ():
            found, wanted = (
                outcome(getattr(p, name), x[0], number) for p, x in ((ts, ours), (torch, theirs))
            )
            check(found, wanted, (one, number, size))


# ---------------------------------------------------------------- views

VIEWS = {
    "view": lambda x, shape: x.view(shape),
    "reshape": lambda x, shape: x.reshape(shape),
    "flatten": lambda x, shape: x.flatten(min(1, x.dim() - 1)),
    "unflatten": lambda x, shape: x.unflatten(0, [1, -1]),
    "mT": lambda x, shape: x.mT,
    "movedim": lambda x, shape: x.movedim(0, -1),
    "split": lambda x, shape: x.split([1, x.shape[0] - 1])[1],
    "expand_as": lambda x, shape: x[:1].expand_as(x),
}


def drawn_shape(rng, n):
    """Return a shape with n elements, including dimensions of size 1."""
    shape = []
    while n > 1:
        shape.append(rng.choice([d for d in range(2, n + 1) if n % d == 0]))
        n //= shape[-1]
    for _ in range(rng.randint(0, 2)):
        shape.insert(rng.randint(0, len(shape)), 1)
    return shape


@pytest.mark.parametrize("name", VIEWS)
def test_other_shapes(name):
    """Views have PyTorch's strides, shared memory and errors, for any order of dimensions and gaps."""
    rng = random.Random(name)
    for _ in range(300):
        n = rng.choice([6, 8, 12, 24])
        old, shape, gaps, repeated = (
            drawn_shape(rng, n),
            drawn_shape(rng, n),
            rng.random() < 0.3,
            rng.random() < 0.2,
        )
        order = rng.sample(range(len(old)), len(old)) if rng.random() < 0.7 else range(len(old))
        results = []
        for package in (ts, torch):
            x = package.arange(2 * n).reshape([*old, 2])[..., 0] if gaps else package.arange(n).reshape(old)
            x = x.permute(*order)
            x = x.unsqueeze(0).expand(3, *x.shape) if repeated else x
            y = outcome(VIEWS[name], x, shape)
            results.append(y)
            shares = isinstance(y, tuple) or y._is_view()
            results.append(shares)
        what = (old, order, shape, gaps, repeated)
        check(results[0], results[2], what)
        assert results[1] == results[3], what


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reinterpreted_complex_numbers(dtype):
    """Views of complex numbers as their parts, and back, equal PyTorch's for all valid strides; others raise
    its errors."""
    for strided in (
        lambda x: x,
        lambda x: x[1:],
        lambda x: x[:, ::2],
        lambda x: x[..., 1:],
        lambda x: x.transpose(0, 1),
    ):
        results = [
            outcome(p.view_as_complex, strided(p.arange(32, dtype=getattr(p, dtype)).reshape(4, 4, 2)))
            for p in (ts, torch)
        ]
        check(*results, dtype)
        if not isinstance(results[0], tuple):
            check(ts.view_as_real(results[0]), torch.view_as_real(results[1]), dtype)


SHORT = {
    "two": lambda x, y: x * y + x / y,
    "numbers": lambda x, y: (x + 1) * 2 - x / 4,
    "compared": lambda x, y: (x <= 0) & (y > -3) & (x < y),
    "one": lambda x, y: x.floor() + x.abs() + (-y).tanh().round(),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", SHORT)
def test_16_bit_floats(name, dtype):
    """Operations on 16-bit floats compute in 32 bits and round, in any order of dimensions."""
    for (x, u), (y, v) in itertools.product(tensor_pairs((2, 3, 4), 0, 6), tensor_pairs((2, 3, 4), 1, 6)):
        if u.shape == v.shape:
            found = SHORT[name](x.to(getattr(ts, dtype)), y.to(getattr(ts, dtype)))
            wanted = SHORT[name](u.to(getattr(torch, dtype)), v.to(getattr(torch, dtype)))
            assert str(found.dtype) == str(wanted.dtype) and found.stride() == wanted.stride()
            np.testing.assert_array_equal(found.float().numpy(), wanted.float().numpy())
