"""Orthogonal parametrizations equal PyTorch's: values, gradients, assignment, state dicts and errors."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

MAPS = ["matrix_exp", "cayley", "householder", None]
SHAPES = [(4, 4), (5, 3), (3, 5), (2, 4, 3)]


class Weight:
    """Module with one parameter, in either library."""

    def __new__(cls, library, array):
        module = library.nn.Module()
        module.weight = library.nn.Parameter(library.tensor(array))
        return module


def numbers(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    array = random.standard_normal(shape)
    if dtype == "complex128":
        array = array + 1j * random.standard_normal(shape)
    return array.astype(dtype)


def make_orthogonal_module(library, shape, how, base, dtype="float64"):
    library.manual_seed(1)
    module = Weight(library, numbers(shape, dtype))
    library.nn.utils.parametrizations.orthogonal(module, orthogonal_map=how, use_trivialization=base)
    return module


def as_numpy(x):
    return x.detach().resolve_conj().numpy()


def close(ours, theirs):
    np.testing.assert_allclose(as_numpy(ours), as_numpy(theirs), rtol=1e-9, atol=1e-11)


def cases():
    for how in MAPS:
        for shape in SHAPES:
            for base in (True, False):
                for dtype in ("float64", "complex128"):
                    if dtype == "float64" or how != "householder":
                        yield how, shape, base, dtype


@pytest.mark.parametrize("how, shape, base, dtype", list(cases()))
def test_values_and_gradients(how, shape, base, dtype):
    """Orthogonal parametrizations have PyTorch's values and gradients, initially, after steps and after an
    assignment."""
    modules = [make_orthogonal_module(library, shape, how, base, dtype) for library in (ts, torch)]
    target = numbers(shape, dtype, 2)
    for _ in range(3):
        for library, module in zip((ts, torch), modules, strict=True):
            difference = module.weight - library.tensor(target)
            loss = (difference * difference.conj()).real.sum()
            original = module.parametrizations.weight.original
            original.grad = None
            loss.backward()
            with library.no_grad():
                original -= 0.05 * original.grad
        close(modules[0].weight, modules[1].weight)
        close(*(m.parametrizations.weight.original.grad for m in modules))
    q = as_numpy(modules[0].weight)
    gram = (
        np.conj(np.swapaxes(q, -1, -2)) @ q if shape[-2] >= shape[-1] else q @ np.conj(np.swapaxes(q, -1, -2))
    )
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(gram.shape[-1]), gram.shape), atol=1e-10)


@pytest.mark.parametrize("how, shape, base, dtype", list(cases()))
def test_assignment(how, shape, base, dtype):
    """An assigned orthogonal matrix is used unchanged; another matrix is orthogonalized or rejected."""
    value = make_orthogonal_module(ts, shape, "cayley", True, dtype).weight.detach().resolve_conj().numpy()
    for array in (value, numbers(shape, dtype, 5)):
        messages = []
        for library in (ts, torch):
            module = make_orthogonal_module(library, shape, how, base, dtype)
            library.manual_seed(3)
            try:
                module.weight = library.tensor(array)
                messages.append(module.weight)
            except NotImplementedError as error:
                messages.append(str(error))
        if isinstance(messages[1], str):
            assert messages[0] == messages[1]
        else:
            close(*messages)
            if array is value:
                np.testing.assert_allclose(as_numpy(messages[0]), value, atol=1e-10)


@pytest.mark.parametrize("base", [True, False])
def test_state_dicts_are_exchanged(base):
    ours, theirs = make_orthogonal_module(ts, (5, 3), "householder", base), make_orthogonal_module(torch, (5, 3), "householder", base)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    other = Weight(ts, numbers((5, 3), "float64", 9))
    ts.nn.utils.parametrizations.orthogonal(other, orthogonal_map="householder", use_trivialization=base)
    other.load_state_dict({key: ts.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    close(other.weight, theirs.weight)


def test_repr_of_orthogonal_modules():
    def described(library):
        module = library.nn.utils.parametrizations.orthogonal(library.nn.Linear(20, 40))
        before = repr(module)
        library.nn.utils.parametrize.remove_parametrizations(module, "weight")
        return before, repr(module), tuple(module.weight.shape)

    assert described(ts) == described(torch)


REJECTED = [
    "O(nn.Linear(2, 3), 'bias')", "O(nn.Linear(2, 3), 'other')", "O(nn.Linear(2, 3), orthogonal_map='qr')",
    "O(nn.Linear(2, 3, dtype=T.complex64), orthogonal_map='householder')", "setattr(O(nn.Linear(2, 3)), 'weight', T.ones(2, 2))",
    "setattr(O(nn.Linear(2, 2), use_trivialization=False), 'weight', T.ones(2, 2))",
]  # fmt: skip


@pytest.mark.parametrize("text", REJECTED)
def test_rejected_calls(text):
    def messages(library):
        with pytest.raises(Exception) as caught:
            eval(text, {"O": library.nn.utils.parametrizations.orthogonal, "nn": library.nn, "T": library})
        return type(caught.value).__name__, str(caught.value)

    assert messages(ts) == messages(torch)
