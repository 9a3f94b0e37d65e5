"""Optimizers and schedulers: parameters, states, learning rates after each step, and errors equal PyTorch's."""

import copy
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import torch.optim.swa_utils  # noqa: E402

import ts  # noqa: E402
import ts.optim.swa_utils  # noqa: E402

RULES = [
    ("SGD", {}), ("SGD", dict(momentum=0.9)), ("SGD", dict(momentum=0.9, nesterov=True, weight_decay=0.1)),
    ("SGD", dict(momentum=0.5, dampening=0.2, maximize=True)),
    ("Adam", {}), ("Adam", dict(amsgrad=True, weight_decay=0.1)), ("AdamW", {}), ("AdamW", dict(amsgrad=True)),
    ("Adam", dict(betas=(0.5, 0.8), eps=1e-3, maximize=True)), ("Adam", dict(decoupled_weight_decay=True, weight_decay=0.1)),
    ("NAdam", {}), ("NAdam", dict(weight_decay=0.1, decoupled_weight_decay=True)), ("RAdam", {}),
    ("RAdam", dict(betas=(0.5, 0.6), weight_decay=0.1)), ("Adamax", {}), ("Adamax", dict(weight_decay=0.1)),
    ("Adagrad", {}), ("Adagrad", dict(lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.3)),
    ("Adadelta", {}), ("Adadelta", dict(rho=0.5, weight_decay=0.1, maximize=True)),
    ("RMSprop", {}), ("RMSprop", dict(momentum=0.9)), ("RMSprop", dict(centered=True, weight_decay=0.1)),
    ("RMSprop", dict(centered=True, momentum=0.5)), ("Rprop", {}), ("Rprop", dict(etas=(0.3, 1.5), step_sizes=(1e-3, 0.02))),
    ("ASGD", {}), ("ASGD", dict(t0=2, lambd=0.1, weight_decay=0.1)),
]  # fmt: skip


def comparable(value):
    """Convert an optimizer state to plain Python values, independent of the library."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [comparable(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def close(ours, theirs):
    """Return True if two states are equal up to rounding."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(close(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(close, ours, theirs))
    if isinstance(theirs, (float, complex)):
        return ours == pytest.approx(theirs, rel=2e-5, abs=1e-7)
    return ours == theirs


def trained(library, rule, options, dtype, steps=6):
    """Return the parameters after steps with random gradients, and the state."""
    random = np.random.default_rng(0)
    draw = lambda: library.tensor(
        (random.standard_normal((3, 2)) + 1j * random.standard_normal((3, 2))).astype(dtype)
    )
    x, untouched = draw(), draw()
    optimizer = getattr(library.optim, rule)([{"params": [x]}, {"params": [untouched], "lr": 0.5}], **options)
    for _ in range(steps):
        x.grad = draw()
        optimizer.step()
    again = getattr(library.optim, rule)([x, untouched], **options)
    saved = copy.deepcopy(optimizer.state_dict())
    saved["param_groups"] = [{**saved["param_groups"][0], "params": [0, 1]}]
    again.load_state_dict(saved)
    x.grad = draw()
    again.step()
    return comparable([x, untouched, again.state_dict(), again.defaults])


@pytest.mark.filterwarnings("ignore:Casting complex:numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize(("rule", "options"), RULES)
def test_rules(rule, options, dtype):
    """Optimizers update parameters and state as PyTorch's, and continue from saved state."""
    if dtype == "complex128" and rule in ("Adagrad", "Adamax", "Rprop", "ASGD", "RMSprop"):
        pytest.skip("PyTorch mixes real and complex states there")
    assert close(trained(ts, rule, options, dtype), trained(torch, rule, options, dtype))


SCHEDULES = [
    "L.StepLR(o, 3)", "L.StepLR(o, 2, gamma=0.5)", "L.MultiStepLR(o, [2, 2, 5])", "L.ExponentialLR(o, 0.9)",
    "L.ConstantLR(o)", "L.ConstantLR(o, 0.5, 3)", "L.LinearLR(o)", "L.LinearLR(o, 0.5, 0.1, 4)", "L.PolynomialLR(o)",
    "L.PolynomialLR(o, 7, 2.0)", "L.CosineAnnealingLR(o, 4)", "L.CosineAnnealingLR(o, 5, 0.01)",
    "L.LambdaLR(o, lambda n: 0.9 ** n)", "L.LambdaLR(o, [lambda n: n, lambda n: 1 / (n + 1)])",
    "L.MultiplicativeLR(o, lambda n: 0.9)", "L.CyclicLR(o, 0.01, 0.1, 3)",
    "L.CyclicLR(o, [0.01, 0.02], [0.1, 0.2], 2, 3, mode='triangular2')",
    "L.CyclicLR(o, 0.01, 0.1, 2, mode='exp_range', gamma=0.9, cycle_momentum=False)",
    "L.CyclicLR(o, 0.01, 0.1, 2, scale_fn=lambda n: 1 / (1 + n), scale_mode='iterations')",
    "L.OneCycleLR(o, 0.3, total_steps=12)", "L.OneCycleLR(o, [0.3, 0.4], epochs=6, steps_per_epoch=2, three_phase=True)",
    "L.OneCycleLR(o, 0.3, 12, anneal_strategy='linear', cycle_momentum=False)", "L.CosineAnnealingWarmRestarts(o, 3)",
    "L.CosineAnnealingWarmRestarts(o, 2, 2, 0.01)",
    "L.SequentialLR(o, [L.LinearLR(o, 0.1, total_iters=3), L.ExponentialLR(o, 0.9), L.StepLR(o, 2)], [3, 7])",
    "L.ChainedScheduler([L.ConstantLR(o, 0.1, 4), L.ExponentialLR(o, 0.9)])",
    "S.SWALR(o, 0.05, 4)", "S.SWALR(o, [0.05, 0.5], 5, 'linear')", "S.SWALR(o, 0.05, 0)",
]  # fmt: skip


def schedule(library, text, rule="SGD"):
    """Return an optimizer with two groups, and its scheduler, which `text` creates."""
    options = dict(momentum=0.9) if rule == "SGD" else {}
    groups = [{"params": [library.ones(1)]}, {"params": [library.ones(1)], "lr": 0.5}]
    o = getattr(library.optim, rule)(groups, lr=0.1, **options)
    return o, eval(
        text, {"L": library.optim.lr_scheduler, "S": library.optim.swa_utils, "o": o, "library": library}
    )


def of_groups(optimizer):
    return [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]


def rates(library, text, rule, steps):
    """Return the group options and the schedule's rates after every step."""
    o, scheduler = schedule(library, text, rule)
    seen = [(of_groups(o), scheduler.get_last_lr())]
    for step in steps:
        o.step()
        scheduler.step(*step)
        seen.append((of_groups(o), scheduler.get_last_lr()))
    return comparable(seen)


@pytest.mark.parametrize("rule", ["SGD", "Adam"])
@pytest.mark.parametrize("text", SCHEDULES)
def test_schedules(text, rule):
    """Schedulers have PyTorch's learning rates and momenta for twelve steps."""
    steps = [()] * 12
    assert close(rates(ts, text, rule, steps), rates(torch, text, rule, steps))


@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize(
    "text", [t for t in SCHEDULES if "Sequential" not in t and "Chained" not in t and "Warm" not in t]
)
def test_schedules_at_steps(text):
    """Schedulers have PyTorch's learning rates for given step numbers."""
    steps = [(n,) for n in (3, 1, 7, 7)]
    if "SWALR" in text:
        steps = steps[:1]
    assert close(rates(ts, text, "SGD", steps), rates(torch, text, "SGD", steps))


def resumed(library, text):
    """Return the learning rates and the state of a schedule resumed from a state dict."""
    o, scheduler = schedule(library, text)
    for _ in range(4):
        o.step()
        scheduler.step()
    state = copy.deepcopy(scheduler.state_dict())
    options = of_groups(o)
    o, scheduler = schedule(library, text)
    for group, before in zip(o.param_groups, options, strict=True):
        group.update(before)
    scheduler.load_state_dict(state)
    for _ in range(4):
        o.step()
        scheduler.step()
    return comparable([of_groups(o), scheduler.state_dict()])


@pytest.mark.parametrize("text", SCHEDULES)
def test_schedules_resume_from_state(text):
    """A schedule restored from `state_dict` continues as PyTorch's."""
    ours, theirs = resumed(ts, text), resumed(torch, text)
    assert close(ours[0], theirs[0])
    for name in ("last_epoch", "_last_lr", "base_lrs"):
        assert close(ours[1].get(name), theirs[1].get(name)), name


FIGURES = (
    1.0,
    0.9,
    0.9,
    0.95,
    0.9,
    0.89999,
    2.0,
    2.0,
    0.1,
    0.1,
    0.1,
    0.1,
    -1.0,
    -1.0,
    -1.1,
    -1.0,
    -1.0,
    -1.0,
)


@pytest.mark.parametrize(
    "options",
    [{}, dict(patience=0), dict(patience=1, factor=0.5, cooldown=2), dict(mode="max", patience=1), dict(patience=0, min_lr=[0.05, 0.2]),
     dict(patience=1, threshold=0.1, threshold_mode="abs"), dict(patience=1, threshold=0.1, mode="max"), dict(patience=0, eps=0.2)],
)  # fmt: skip
def test_plateau(options):
    """`ReduceLROnPlateau` has PyTorch's learning rates for metrics that rise and fall."""

    def seen(library):
        o, _ = schedule(library, "None")
        scheduler = library.optim.lr_scheduler.ReduceLROnPlateau(o, **options)
        result = []
        for figure in FIGURES:
            o.step()
            scheduler.step(library.tensor(figure))
            result.append(
                [of_groups(o), scheduler.num_bad_epochs, scheduler.cooldown_counter, scheduler.best]
            )
        return comparable(result)

    assert close(seen(ts), seen(torch))


REJECTED = [
    "L.StepLR(3, 3)", "L.StepLR(o, 3, last_epoch=2)", "L.LambdaLR(o, [abs])", "L.LinearLR(o, 0)", "L.LinearLR(o, 0.5, 2)",
    "L.ConstantLR(o, 2)", "L.SequentialLR(o, [], [1])", "L.SequentialLR(o, [L.StepLR(o, 1)], [1])", "L.SequentialLR(o, [3], [1])",
    "L.SequentialLR(o, [L.StepLR(o, 1), L.ReduceLROnPlateau(o)], [1])", "L.ChainedScheduler([])",
    "L.ChainedScheduler([L.StepLR(o, 1), L.ReduceLROnPlateau(o)])", "L.CosineAnnealingWarmRestarts(o, 0)",
    "L.CosineAnnealingWarmRestarts(o, 1, 0.5)", "L.CosineAnnealingWarmRestarts(o, 3).step(-1)", "L.ReduceLROnPlateau(o, factor=1.0)",
    "L.ReduceLROnPlateau(o, mode='x')", "L.ReduceLROnPlateau(o, threshold_mode='x')", "L.ReduceLROnPlateau(o, min_lr=[1])",
    "L.CyclicLR(o, 0.1, 0.2, mode='x')", "L.CyclicLR(o, [0.1], 0.2)", "L.CyclicLR(3, 0.1, 0.2)", "L.OneCycleLR(o, 0.1)",
    "L.OneCycleLR(o, 0.1, total_steps=-1)", "L.OneCycleLR(o, 0.1, total_steps=1.5)", "L.OneCycleLR(o, 0.1, epochs=-1, steps_per_epoch=2)",
    "L.OneCycleLR(o, 0.1, total_steps=3, pct_start=2)", "L.OneCycleLR(o, 0.1, total_steps=3, anneal_strategy='x')",
    "[s.step() for s in [L.OneCycleLR(o, 0.1, total_steps=2)] for _ in range(9)]", "S.SWALR(o, 0.1, anneal_strategy='x')",
    "S.SWALR(o, 0.1, -1)", "S.SWALR(o, [0.1])", "S.get_ema_avg_fn(2.0)", "O.SGD(x)", "O.SGD([])", "O.SGD([3])", "O.SGD([x], lr=-1)",
    "O.SGD([x], momentum=-1)", "O.SGD([x], weight_decay=-1)", "O.SGD([x], nesterov=True)", "O.SGD([{'params': [x]}, {'params': [x]}])",
    "O.SGD([{'params': {x}}])", "O.SGD([('a', x), x])", "O.SGD([('a', x)]).add_param_group({'params': [y]})",
    "O.SGD([x]).add_param_group({'params': [('a', y)]})", "O.Adam([x], betas=(1.0, 0.3))", "O.Adam([x], betas=(0.9, 1.3))",
    "O.Adam([x], eps=-1)", "O.Adam([x], weight_decay=-1)", "O.NAdam([x], momentum_decay=-1)", "O.Adadelta([x], rho=-1)",
    "O.Adagrad([x], lr_decay=-1)", "O.Adagrad([x], initial_accumulator_value=-1)", "O.RMSprop([x], alpha=-1)", "O.Rprop([x], etas=(2, 3))",
    "o.load_state_dict({'state': {}, 'param_groups': []})", "O.SGD([x]).add_param_group(3)", "O.Optimizer([x], {}).step()",
    "O.SGD([x]).load_state_dict({'state': {}, 'param_groups': [{'params': [1, 2]}]})",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("text", REJECTED)
def test_rejected_calls(text):
    """Invalid arguments of optimizers and schedulers raise PyTorch's errors with equal messages."""

    def messages(library):
        o, _ = schedule(library, "None")
        names = {"L": library.optim.lr_scheduler, "S": library.optim.swa_utils, "O": library.optim, "o": o}
        with pytest.raises(Exception) as caught:
            eval(text, names | {"x": library.ones(1), "y": library.ones(2)})
        return type(caught.value).__name__, str(caught.value).replace("ts.FloatTensor", "torch.FloatTensor")

    assert messages(ts) == messages(torch)


WARNED = [
    "L.StepLR(o, 1).step()", "L.StepLR(o, 1).get_lr()", "L.StepLR(o, 1).step(2)", "O.SGD([x, x])",
    "[s.step() for s in [L.StepLR(o, 1)] if setattr(o, 'step', lambda: 0) is None]",
]  # fmt: skip


@pytest.mark.parametrize("text", WARNED)
def test_warnings(text):
    """Questionable arguments of optimizers and schedulers issue PyTorch's warnings."""

    def messages(library):
        o, _ = schedule(library, "None")
        names = {"L": library.optim.lr_scheduler, "O": library.optim, "o": o, "x": library.ones(1)}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(text, names)
        return [str(w.message) for w in caught]

    assert messages(ts) == messages(torch) != []


@pytest.mark.parametrize(
    "options",
    [
        "{}",
        "dict(use_buffers=True)",
        "dict(avg_fn=S.get_ema_avg_fn(0.9))",
        "dict(multi_avg_fn=S.get_ema_multi_avg_fn(0.9))",
    ],
)
def test_averaged_models(options):
    """Averaged parameters and buffers, and recomputed batch norm statistics, equal PyTorch's."""

    def averaged(library):
        random = np.random.default_rng(1)
        nn = library.nn
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, momentum=0.3))
        names = {"S": library.optim.swa_utils}
        mean = library.optim.swa_utils.AveragedModel(model, **eval(options, names))
        for _ in range(4):
            for x in model.parameters():
                x.detach().copy_(library.tensor(random.standard_normal(x.shape).astype("f")))
            model(library.tensor(random.standard_normal((5, 3)).astype("f")))
            mean.update_parameters(model)
        before = comparable(dict(mean.state_dict()))
        batches = [library.tensor(random.standard_normal((5, 3)).astype("f")) for _ in range(3)]
        library.optim.swa_utils.update_bn(batches, mean)
        return [before, comparable(dict(mean.state_dict())), mean.module[1].momentum]

    ours, theirs = averaged(ts), averaged(torch)
    assert close(ours, theirs)
