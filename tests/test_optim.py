"""Optimizers and schedulers, except for comparisons with PyTorch: hooks, closures, copies, nested schedulers."""

import copy
import pickle

import pytest

import ts
from ts.optim import SGD, Adam, Optimizer, lr_scheduler


def parameter(*values):
    x = ts.nn.Parameter(ts.tensor(values))
    x.grad = ts.ones_like(x)
    return x


def test_optimizer_defined_by_update():
    """A class with `update` is an optimizer with groups, closures and state."""

    class Halving(Optimizer):
        def __init__(self, params, share=0.5):
            super().__init__(params, {"share": share})

        def update(self, x, grad, state, group):
            x.mul_(group["share"])
            state["seen"] = state.get("seen", 0) + 1

    x, y = parameter(8.0), parameter(8.0)
    optimizer = Halving([{"params": x}, {"params": [y], "share": 0.25}])
    assert optimizer.step(lambda: "loss") == "loss"
    optimizer.step()
    assert (x.item(), y.item()) == (2.0, 0.5)
    assert optimizer.state_dict()["state"] == {0: {"seen": 2}, 1: {"seen": 2}}


def test_parameters_without_gradients_are_unchanged():
    """`zero_grad` removes or zeroes gradients; a step skips parameters without gradients."""
    x = parameter(1.0)
    optimizer = SGD([x], lr=1.0)
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.item() == 0.0
    optimizer.zero_grad()
    assert x.grad is None
    optimizer.step()
    assert x.item() == 1.0


def test_hooks_of_steps():
    """Step hooks run before and after a step, may change its arguments, and can be removed."""
    seen = []
    x = parameter(1.0)
    optimizer = SGD([x])
    before = optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: "other"), {}))
    after = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(o))
    assert optimizer.step() == "other"
    assert seen == [optimizer]
    before.remove()
    after.remove()
    assert optimizer.step() is None
    assert len(seen) == 1
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        optimizer.step()


def test_step_of_an_optimizer_without_base_initialization():
    """A wrapper of an optimizer without `Optimizer.__init__` uses its own step."""

    class Wrapper(Optimizer):
        def __init__(self, optimizer):
            self.optimizer = optimizer

        def step(self, closure=None):
            return self.optimizer.step(lambda: "inner")

    assert not hasattr(Wrapper.step, "hooked")
    assert Wrapper(SGD([parameter(1.0)])).step() == "inner"
    with pytest.raises(AttributeError, match="_optimizer_step_pre_hooks"):
        Wrapper(None).register_step_pre_hook(print)


def test_steps_get_hooks_with_the_first_optimizer_of_a_class():
    """`step.hooked` is set by the first `Optimizer.__init__` of a class."""

    class Halving(SGD):
        def step(self, closure=None):
            return "halved"

    assert not hasattr(Halving.step, "hooked")
    optimizer = Halving([parameter(1.0)])
    assert Halving.step.hooked
    seen = []
    optimizer.register_step_pre_hook(lambda *args: seen.append(args))
    assert optimizer.step() == "halved"
    assert len(seen) == 1


def test_hooks_of_states():
    """State hooks can observe and replace the saved and loaded state."""
    optimizer = SGD([parameter(1.0)], lr=0.5)
    called = []
    optimizer.register_state_dict_pre_hook(lambda o: called.append("save"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: called.append(state.pop("more")))
    optimizer.register_load_state_dict_post_hook(lambda o: called.append("loaded"))
    state = optimizer.state_dict()
    assert state["more"] == 1
    optimizer.load_state_dict(state)
    assert called == ["save", 1, "loaded"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies(copied):
    """A copied optimizer has separate parameters and state."""
    x = parameter(1.0, 2.0)
    optimizer = Adam([x])
    optimizer.step()
    copied_optimizer = copied(optimizer)
    (y,) = copied_optimizer.param_groups[0]["params"]
    before = y.tolist()
    y.grad = ts.ones_like(y)
    copied_optimizer.step()
    assert y.tolist() != before
    assert x.tolist() == before
    assert (optimizer.state[x]["step"], copied_optimizer.state[y]["step"]) == (1, 2)


def test_names_of_parameters():
    """Named parameters keep their names in their group."""
    model = ts.nn.Linear(1, 1)
    optimizer = SGD(model.named_parameters())
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


def test_sequences_of_sequences():
    """SequentialLR schedules can be nested."""
    optimizer = SGD([parameter(1.0)], lr=1.0)
    inner = lr_scheduler.SequentialLR(
        optimizer,
        [lr_scheduler.ConstantLR(optimizer, 0.5, 9), lr_scheduler.ExponentialLR(optimizer, 0.1)],
        [2],
    )
    outer = lr_scheduler.SequentialLR(optimizer, [lr_scheduler.ConstantLR(optimizer, 0.25, 9), inner], [2])
    rates = []
    for _ in range(6):
        rates += outer.get_last_lr()
        optimizer.step()
        outer.step()
    assert rates == pytest.approx([0.25, 0.25, 0.5, 0.5, 1.0, 0.1])


@pytest.mark.parametrize("differentiable", [False, True])
def test_steps_of_own_optimizers_record_gradients_if_differentiable(differentiable):
    from ts.optim.optimizer import _use_grad_for_differentiable

    class Recording(ts.optim.SGD):
        @_use_grad_for_differentiable
        def step(self, closure=None):
            return ts.is_grad_enabled()

    optimizer = Recording([ts.ones(1, requires_grad=True)], lr=0.1, differentiable=differentiable)
    assert optimizer.step() is differentiable and ts.is_grad_enabled()
    assert Recording.step.__name__ == "step"


def test_options_missing_in_an_earlier_group():
    """A step without an option in its group does not change the options of later steps."""
    incomplete, complete = (ts.optim.AdamW([ts.ones(1, requires_grad=True)], lr=0.1, weight_decay=0.5) for _ in range(2))
    del incomplete.param_groups[0]["decoupled_weight_decay"]
    for optimizer in (incomplete, complete):
        (x,) = optimizer.param_groups[0]["params"]
        x.grad = ts.zeros(1)
        optimizer.step()
    assert complete.param_groups[0]["params"][0].item() == pytest.approx(0.95)
