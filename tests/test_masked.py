"""`ts.masked`: operators ignore masked elements; expected values are computed by hand."""

import math

import pytest

import ts

X = ts.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
MASK = ts.tensor([[True, False, True], [False, False, False]])


@pytest.mark.parametrize(
    "name, expected",
    [
        ("sum", [4.0, 0.0]),
        ("prod", [3.0, 1.0]),
        ("amax", [3.0, -math.inf]),
        ("amin", [1.0, math.inf]),
        ("mean", [2.0, math.nan]),
        ("var", [2.0, math.nan]),
        ("norm", [math.sqrt(10), 0.0]),
        ("argmax", [2.0, 0.0]),
        ("median", [1.0, math.nan]),
    ],
)
def test_reductions(name, expected):
    actual = getattr(ts.masked, name)(X, dim=1, mask=MASK).tolist()
    assert actual == pytest.approx(expected, nan_ok=True)


def test_results_of_the_same_shape():
    assert ts.masked.cumsum(X, 1, mask=MASK).tolist() == [[1, 1, 4], [0, 0, 0]]
    assert ts.masked.softmax(X, 1, mask=MASK[0]).tolist()[0] == pytest.approx([0.1192, 0, 0.8808], abs=1e-4)
    assert ts.masked.normalize(X, 1.0, 1, mask=MASK).tolist() == [[0.25, 0, 0.75], [0, 0, 0]]


def test_integers_have_limits_for_identities():
    x = X.to(ts.int8)
    assert ts.masked.amax(x, 1, mask=MASK).tolist() == [3, -128]
    assert ts.masked.sum(x, 1, mask=MASK).dtype is ts.int64
    with pytest.raises(NotImplementedError, match="identity of amax"):
        ts.masked.amax(X > 2, 1, mask=MASK)


def test_masks_broadcast_to_the_input():
    assert ts.masked.sum(X, mask=MASK[0]).item() == 14
    with pytest.raises(IndexError, match="broadcastable mask"):
        ts.masked.sum(X, mask=MASK[None])
    with pytest.raises(RuntimeError, match="must match the existing size"):
        ts.masked.sum(X, mask=MASK[:, :2])
