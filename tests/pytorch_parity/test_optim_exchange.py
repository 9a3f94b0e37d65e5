"""Optimizers compared with PyTorch's: exchanged states, LBFGS, differentiable steps, errors, signatures,
clipping."""

import importlib
import inspect
import io
import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import torch.optim.swa_utils  # noqa: E402

import ts  # noqa: E402

RULES = [
    ("SGD", dict(momentum=0.9)), ("Adam", dict(amsgrad=True)), ("AdamW", {}), ("NAdam", {}), ("RAdam", dict(betas=(0.5, 0.6))), ("Adamax", {}),
    ("Adagrad", {}), ("Adadelta", {}), ("RMSprop", dict(momentum=0.5, centered=True)), ("Rprop", {}), ("ASGD", dict(t0=2)), ("Adafactor", {}),
    ("Muon", {}), ("LBFGS", dict(line_search_fn="strong_wolfe", max_iter=3)), ("LBFGS", dict(lr=0.1, max_iter=2)),
]  # fmt: skip


class Curve:
    """A small regression problem and its optimizer in one of the libraries."""

    def __init__(self, library, rule, options):
        random = np.random.default_rng(0)
        self.library = library
        self.data = library.tensor(random.standard_normal((20, 5)))
        self.aim = library.tensor(random.standard_normal((20, 4)))
        self.x = library.tensor(random.standard_normal((5, 4))).requires_grad_(True)
        self.optimizer = getattr(library.optim, rule)([self.x], **options)
        self.scheduler = library.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)

    def loss(self):
        self.optimizer.zero_grad()
        loss = ((self.data @ self.x).tanh() - self.aim).pow(2).mean()
        loss.backward()
        return loss

    def train(self, steps):
        losses = []
        for _ in range(steps):
            if type(self.optimizer).__name__ == "LBFGS":
                losses.append(self.optimizer.step(self.loss).item())
            else:
                losses.append(self.loss().item())
                self.optimizer.step()
            self.scheduler.step()
        return losses

    def save(self):
        file = io.BytesIO()
        state_dict = {
            "x": self.x.detach(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
        }
        self.library.save(state_dict, file)
        return file.getvalue()

    def load(self, saved):
        state_dict = self.library.load(io.BytesIO(saved), weights_only=True)
        with self.library.no_grad():
            self.x.copy_(state_dict["x"])
        self.optimizer.load_state_dict(state_dict["optimizer"])
        self.scheduler.load_state_dict(state_dict["scheduler"])


@pytest.mark.parametrize(("rule", "options"), RULES)
def test_training_continues_in_the_other_library(rule, options):
    """A state saved by one library in the middle of training continues in the other with the losses of
    uninterrupted training."""
    whole = Curve(torch, rule, options).train(10)
    for first, second in itertools.permutations((ts, torch)):
        first_half, resumed = Curve(first, rule, options), Curve(second, rule, options)
        losses = first_half.train(5)
        resumed.load(first_half.save())
        losses += resumed.train(5)
        # Muon orthogonalizes in bfloat16, which amplifies rounding differences.
        assert losses == pytest.approx(whole, rel=5e-3 if rule == "Muon" else 1e-6)


MODULES = "adadelta adagrad adam adamax adamw asgd lbfgs nadam radam rmsprop rprop sgd _adafactor _muon optimizer".split()


@pytest.mark.parametrize("module", MODULES)
def test_signatures(module):
    """Optimizer classes and functional forms have PyTorch's parameters, order and defaults."""
    theirs, ours = (importlib.import_module(f"{name}.optim.{module}") for name in ("torch", "ts"))
    for name in theirs.__all__:
        described = [
            [
                (p.name, p.kind, str(p.default))
                for p in inspect.signature(getattr(m, name)).parameters.values()
            ]
            for m in (ours, theirs)
        ]
        assert described[0] == described[1], name


def test_names():
    """All public names exist, including schedulers and averaging."""
    assert set(torch.optim.__all__) == set(ts.optim.__all__)
    for part in ("lr_scheduler", "swa_utils"):
        assert set(getattr(torch.optim, part).__all__) <= set(getattr(ts.optim, part).__all__)


REJECTED = [
    *(f"O.{rule}([x], foreach=True, fused=True)" for rule in ("SGD", "Adam", "Adagrad")),
    *(f"O.{rule}([x], differentiable=True, fused=True)" for rule in ("SGD", "Adam", "Adagrad")),
    *(f"O.{rule}([x], capturable=True).step()" for rule in "Adam NAdam RAdam Adamax ASGD RMSprop Rprop Adadelta".split()),
    "O.AdamW([x], lr=t.tensor(0.1), foreach=True, capturable=True).step()", "O.Adam([x], lr=t.tensor(0.1), foreach=True)",
    "O.Adam([x], lr=t.tensor([0.1, 0.2]))", "O.SGD([x], lr=t.tensor([0.1, 0.2]))", "O.Adam([x], betas=(t.tensor(0.9), 0.99))",
    "O.Adafactor([x], lr=-1)", "O.Adafactor([x], beta2_decay=1.0)", "O.Adafactor([x], eps=(-1, 1))", "O.Adafactor([x], eps=(None, -1))",
    "O.Adafactor([x], d=0.5)", "O.Adafactor([x], weight_decay=-1)", "O.Adafactor([c]).step()", "O.Muon([x])", "O.Muon([m], lr=-1)", "O.Muon([m], momentum=-1)",
    "O.Muon([m], weight_decay=-1)", "O.Muon([m], adjust_lr_fn='x')", "O.Muon([m], ns_steps=100).step()", "O.LBFGS([{'params': [x]}, {'params': [m]}])",
    "O.LBFGS([x], lr=-1)", "O.LBFGS([x], line_search_fn='x').step(lambda: (x * x).sum())", "O.LBFGS([x]).step()", "O.Optimizer([x], {}).step()",
    "O.SGD([x * 2])",
]  # fmt: skip


@pytest.mark.parametrize("text", REJECTED)
def test_rejected_calls(text):
    """Unsupported options raise PyTorch's errors."""

    def messages(library):
        x = library.ones(2, requires_grad=True)
        m, c = library.ones(2, 2), library.ones(2, dtype=library.complex64)
        for parameter in (x, m, c):
            parameter.grad = library.ones_like(parameter)
        with pytest.raises(Exception) as error:
            eval(text, {"O": library.optim, "t": library, "x": x, "m": m, "c": c})
        return error.type.__name__, str(error.value)

    assert messages(ts) == messages(torch)


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
@pytest.mark.parametrize(
    "options", [{}, dict(lr=0.5, history_size=2, max_iter=7), dict(max_iter=4, max_eval=6)]
)
def test_lbfgs(options, line_search):
    """LBFGS has PyTorch's losses, parameters and numbers of evaluations on a curved valley."""

    def descended(library):
        x = library.tensor([-1.2, 1.0], dtype=library.float64, requires_grad=True)
        y = library.tensor([0.3], dtype=library.float64, requires_grad=True)
        optimizer = library.optim.LBFGS([x, y], line_search_fn=line_search, **options)

        def closure():
            optimizer.zero_grad()
            loss = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2 + (y**4).sum() + 0.1 * (y * x[0]).sum()
            loss.backward()
            return loss

        losses = [optimizer.step(closure).item() for _ in range(3)]
        state = optimizer.state_dict()["state"][0]
        return [*losses, *x.tolist(), *y.tolist()], (
            state["func_evals"],
            state["n_iter"],
            len(state["old_dirs"]),
        )

    ours, theirs = descended(ts), descended(torch)
    assert ours[1] == theirs[1]
    assert ours[0] == pytest.approx(theirs[0], rel=1e-6, nan_ok=True)


THROUGH = [
    ("SGD", dict(momentum=0.9, nesterov=True, weight_decay=0.1)), ("Adam", dict(amsgrad=True, weight_decay=0.1)), ("AdamW", {}), ("NAdam", {}),
    ("RAdam", dict(betas=(0.5, 0.6))), ("Adamax", {}), ("Adagrad", {}), ("Adadelta", {}), ("RMSprop", dict(centered=True, momentum=0.5)),
    ("ASGD", dict(t0=2)), ("Rprop", {}),
]  # fmt: skip


@pytest.mark.parametrize("rate", [False, True])
@pytest.mark.parametrize(("rule", "options"), THROUGH)
def test_gradients_through_steps(rule, options, rate):
    """With `differentiable=True`, a step has gradients for the initial parameters, the gradients and the
    learning rate."""
    if rate and rule not in ("SGD", "Adam", "AdamW", "NAdam", "RAdam"):
        pytest.skip("PyTorch takes no rate there that is a tensor")

    def gradients(library):
        random = np.random.default_rng(0)
        start, w = (library.tensor(random.standard_normal(4)).requires_grad_(True) for _ in range(2))
        given = dict(options)
        if rate:
            given["lr"] = library.tensor(0.1, dtype=library.float64, requires_grad=True)
        x = start.clone()
        optimizer = getattr(library.optim, rule)([x], differentiable=True, **given)
        x.grad = w * w + 0.3 * start
        optimizer.step()
        x.pow(3).sum().backward()
        wanted = [start, w, *([given["lr"]] if rate else [])]
        return [v.grad.tolist() if v.grad is not None else None for v in wanted]

    for ours, theirs in zip(gradients(ts), gradients(torch), strict=True):
        ours, theirs = (0.0 if v is None else v for v in (ours, theirs))
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-7)  # PyTorch's step count is a float32


def test_hooks_of_all_optimizers():
    """Global hooks run around the hooks of the optimizer."""

    def order(library):
        module = importlib.import_module(f"{library.__name__}.optim.optimizer")
        seen = []
        handles = [
            module.register_optimizer_step_pre_hook(lambda *_: seen.append("before all")),
            module.register_optimizer_step_post_hook(lambda *_: seen.append("after all")),
        ]
        optimizer = library.optim.SGD([library.ones(1)])
        optimizer.register_step_pre_hook(lambda *_: seen.append("before"))
        optimizer.register_step_post_hook(lambda *_: seen.append("after"))
        optimizer.step()
        for handle in handles:
            handle.remove()
        optimizer.step()
        return seen

    assert order(ts) == order(torch)


def test_swapped_parameters():
    """`swap_in_optimizer_params_and_state`: a step changes only the swapped parameters."""

    def swapped(library):
        x, y = library.ones(2), library.full((2,), 5.0)
        x.grad, y.grad = library.ones(2), library.ones(2)
        optimizer = library.optim.Adam([x], lr=0.1)
        optimizer.step()
        state = optimizer.state_dict()
        state_dict = {**state, "state": {0: {k: v.clone() for k, v in state["state"][0].items()}}}
        with library.optim.swap_in_optimizer_params_and_state(optimizer, {"x": y}, state_dict):
            optimizer.step()
        optimizer.step()
        return [
            x.tolist(),
            y.tolist(),
            *(v.tolist() for v in state_dict["state"][0].values()),
            optimizer.state[x]["step"].item(),
        ]

    for ours, theirs in zip(swapped(ts), swapped(torch), strict=True):
        assert ours == pytest.approx(theirs)


CLIPPED = [
    "U.clip_grad_norm_(ps, 1.0)", "U.clip_grad_norm_(ps, 1.0, float('inf'))", "U.clip_grad_norm_(ps, 1.0, 1)", "U.clip_grad_norm_(ps, 1.0, 0)",
    "U.clip_grad_norm_(ps, 100.0)", "U.clip_grad_norm_(ps, '1')", "U.clip_grad_norm_(ps, 1.0, foreach=True)", "U.clip_grad_norm_(ps, 1.0, 'inf')",
    "U.clip_grad_norm_(ps[0], 1.0)", "U.clip_grad_norm_([], 1.0)", "U.clip_grad_norm_(ps, 1.0, -float('inf'))",
    "U.clip_grad_norm_([inf], 1.0, error_if_nonfinite=True)", "U.clip_grad_norm_([inf], 1.0)", "U.get_total_norm([p.grad for p in ps[:3]])",
    "U.get_total_norm([])", "U.get_total_norm(ps[0].grad)", "U.get_total_norm([t.tensor([1, 2])])", "U.clip_grad_value_(ps, 2)",
    "U.clip_grad_value_(ps, '2.5')", "U.clip_grads_with_norm_(ps, 1.0, t.tensor(10.0))", "U.clip_grad_norm_({'a': ps[0]}, 1.0)",
]  # fmt: skip


@pytest.mark.parametrize("text", CLIPPED)
def test_clipping(text):
    """Gradient clipping has PyTorch's norms, gradients and errors."""

    def outcome(library):
        def parameter(*values, dtype=library.float32):
            x = library.zeros(len(values), dtype=dtype, requires_grad=True)
            x.grad = library.tensor(values, dtype=dtype)
            return x

        ps = [
            parameter(3.0, -4.0),
            parameter(1.5, dtype=library.float64),
            parameter(2.0, 0.5, dtype=library.bfloat16),
            library.zeros(2),
        ]
        try:
            result = eval(
                text, {"U": library.nn.utils, "t": library, "ps": ps, "inf": parameter(float("inf"), 1.0)}
            )
        except Exception as error:
            return type(error).__name__, str(error)
        result_text = None if result is None else (result.item(), str(result.dtype).rpartition(".")[2])
        return result_text, [p.grad.tolist() for p in ps[:3]]

    def flat(value):
        return [y for x in value for y in flat(x)] if isinstance(value, (list, tuple)) else [value]

    for ours, theirs in zip(flat(outcome(ts)), flat(outcome(torch)), strict=True):
        assert ours == (pytest.approx(theirs, rel=1e-6, nan_ok=True) if isinstance(theirs, float) else theirs)


def test_an_empty_generator_of_parameters():
    """Gradient clipping warns for an empty parameter generator, which is often an exhausted one."""
    with pytest.warns(UserWarning, match="is an empty generator, no gradient clipping will occur"):
        assert ts.nn.utils.clip_grad_norm_((p for p in []), 1.0).item() == 0.0
