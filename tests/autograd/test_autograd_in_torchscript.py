"""Scripts that call `backward` and `grad`: results, remaining graphs, and concurrent execution."""

import io
import signal
from typing import List, Optional

import pytest

import ts
from ts.testing import assert_close

HEAD = """graph(%x.1 : Tensor):
  %9 : bool = prim::Constant[value=0]()
  %4 : NoneType = prim::Constant()
  %3 : Tensor = aten::mul(%x.1, %x.1)
  %y.1 : Tensor = aten::sum(%3, %4)
   = aten::backward(%y.1, %4, %4, %9)
  %12 : Tensor = prim::grad(%x.1)
  return (%12)
"""


def leaf(*numbers: float) -> ts.Tensor:
    return ts.tensor([float(x) for x in numbers]).requires_grad_()


def squares(x: ts.Tensor):
    y = (x * x).sum()
    y.backward()
    return x.grad


def test_backward_in_a_script():
    scripted = ts.jit.script(squares)
    for _ in range(3):
        assert_close(scripted(leaf(1, 2)), ts.tensor([2.0, 4.0]))
    assert [line.partition(" #")[0] for line in str(scripted.graph).splitlines()] == HEAD.splitlines()


@ts.jit.script
def several(x: ts.Tensor):
    y = (x * 2).sin()
    z = (y * y).sum().exp()
    return ts.autograd.grad([z], [y, x])


def eager_gradients(x: ts.Tensor):
    y = (x * 2).sin()
    z = (y * y).sum().exp()
    return ts.autograd.grad([z], [y, x])


def test_gradients_of_intermediate_values():
    x = leaf(0.1, 0.2, 0.3)
    for _ in range(3):  # later calls run as several graphs, for which y must be a result and an argument
        assert_close(several(x), list(eager_gradients(x)))


@ts.jit.script
def retained_gradients(x: ts.Tensor):
    y = (x * 2).sin()
    y.retain_grad()
    before = y.retains_grad
    (y * y).sum().exp().backward()
    return y.grad, x.grad, before, (x * 2).retains_grad


def test_intermediates_keep_their_gradients():
    for _ in range(3):
        x = leaf(0.1, 0.2, 0.3)
        found = retained_gradients(x)
        assert_close(found[:2], eager_gradients(x))
        assert found[2:] == (True, False)


@ts.jit.script
def second(x: ts.Tensor):
    y = x.exp().sin().exp()
    g = ts.autograd.grad([y.sum()], [x], create_graph=True)[0]
    assert g is not None
    h = ts.autograd.grad([g.sum()], [x])[0]
    assert h is not None
    return g, h


def test_gradients_of_gradients_inside_of_a_script():
    for _ in range(3):
        x = leaf(0.1, 0.5)
        g, h = second(x)
        wanted = ts.autograd.grad(x.exp().sin().exp().sum(), x, create_graph=True)[0]
        assert_close(g, wanted)
        assert_close(h, ts.autograd.grad(wanted.sum(), x)[0])


@ts.jit.script
def descend(x: ts.Tensor, steps: int):
    w = ts.ones([3])
    for _ in range(steps):
        w = w.detach().requires_grad_()
        ((w * x - 3.0) ** 2).sum().backward()
        g = w.grad
        with ts.no_grad():
            w -= 0.1 * g
    return w


def test_a_script_trains():
    x = ts.tensor([1.0, 2.0, 1.5])
    w = ts.ones([3])
    for _ in range(5):
        w = w.detach().requires_grad_()
        ((w * x - 3.0) ** 2).sum().backward()
        with ts.no_grad():
            w -= 0.1 * w.grad
    for _ in range(2):
        assert_close(descend(x, 5), w)


@ts.jit.script
def modes(x: ts.Tensor):
    a = x * 2
    with ts.no_grad():
        b = x * 3
        with ts.enable_grad():
            c = x * 4
    ts.set_grad_enabled(False)
    d = x * 5
    inside = ts.is_grad_enabled()
    ts.set_grad_enabled(True)
    e = x * 6
    return [a.requires_grad, b.requires_grad, c.requires_grad, d.requires_grad, e.requires_grad], inside


def test_blocks_without_gradients():
    for _ in range(3):
        assert modes(leaf(1, 2)) == ([True, False, True, False, True], False)
    assert ts.is_grad_enabled()


@ts.jit.script
def facts(x: ts.Tensor):
    y = x * 2
    z = y.detach()
    z.add_(1)
    return x.is_leaf, y.is_leaf, x.output_nr(), z._version(), y.detach_().requires_grad


@ts.jit.script
def numbers(x: ts.Tensor):
    first, other = x.split(1)
    return first.output_nr(), other.output_nr()


def test_autograd_attributes_of_tensors():
    for _ in range(3):
        assert facts(leaf(1, 2)) == (True, False, 0, 1, False)
        assert numbers(leaf(1, 2)) == (0, 1)


@ts.jit.script
def before_and_behind(x: ts.Tensor):
    before = x.grad
    (x * x).sum().backward()
    return before, x.grad


@ts.jit.script
def plus_one(x: ts.Tensor):
    return x.grad + 1


@ts.jit.script
def chained(x: ts.Tensor):
    return (x * (x.grad * 2).sin()).sum()


@ts.jit.script
def listed(x: ts.Tensor):
    return [x.grad, x]


@ts.jit.script
def sized(x: ts.Tensor):
    return x.grad.size(0), x.grad.dim()


@ts.jit.script
def clamped_gradient(x: ts.Tensor, y: Optional[ts.Tensor]):
    return ts.clamp(x, x.grad, y)


ABSENT = r"Expected a proper Tensor but got None \(or an undefined Tensor in C\+\+\) for argument #0"


def test_missing_gradient_is_none():
    x = leaf(1, 2)
    before, after_backward = before_and_behind(x)
    assert before is None
    assert_close(after_backward, ts.tensor([2.0, 4.0]))
    assert listed(leaf(1))[0] is None
    with pytest.raises(RuntimeError, match=ABSENT):
        plus_one(leaf(1))
    for x in (leaf(1), ts.ones([2])):
        with pytest.raises(RuntimeError, match=ABSENT):
            chained(x)
    sized(leaf(1))  # without elements: any result, but no crash
    assert_close(
        clamped_gradient(ts.tensor([-1.0, 2.0]), ts.tensor(1.0)), ts.tensor([-1.0, 1.0])
    )  # without the optional bound


@ts.jit.script
def in_order(x: ts.Tensor):
    (x * x).sum().backward()
    a = x.grad.clone()
    (x * x).sum().backward()
    x.grad.mul_(10)
    b = x.grad
    x.grad.zero_()
    return a, b, x.grad


def test_reads_and_writes_of_gradients_keep_their_order():
    for _ in range(3):
        a, b, c = in_order(leaf(1, 2))
        assert_close(a, ts.tensor([2.0, 4.0]))
        assert b is c
        assert_close(c, ts.zeros(2))


@ts.jit.script
def unrelated(x: ts.Tensor):
    return ts.autograd.grad([x.sum()], [x.sin()])


@ts.jit.script
def allowed(x: ts.Tensor, weights: List[Optional[ts.Tensor]]):
    y = x.sin()
    return ts.autograd.grad([x * 2], [x, y], weights, None, False, True)


@ts.jit.script
def twice(x: ts.Tensor):
    y = (x * x).sum()
    y.backward()
    y.backward()


def test_unused_inputs_raise_without_allow_unused():
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        unrelated(leaf(1))
    found = allowed(leaf(1, 2), [ts.tensor([1.0, 3.0])])
    assert_close(found[0], ts.tensor([2.0, 6.0]))
    assert found[1] is None
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        twice(leaf(1))
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        ts.jit.CompilationUnit("def f(x: Tensor):\n    torch.autograd.backward(x * 2)").f(leaf(1, 2))


class Step(ts.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = ts.nn.Parameter(ts.tensor([1.0, 2.0, 3.0]))

    def forward(self, x):
        loss = ((self.w * x - 1.0) ** 2).sum()
        loss.backward()
        g = self.w.grad
        with ts.no_grad():
            self.w.sub_(g * 0.1)
            g.zero_()
        ts.autograd.backward([(self.w * x).sum()])
        return loss, self.w.grad


def test_archives_hold_steps_of_training():
    step = ts.jit.script(Step())
    assert "torch.autograd.backward(loss)" in step.code
    file = io.BytesIO()
    step.save(file)
    file.seek(0)
    loaded = ts.jit.load(file)
    assert loaded.code == step.code
    x = ts.tensor([1.0, 0.5, 2.0])
    for _ in range(3):
        assert_close(loaded(x), step(x))
        assert_close(loaded.w, step.w)


# ---------------------------------------------------------------- concurrent execution


@ts.jit.script
def doubled(gradient: ts.Tensor):
    return gradient * 2


@ts.jit.script
def counted(x: ts.Tensor, n: int):
    total = 0
    for i in range(n):
        (x * x).sum().backward()
        total += i
    return x.grad, total


def test_hooks_run_scripts_while_a_script_runs():
    x = leaf(1, 2)
    x.register_hook(doubled)
    found, total = counted(x, 3)
    assert_close(found, ts.tensor([12.0, 24.0]))
    assert total == 3


def test_backward_hook_that_differentiates_the_same_script():
    a, b = leaf(1, 2), leaf(3)

    def again(gradient: ts.Tensor) -> None:
        with ts.enable_grad():
            counted(b, 2)

    a.register_hook(again)
    assert_close(counted(a, 2)[0], ts.tensor([4.0, 8.0]))
    assert_close(b.grad, ts.tensor([24.0]))


def test_an_error_in_a_hook_names_the_line():
    x = leaf(1, 2)

    def fail(gradient: ts.Tensor) -> None:
        raise ValueError("as it was asked to")

    handle = x.register_hook(fail)
    with pytest.raises(RuntimeError, match="as it was asked to") as caught:
        counted(x, 3)
    assert "(x * x).sum().backward()" in str(caught.value)
    handle.remove()
    assert counted(x, 2)[1] == 1


def test_ctrl_c_during_backward():
    x = leaf(1, 2)
    handle = x.register_hook(lambda gradient: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        counted(x, 1000)
    handle.remove()
    x.grad = None
    assert_close(counted(x, 2)[0], ts.tensor([4.0, 8.0]))
    assert ts.is_grad_enabled()


@ts.jit.script
def again_and_again(x: ts.Tensor, n: int):
    y = x
    for _ in range(100):
        y = y * 1.0001
    z = y.sum()
    for _ in range(n):
        z.backward(None, True)


def test_passes_use_fuel():
    x = leaf(1, 2)
    again_and_again(x, 1)
    with ts.limits(fuel=20_000):
        again_and_again(x, 1)
    with ts.limits(fuel=20_000), pytest.raises(ts.errors.FuelExceeded):
        again_and_again(x, 40)
    again_and_again(x, 1)


@ts.jit.script
def in_a_task(x: ts.Tensor):
    return ts.jit.wait(ts.jit.fork(retained_gradients, x))


def test_tasks_differentiate():
    x = leaf(0.1, 0.2, 0.3)
    assert_close(in_a_task(x)[:2], eager_gradients(x))


def test_recurrence_starting_from_a_number():
    """A recurrence that starts with a Python number raises an error if it would lose gradients, in bytecode
    and machine code."""

    @ts.jit.script
    def smoothed(x):
        prev = 0.0
        for t in range(x.size(0)):
            prev = prev - x[t] / 2
        return prev

    for size in (3, 20_000, 20_000, 3):
        assert smoothed(ts.ones(size)) == -size / 2
        with pytest.raises(RuntimeError, match="Cannot input a tensor that requires grad as a scalar argument") as caught:
            smoothed(ts.ones(size, requires_grad=True))
        assert "prev = prev - x[t] / 2\n            ~~~~ <--- HERE" in str(caught.value)
    with ts.no_grad():
        assert smoothed(ts.ones(3, requires_grad=True)) == -1.5
