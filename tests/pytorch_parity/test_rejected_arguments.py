"""Invalid arguments of transforms, hooks, layers, loaders and optimizers raise PyTorch's errors."""

import importlib
import warnings

import pytest

import ts

torch = pytest.importorskip("torch")


def also(value, *others):
    return value


def in_grad(call):
    return lambda m: m.func.grad(lambda x: also(x.sum(), call(m, x)))(m.ones(3))


def in_vmap(call):
    return lambda m: m.vmap(lambda x: also(x, call(m, x)))(m.ones(2, 3))


def with_hook(name, given):
    def run(m):
        x = m.ones(3, requires_grad=True)
        y = x.sin()
        getattr(y.grad_fn, name)(lambda *gradients: given(m))
        y.sum().backward()

    return run


REJECTED = {
    "backward in grad": in_grad(lambda m, x: x.sum().backward()),
    "backward in vmap": in_vmap(lambda m, x: m.ones(1, requires_grad=True).backward()),
    "autograd.backward in grad": in_grad(lambda m, x: m.autograd.backward(x.sum())),
    "requires_grad_ in grad": in_grad(lambda m, x: x.requires_grad_(False)),
    "requires_grad_ in vmap": in_vmap(lambda m, x: m.ones(2).requires_grad_()),
    "retain_grad in grad": in_grad(lambda m, x: (x * 2).retain_grad()),
    "a text from a hook": with_hook("register_hook", lambda m: "a"),
    "a text in a tuple from a hook": with_hook("register_hook", lambda m: ("a",)),
    "two from a hook": with_hook("register_hook", lambda m: (m.ones(3), m.ones(3))),
    "another size from a hook": with_hook("register_hook", lambda m: (m.ones(2),)),
    "a tensor from a hook before": with_hook("register_prehook", lambda m: m.ones(3)),
    "another dtype from a hook before": with_hook("register_prehook", lambda m: (m.ones(3).double(),)),
    "LSTM of nothing": lambda m: m.nn.LSTM(0, 4),
    "GRU of a fraction": lambda m: m.nn.GRU(4.0, 4),
    "RNN to a fraction": lambda m: m.nn.RNN(4, 4.0),
    "a timeout without workers": lambda m: list(m.utils.data.DataLoader([1, 2], timeout=5)),
}


@pytest.mark.parametrize("name", REJECTED)
def test_rejected_calls(name):
    """Invalid calls raise PyTorch's error class and message."""
    found = []
    for m in (ts, torch):
        with pytest.raises(Exception) as error:
            REJECTED[name](m)
        found.append((type(error.value).__name__, str(error.value)))
    assert found[0] == found[1]


def test_step_hooks_receive_the_optimizer():
    """Step hooks, global and per optimizer, get the optimizer as first argument."""
    seen = {}
    for m in (ts, torch):
        p = m.nn.Parameter(m.ones(2))
        p.grad = m.ones(2)
        optimizer = m.optim.SGD([p], lr=0.1)
        calls = seen[m] = []

        def note(name, calls=calls):
            return lambda o, args, kwargs: calls.append((name, args[0] is o, len(args), kwargs))

        hooks = importlib.import_module(f"{m.__name__}.optim.optimizer")
        handles = [
            hooks.register_optimizer_step_pre_hook(note("all before")),
            hooks.register_optimizer_step_post_hook(note("all after")),
        ]
        optimizer.register_step_pre_hook(note("before"))
        optimizer.register_step_post_hook(note("after"))
        optimizer.step()
        optimizer.step(lambda: 1.0)
        optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o,), {}))
        optimizer.step(closure=None)
        for handle in handles:
            handle.remove()
    assert seen[ts] == seen[torch]


SIZES = {
    "view": lambda m, x: x.view(2, "3"),
    "view of a list": lambda m, x: x.view([2, 1, None]),
    "view by name": lambda m, x: x.view(size=(2, "a")),
    "view of tensors": lambda m, x: x.view(2, m.ones(1)),
    "permute": lambda m, x: x.permute(0, 1, None),
    "expand": lambda m, x: x.expand(2, 2.5),
    "zeros": lambda m, x: m.zeros(2, [3]),
    "rand": lambda m, x: m.rand(2, 4 / 2),
    "sum": lambda m, x: x.sum((0, "a")),
    "strides": lambda m, x: m.as_strided(x, (1, 2), (1, "a")),
    "stride of conv2d": lambda m, x: m.nn.functional.conv2d(m.ones(1, 1, 2, 2), m.ones(1, 1, 1, 1), stride=(1, "a")),
    "randint": lambda m, x: m.randint(0, 2, (1, "a")),
    "var": lambda m, x: x.var((0, "a")),
}


@pytest.mark.parametrize("name", SIZES)
def test_non_int_size(name):
    """The error for a size that is not an int names the argument and its position."""
    texts = []
    for m in (ts, torch):
        with pytest.raises(TypeError) as caught:
            SIZES[name](m, m.ones(2, 2))
        texts.append(str(caught.value))
    assert texts[0] == texts[1] and "failed to unpack the object at pos" in texts[0]


def in_a_row(x):
    return x.view(2, "3")


def in_a_tuple(x):
    return x.view((2, "3"))


def of_one_form(x):
    return x.permute(0, "3")


@pytest.mark.parametrize("program", [in_a_row, in_a_tuple, of_one_form], ids=lambda program: program.__name__)
def test_non_int_size_in_a_script(program):
    texts = []
    for m in (ts, torch):
        with pytest.raises(RuntimeError) as caught:
            m.jit.script(program)
        texts.append(str(caught.value).strip())
    assert texts[0] == texts[1] and "for argument '<varargs>'" in texts[0]


def test_state_of_a_plateau_scheduler():
    """The state of a plateau scheduler has PyTorch's keys and values, so that checkpoints are
    interchangeable."""
    saved = []
    for m in (ts, torch):
        optimizer = m.optim.SGD([m.nn.Parameter(m.ones(1))], lr=1.0)
        scheduler = m.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=1)
        for figure in (1.0, 0.5, 0.5, 0.5):
            scheduler.step(figure)
        saved.append(scheduler.state_dict())
    assert saved[0] == saved[1]


def test_warning_for_many_workers():
    """`DataLoader` issues PyTorch's warning for too many workers."""
    texts = []
    for m in (ts, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            m.utils.data.DataLoader([1, 2], num_workers=999)
        texts.append([str(w.message) for w in caught])
    assert texts[0] == texts[1] and len(texts[0]) == 1
