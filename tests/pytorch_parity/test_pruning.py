"""Pruned parameters, their masks, and errors equal PyTorch's."""

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
    """Return the state and result of a layer after pruning steps."""
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
    """A second pruning method prunes remaining elements."""
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
    """Random masks equal PyTorch's for the same seed."""

    def masks(library):
        library.manual_seed(3)
        m = layer(library)
        library.nn.utils.prune.random_unstructured(m, "weight", 0.5)
        library.nn.utils.prune.random_structured(m, "weight", 1, dim=1)
        return m.weight_mask.tolist()

    assert masks(ts) == masks(torch)


REJECTED = [
    "P.random_unstructured(m, 'weight', -1)", "P.random_unstructured(m, 'weight', 1.5)", "P.random_unstructured(m, 'weight', 20)",
    "P.random_unstructured(m, 'weight', 'a')", "P.random_structured(m, 'weight', 1, 5)", "P.random_structured(m, 'bias', 1, 0)",
    "P.remove(m, 'weight')", "P.global_unstructured(m, P.L1Unstructured)", "P.global_unstructured([(m, 'weight')], P.RandomStructured, amount=1)",
    "P.PruningContainer().add_pruning_method(3)", "P.L1Unstructured(1).prune(m.weight, importance_scores=m.bias)",
    "P.l1_unstructured(m, 'weight', 1, importance_scores=m.bias)", "P.BasePruningMethod()",
    "P.global_unstructured([(m, 'weight')], P.L1Unstructured, importance_scores=3, amount=1)",
]  # fmt: skip


@pytest.mark.parametrize("text", REJECTED)
def test_rejected_calls(text):
    """Invalid pruning calls raise PyTorch's errors."""

    def messages(library):
        with pytest.raises(Exception) as caught:
            eval(text, {"P": library.nn.utils.prune, "m": layer(library)})
        return type(caught.value).__name__, str(caught.value).replace("ts.nn", "torch.nn")

    ours, theirs = messages(ts), messages(torch)
    assert ours[0] == theirs[0]
    assert ours[1].split("Found method")[0] == theirs[1].split("Found method")[0]


def rows(library, amount=0.5):
    """Prune every second row by a custom pruning method."""

    class Rows(library.nn.utils.prune.BasePruningMethod):
        PRUNING_TYPE = "structured"
        dim = 0

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask[::2] = 0
            return mask

    return Rows


CONTAINERS = [
    "together.__len__()", "[type(x).__name__ for x in together]", "type(together[1]).__name__",
    "together.compute_mask(t, library.ones(4, 3)).tolist()", "P.PruningContainer().__len__()",
    "P.PruningContainer(methods[0]).prune(t).tolist()", "P.PruningContainer(methods[1]).prune(t, library.ones(4, 3).tril()).tolist()",
    "[x.add_pruning_method(methods[2]), len(x)] if (x := P.PruningContainer(methods[0])) else 0",
    "P.L1Unstructured(0.5).prune(t).tolist()", "P.L1Unstructured(0.5).prune(t, importance_scores=-t).tolist()", "P.LnStructured(1, 2, 0).prune(t).tolist()",
    "P.LnStructured(0.5, 1, -1).prune(t, library.ones(4, 3).tril()).tolist()", "P.Identity().prune(t).tolist()", "P.CustomFromMask(t > 0).prune(t).tolist()",
    "P.LnStructured(1, 'fro', 0).prune(t).tolist()", "P.LnStructured(1, 'fro', 2).prune(t.view(2, 2, 3)).tolist()",
    "P.LnStructured(1, 'nuc', 0).prune(library.stack([t[:2, :2], t[2:, :2], t[1:3, 1:]])).tolist()", "P.LnStructured(0, 2, 0).prune(t).tolist()",
    "P.RandomStructured(1, 1).prune(t).tolist()", "P.RandomUnstructured(2).prune(t).tolist()", "[c.PRUNING_TYPE for c in (P.Identity, P.LnStructured, P.CustomFromMask)]",
]  # fmt: skip


@pytest.mark.parametrize("text", CONTAINERS)
def test_methods_without_modules(text):
    def outcome(library):
        library.manual_seed(4)
        P = library.nn.utils.prune
        methods = [P.L1Unstructured(0.25), P.LnStructured(1, 2, dim=0), P.Identity(), rows(library)()]
        for method in methods:
            method._tensor_name = "weight"
        t = library.tensor(np.random.default_rng(1).standard_normal((4, 3)).astype("f"))
        container = P.PruningContainer(methods[0])  # PyTorch's constructor does not accept several methods
        for method in methods[1:]:
            container.add_pruning_method(method)
        names = {"P": P, "methods": methods, "together": container, "t": t, "library": library}
        try:
            return eval(text, names)
        except Exception as error:
            return type(error).__name__, str(error)

    assert outcome(ts) == outcome(torch)


def trained(library, m):
    """Run a training step: pruned elements stay pruned and have no gradient."""
    optimizer = library.optim.SGD(m.parameters(), lr=0.1)
    m(library.ones(2, 4)).square().sum().backward()
    gradients = {name: x.grad.tolist() for name, x in m.named_parameters()}
    optimizer.step()
    return m(library.ones(2, 4)).tolist(), gradients


@pytest.mark.parametrize("step", [*STEPS[:-1], "rows(library).apply(m, 'weight')"])
def test_gradients_of_pruned_weights(step):
    def stepped(library):
        m = layer(library)
        eval(step, {"P": library.nn.utils.prune, "m": m, "library": library, "rows": rows})
        return trained(library, m)

    (ours, gradients), (theirs, wanted) = stepped(ts), stepped(torch)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert gradients.keys() == wanted.keys()
    for name in wanted:
        np.testing.assert_allclose(gradients[name], wanted[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("direction", [(ts, torch), (torch, ts)])
def test_state_dicts_are_exchanged(direction, tmp_path):
    """Originals and masks of pruned modules are exchanged through state dicts."""
    source, target = direction
    m, n = layer(source), target.nn.Linear(4, 3)
    source.nn.utils.prune.l1_unstructured(m, "weight", 0.5)
    source.nn.utils.prune.random_unstructured(m, "bias", 1)
    target.nn.utils.prune.identity(n, "weight")
    target.nn.utils.prune.identity(n, "bias")
    source.save(m.state_dict(), str(tmp_path / "pruned.pt"))
    n.load_state_dict(target.load(str(tmp_path / "pruned.pt"), weights_only=True))
    np.testing.assert_allclose(n(target.ones(2, 4)).tolist(), m(source.ones(2, 4)).tolist(), rtol=1e-5)
    for library, module in ((source, m), (target, n)):
        library.nn.utils.prune.remove(module, "weight")
        assert not any(True for name in module.state_dict() if name.startswith("weight_"))
    assert n.weight.tolist() == m.weight.tolist()
