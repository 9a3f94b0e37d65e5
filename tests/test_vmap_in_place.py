"""Error messages of in-place operators under `vmap` that write a batched value to an unbatched tensor."""

import pytest

import ts

X, INDICES = ts.ones(3, 2), ts.zeros(3, 2, dtype=ts.int64)


def message_of(function, batch):
    with pytest.raises(RuntimeError) as failure:
        ts.vmap(function)(batch)
    return str(failure.value)


def expected(name, place):
    return (
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has "
        "more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over "
        f"{place}. Please try to use out-of-place operators instead of {name}. If said operator is being called inside "
        "the PyTorch framework, please file a bug report instead."
    )


@pytest.mark.parametrize("name", ["sub_", "mul_", "divide_", "copy_", "clamp_min_", "logical_xor_"])
def test_arithmetic(name):
    """Operators with a common batching rule share one name."""
    assert message_of(lambda y: getattr(ts.ones(2), name)(y), X) == expected("inplace arithmetic", "in a vmap")


@pytest.mark.parametrize("name", ["pow_", "subtract_", "fmod_", "eq_", "floor_divide_", "xlogy_", "heaviside_"])
def test_operators_without_batching_rule(name):
    """Operators that PyTorch runs example by example state the level, which counts from the outermost `vmap`."""
    assert message_of(lambda y: getattr(ts.ones(2), name)(y), X) == expected(f"aten::{name}", "at level 1")
    inner = lambda y: ts.vmap(lambda z: getattr(y, name)(z))(ts.ones(4, 2))
    assert message_of(inner, X) == expected(f"aten::{name}", "at level 2")


def test_indices():
    """Some operators with indices have a batching rule that states their name."""
    y = ts.ones(2)
    for name, place, call in (
        ("index_add_", "in a vmap", lambda i: ts.ones(2).index_add_(0, i, y)),
        ("index_fill_", "in a vmap", lambda i: ts.ones(2).index_fill_(0, i, 2.0)),
        ("index_put_", "in a vmap", lambda i: ts.ones(2).index_put_((i,), y)),
        ("scatter_add_", "in a vmap", lambda i: ts.ones(2).scatter_add_(0, i, y)),
        ("aten::scatter_", "at level 1", lambda i: ts.ones(2).scatter_(0, i, 1.0)),
        ("aten::index_copy_", "at level 1", lambda i: ts.ones(2).index_copy_(0, i, y)),
        ("aten::put_", "at level 1", lambda i: ts.ones(2).put_(i, y)),
    ):
        assert message_of(call, INDICES) == expected(name, place)


def test_masked_fill():
    """The overloads for numbers and for tensors differ."""
    mask = ts.tensor([True, False])
    call = lambda y: ts.ones(2).masked_fill_(y > 0, 2.0)
    assert message_of(call, X) == expected("inplace arithmetic", "in a vmap")
    call = lambda y: ts.ones(2).masked_fill_(mask, y)
    assert message_of(call, ts.ones(3)) == expected("aten::masked_fill_", "at level 1")


@pytest.mark.parametrize("name", ["add_", "bitwise_and_", "gcd_", "__ior__", "bitwise_left_shift_"])
@pytest.mark.parametrize(
    ("target", "batch", "shape"),
    [((2,), (3, 2), [3, 2]), ((), (3, 2, 3), [3, 2, 3]), ((2, 2), (3, 2), [3, 2, 2]), ((2, 1), (3, 4), [3, 2, 4])],
)
def test_broadcasting_operators(name, target, batch, shape):
    """Operators that broadcast the batch state the shape of the broadcast batches."""
    x, y = ts.ones(target, dtype=ts.int64), ts.ones(batch, dtype=ts.int64)
    text = f"output with shape {list(target)} doesn't match the broadcast shape {shape}"
    assert message_of(lambda y: getattr(x, name)(y), y) == text
