"""Random numbers under `vmap`: one draw for the batch, one per element, or an error."""

import pytest

import ts
from ts.nn import functional as F

DRAWING = {
    "dropout": lambda x: F.dropout(x, 0.5),
    "dropout in place": lambda x: F.dropout(x * 1, 0.5, inplace=True),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, training=True),
    "feature_dropout": lambda x: ts.feature_dropout(x.view(8, 2), 0.5, True),
    "native_dropout": lambda x: ts.native_dropout(x, 0.5, True)[0],
    "attention": lambda x: F.scaled_dot_product_attention(
        x.view(1, 8, 2), x.view(1, 8, 2), x.view(1, 8, 2), dropout_p=0.5
    ),
    "uniform_": lambda x: x.clone().uniform_(),
    "normal_": lambda x: x.clone().normal_(),
    "bernoulli_": lambda x: x.clone().bernoulli_(0.5),
    "rand_like": ts.rand_like,
    "gradient": ts.func.grad(lambda x: F.dropout(x, 0.5).sum()),
    "two levels": lambda x: ts.vmap(lambda y: F.dropout(y, 0.5), randomness="same")(
        x.expand(4, 16)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWING)
def test_the_same_for_all_or_different_for_each(name):
    """Equal elements stay equal with `randomness="same"` and differ with "different"; the default raises an
    error."""
    x = ts.ones(3, 16)
    same = ts.vmap(DRAWING[name], randomness="same")(x)
    assert (same == same[:1]).all() and same.shape[0] == 3
    assert len({str(y.tolist()) for y in ts.vmap(DRAWING[name], randomness="different")(x)}) > 1
    with pytest.raises(RuntimeError, match=r"^vmap: called random operation while in randomness error mode"):
        ts.vmap(DRAWING[name])(x)


def test_same_randomness_equals_an_unbatched_draw():
    """With one seed, `randomness="same"` draws the mask of an unbatched call."""
    ts.manual_seed(5)
    unbatched = F.dropout(ts.ones(16), 0.5)
    ts.manual_seed(5)
    assert (ts.vmap(lambda x: F.dropout(x, 0.5), randomness="same")(ts.ones(3, 16)) == unbatched).all()


def test_unbatched_tensors_get_one_mask_per_element():
    """An unbatched tensor gets a mask per element if the result is new; in-place draws raise an error."""
    one, x = ts.ones(16), ts.zeros(3, 1)
    found = ts.vmap(lambda y: F.dropout(one, 0.5) + y, randomness="different")(x)
    assert len({str(y.tolist()) for y in found}) > 1
    for write in (lambda y: one.uniform_(), lambda y: F.dropout(one, 0.5, inplace=True)):
        with pytest.raises(RuntimeError, match=r"^vmap: "):
            ts.vmap(write, randomness="different")(x)
    assert one.tolist() == [1.0] * 16


def test_inactive_dropout_draws_no_random_numbers():
    """Inactive dropout draws no random numbers and is accepted under `vmap`."""
    x = ts.ones(3, 4)
    for f in (lambda y: F.dropout(y, 0.5, training=False), lambda y: F.dropout(y, 0.0)):
        assert (ts.vmap(f)(x) == x).all()
