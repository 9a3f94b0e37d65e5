"""Placements of `torch.distributed.tensor` can be created, compared and hashed."""

import copy
import pickle

import pytest

import ts
from ts.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard, placement_types


@pytest.mark.parametrize(
    "placement, text, short",
    [
        (Replicate(), "Replicate()", "R"),
        (Shard(0), "Shard(dim=0)", "S(0)"),
        (Shard(dim=-1), "Shard(dim=-1)", "S(-1)"),
        (Partial(), "Partial(sum)", "P(sum)"),
        (Partial("avg"), "Partial(avg)", "P(avg)"),
    ],
)
def test_texts_and_copies(placement, text, short):
    assert (repr(placement), str(placement)) == (text, short)
    for other in (copy.deepcopy(placement), pickle.loads(pickle.dumps(placement))):
        assert other == placement and hash(other) == hash(placement) and isinstance(other, Placement)


def test_placements_compare_by_kind_and_argument():
    assert len({Shard(0), Shard(0), Shard(1), Replicate(), Replicate(), Partial(), Partial("sum")}) == 4
    assert Shard(0) != Replicate() and Partial("avg") != Partial()
    assert Shard(1).is_shard() and Shard(1).is_shard(1) and not Shard(1).is_shard(0)
    assert Replicate().is_replicate() and not Replicate().is_partial()
    assert Partial().is_partial() and Partial().is_partial("sum") and not Partial().is_partial("avg")


def test_arguments_are_checked_and_read_only():
    with pytest.raises(AttributeError):
        Shard(0).dim = 1
    for wrong in (lambda: Shard("a"), lambda: Shard(), lambda: Partial(3)):
        with pytest.raises(TypeError):
            wrong()


def test_older_modules_have_the_same_classes():
    from ts.distributed import _tensor
    from ts.distributed._composable import fsdp

    assert _tensor.Shard is Shard is placement_types.Shard and _tensor.DTensor is DTensor
    assert fsdp.FSDPModule is ts.distributed.fsdp.FSDPModule
    with pytest.raises(NotImplementedError, match="does not have distributed tensors"):
        DTensor()
