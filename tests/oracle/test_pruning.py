"""Pruned parameters, their masks, and the refusals are PyTorch's."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import torch.nn.utils.prune  # noqa: E402

import ts  # noqa: E402

STEPS = [
    "P.l1_unstructured(m, 'weight', 0.3)", "P.l1_unstructured(m, 'bias', 2)", "P.ln_structured(m, 'weight', 0.5, n=2, dim=0)",
    "P.ln_structured(m, 'weight', 1, n=float('inf'), dim=-1)", "P.identity(m, 'weight')",
    "P.custom_from_mask(m, 'weight', (m.weight > 0).detach())", "P.l1_unstructured(m, 'weight', 5, importance_scores=-m.weight.detach())",
    "P.ln_structured(m, 'weight', 1, n=1, dim=1, importance_scores=-m.weight.detach())",
    "P.global_unstructured([(m, 'weight'), (m, 'bias')], P.L1Unstructured, amount=0.4)",
    "P.global_unstructured([(m, 'weight')], P.L1Unstructured, importance_scores={(m, 'weight'): -m.weight.detach()}, amount=3)",
    "P.remove(m, 'weight')",
]  # fmt: skip


def layer(library):
    m = library.nn.Linear(4, 3)
    random = np.random.default_rng(0)
    for x in m.parameters():
        x.detach().copy_(library.tensor(random.standard_normal(tuple(x.shape)).astype("f")))
    return m


def pruned(library, steps):
    """What a layer looks like after some steps, and what it computes."""
    m = layer(library)
    for step in steps:
        eval(step, {"P": library.nn.utils.prune, "m": m, "library": library})
    y = m(library.ones(2, 4)).tolist()
    names = [[name for name, _ in m.named_parameters()], [name for name, _ in m.named_buffers()]]
    return [
        y,
        *names,
        m.weight.tolist(),
        {k: v.tolist() for k, v in m.state_dict().items()},
        library.nn.utils.prune.is_pruned(m),
    ]


@pytest.mark.parametrize("first", STEPS[:-1])
@pytest.mark.parametrize("second", STEPS)
def test_steps(first, second):
    """One method after the other takes places that are left."""
    if "remove" in second and "weight" not in first:
        pytest.skip("nothing to remove")
    try:
        theirs = pruned(torch, [first, second])
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            pruned(ts, [first, second])
        return
    ours = pruned(ts, [first, second])
    assert ours[0] == [pytest.approx(row, rel=1e-5) for row in theirs[0]]
    assert ours[1:] == theirs[1:]


def test_random_masks():
    """Random places are PyTorch's for the same seed."""

    def masks(library):
        library.manual_seed(3)
        m = layer(library)
        library.nn.utils.prune.random_unstructured(m, "weight", 0.5)
        library.nn.utils.prune.random_structured(m, "weight", 1, dim=1)
        return m.weight_mask.tolist()

    assert masks(ts) == masks(torch)


REFUSED = [
    "P.random_unstructured(m, 'weight', -1)", "P.random_unstructured(m, 'weight', 1.5)", "P.random_unstructured(m, 'weight', 20)",
    "P.random_unstructured(m, 'weight', 'a')", "P.random_structured(m, 'weight', 1, 5)", "P.random_structured(m, 'bias', 1, 0)",
    "P.remove(m, 'weight')", "P.global_unstructured(m, P.L1Unstructured)", "P.global_unstructured([(m, 'weight')], P.RandomStructured, amount=1)",
    "P.PruningContainer().add_pruning_method(3)", "P.L1Unstructured(1).prune(m.weight, importance_scores=m.bias)",
    "P.l1_unstructured(m, 'weight', 1, importance_scores=m.bias)", "P.BasePruningMethod()",
    "P.global_unstructured([(m, 'weight')], P.L1Unstructured, importance_scores=3, amount=1)",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_refusals(text):
    """What is refused, and in which words."""

    def said(library):
        with pytest.raises(Exception) as caught:
            eval(text, {"P": library.nn.utils.prune, "m": layer(library)})
        return type(caught.value).__name__, str(caught.value).replace("ts.nn", "torch.nn")

    ours, theirs = said(ts), said(torch)
    assert ours[0] == theirs[0]
    assert ours[1].split("Found method")[0] == theirs[1].split("Found method")[0]
