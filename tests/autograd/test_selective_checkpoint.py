"""Selective checkpoints: recomputed operators, gradients and errors."""

from functools import partial

import pytest

import ts
from ts.utils.checkpoint import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    checkpoint,
    create_selective_checkpoint_contexts,
)

MM, SIN, MAX = ts.ops.aten.mm.default, ts.ops.aten.sin.default, ts.ops.aten.max.dim
SAVING_POLICIES = [*(p for p in CheckpointPolicy if not p.name.endswith("RECOMPUTE")), True]
RECOMPUTING_POLICIES = [CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE, False]


def leaves():
    return [(ts.arange(9.0).reshape(3, 3) / (7 + i)).requires_grad_() for i in range(2)]


def block(x, y):
    return (x @ y).sin().mm(y).exp()


def run(policy, function=block, **options):
    """Return the gradients of the leaves of a checkpointed function."""
    contexts = partial(create_selective_checkpoint_contexts, policy, **options)
    xs = leaves()
    checkpoint(function, *xs, use_reentrant=False, context_fn=contexts).sum().backward()
    return [x.grad for x in xs]


def leaf_gradients(function=block):
    xs = leaves()
    function(*xs).sum().backward()
    return [x.grad for x in xs]


def all_equal(found, wanted):
    return all(x.equal(y) for x, y in zip(found, wanted, strict=True))


@pytest.mark.parametrize("answer", [*SAVING_POLICIES, *RECOMPUTING_POLICIES])
def test_cached_results_are_not_recomputed(answer):
    calls = []

    def counted(x, y):
        calls.append(1)
        return block(x, y)

    policy_calls = []

    def policy(context, operator, *args):
        assert isinstance(context, SelectiveCheckpointContext) and not context.is_recompute
        policy_calls.append((operator, context.op_output.shape, len(args)))
        return answer

    assert all_equal(run(policy, counted), leaf_gradients())
    assert len(calls) == 2
    assert policy_calls == [(MM, (3, 3), 2), (SIN, (3, 3), 1), (MM, (3, 3), 2), (ts.ops.aten.exp.default, (3, 3), 1)]


def test_policy_from_a_list_of_operators():
    contents = []

    def random(x, y):
        noise = ts.rand(3, 3)
        contents.append(noise)
        return (x * noise).sin() @ y

    contexts = partial(create_selective_checkpoint_contexts, [ts.ops.aten.rand.default])
    xs = leaves()
    checkpoint(
        random, *xs, use_reentrant=False, context_fn=contexts, preserve_rng_state=False
    ).sum().backward()
    assert contents[0].equal(contents[1]), "the second run drew numbers again"


def test_several_results_and_views():
    def function(x, y):
        values, indices = (x * y).max(1)
        return values * x.t()[1] * indices

    assert all_equal(run([MAX, ts.ops.aten.t.default, ts.ops.aten.select.int], function), leaf_gradients(function))


def changed(x, y):
    z = x.mm(y)
    w = z.sin()
    z.add_(1)
    return w * w


def test_modified_cached_results():
    with pytest.raises(
        RuntimeError, match=r"^Tensor cached during selective activation checkpoint has been mutated$"
    ):
        run([MM], changed)
    run([MM], changed, allow_cache_entry_mutation=True)


def test_second_backward_raises():
    contexts = partial(create_selective_checkpoint_contexts, [MM])
    y = checkpoint(block, *leaves(), use_reentrant=False, context_fn=contexts).sum()
    y.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match=r"^Trying to backward an extra time"):
        y.backward()


def test_different_operators_in_recomputation_raise():
    runs = []

    def function(x, y):
        runs.append(1)
        return (x @ y).sin() if len(runs) == 1 else (x @ y).exp().sin()

    with pytest.raises(RuntimeError, match=r"^aten\.exp\.default encountered during backward but not found"):
        run([MM], function)


@pytest.mark.parametrize(
    "policy, error, text",
    [
        (3, TypeError, "must be either a function or a list"),
        (["mm"], ValueError, "to be an OpOverload but got: mm of type <class 'str'>"),
        ([ts.ops.aten.mm], ValueError, "aten.mm of type .* Please update the OpOverloadPacket"),
    ],
)
def test_invalid_policies(policy, error, text):
    with pytest.raises(error, match=text):
        create_selective_checkpoint_contexts(policy)


def test_a_policy_that_fails():
    def policy(context, operator, *args):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run(policy)
    assert all_equal(run([MM]), leaf_gradients()), "the thread goes on as before"
