"""Batched indices: `r[i]` inside of `vmap` with a batched index `i`."""

import pytest

import ts

pytest.importorskip("sympy")
from ts._higher_order_ops import map
from ts.func import vmap


def _put(r, i):
    r = r.clone()
    r[i] = 9.0
    return r


def _put_row(r, i):
    r = r.clone().reshape(2, 2)
    r[:, i % 2] = r[0] * 2
    r[i % 2, 1] += 7
    return r


def _put_into_view(r, i):
    r = r.clone().reshape(2, 2)
    r[i % 2].mul_(0)  # a batched index returns a copy instead of a view
    return r


INDEXED = {
    "alone": lambda r, i: r[i],
    "computed": lambda r, i: r[(i + 1) % 3] * 2,
    "row": lambda r, i: r.reshape(2, 2)[i % 2],
    "column": lambda r, i: r.reshape(2, 2)[:, i % 2],
    "last": lambda r, i: r.reshape(2, 2)[..., i % 2],
    "two": lambda r, i: r.reshape(2, 2)[i % 2, i % 2],
    "with a number": lambda r, i: r.reshape(2, 2)[i % 2, 1],
    "with a slice": lambda r, i: r.reshape(2, 2)[i % 2, 1:],
    "with None": lambda r, i: r[None, i],
    "in a branch": lambda r, i: ts.cond(r.sum() > 20, lambda r, i: r[i] * 2, lambda r, i: r[0] + i, (r, i)),
    "in a map": lambda r, i: map(lambda row: row[i % 2] * 2, r.reshape(2, 2)),
    "nested": lambda r, i: vmap(lambda j: r[j % 4] + r[i])(ts.arange(5)),
}
WRITTEN = {"put": _put, "rows": _put_row, "views": _put_into_view}


class Batched(ts.nn.Module):
    def __init__(self, function, in_dims):
        super().__init__()
        self.function, self.in_dims = function, in_dims

    def forward(self, r, i):
        return vmap(self.function, in_dims=self.in_dims)(r, i)


def check(function, in_dims, decomposed=True):
    """Check that exported programs return the result of eager `vmap`, and return this result with the
    arguments."""
    rows, indices = ts.arange(12.0).reshape(3, 4), ts.tensor([0, 2, 1])
    args = rows if in_dims[0] == 0 else rows[1], indices if in_dims[1] == 0 else indices[1]
    module = Batched(function, in_dims)
    wanted = module(*args)
    program = ts.export.export(module, args)
    for variant in (program, *([program.run_decompositions()] if decomposed else [])):
        ts.testing.assert_close(variant.module()(*args), wanted)
    return wanted, args


@pytest.mark.parametrize("in_dims", [(0, 0), (None, 0), (0, None)], ids=["both", "indices", "rows"])
@pytest.mark.parametrize("name", INDEXED)
def test_read(name, in_dims):
    """Batched index reads equal a loop over the elements; control flow in a batch has no decomposition."""
    function = INDEXED[name]
    wanted, (r, i) = check(function, in_dims, name not in ("in a branch", "in a map"))
    each = [function(r[k] if in_dims[0] == 0 else r, i[k] if in_dims[1] == 0 else i) for k in range(3)]
    ts.testing.assert_close(wanted, ts.stack(each))


@pytest.mark.parametrize("in_dims", [(0, 0), (0, None)], ids=["both", "rows"])
@pytest.mark.parametrize("name", WRITTEN)
def test_batched_index_writes(name, in_dims):
    check(WRITTEN[name], in_dims)


def test_slices_by_a_size():
    """A slice bound by an unbatched size is exported, with operators without a record in its
    decomposition."""
    wanted, (r, i) = check(lambda r, i: r[i:], (0, None))
    assert ts.equal(wanted, r[:, int(i) :])


def test_batched_slice_bounds_are_rejected():
    """A batched slice bound raises an error in eager mode and export, as in PyTorch."""
    with pytest.raises(RuntimeError, match=r"\.item\(\) on a Tensor"):
        check(lambda r, i: r[i:], (0, 0))
