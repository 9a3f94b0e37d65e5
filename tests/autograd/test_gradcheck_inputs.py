"""The tensors among the arguments of gradient checks."""

import pytest

import ts
from ts.autograd.gradcheck import _iter_tensors

X, Y = ts.ones(1, requires_grad=True), ts.ones(2)


@pytest.mark.parametrize(
    ("nested", "all_tensors", "requiring_grad"),
    [
        (X, [X], [X]),
        (Y, [Y], []),
        ([X, [Y, (X,)]], [X, Y, X], [X, X]),
        ((X, "text", 2, None), [X], [X]),
        ({"key": X}, [], []),
        ("text", [], []),
        (3, [], []),
    ],
)
def test_tensors(nested, all_tensors, requiring_grad):
    """Nested iterables are searched in order; strings and other objects are skipped."""
    assert [id(x) for x in _iter_tensors(nested)] == [id(x) for x in all_tensors]
    assert [id(x) for x in _iter_tensors(nested, True)] == [id(x) for x in requiring_grad]
