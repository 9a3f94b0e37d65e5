"""Differentiable graphs of scripts: gradients equal those of the eager program."""

import gc
import os
import subprocess
import sys
import weakref

import pytest

import ts
from ts import nn
from ts._core.autograd.saved import pop_hooks, push_hooks
from ts.testing import assert_close


def squashed(x: ts.Tensor, w: ts.Tensor):
    t = x * w
    y = t.tanh()
    return y * x + t.sigmoid()


def cell(x: ts.Tensor, h: ts.Tensor, c: ts.Tensor, w: ts.Tensor, b: ts.Tensor):
    i, f, g, o = (x.mm(w) + h.mm(w) + b).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def loop(x: ts.Tensor, w: ts.Tensor):
    total = x.sum()
    for i in range(3):
        x = (x * w).relu() + x.sin()
        total = total + x.sum() * (i + 1)
    return total


def branches(x: ts.Tensor, w: ts.Tensor):
    y = x * w + x
    if bool(y.sum() > 0):
        z = y.exp() * w
    else:
        z = y.cos() * x
    return z * z + y


def shapes(x: ts.Tensor, w: ts.Tensor):
    y = ts.cat([x * w, x + w], 1)
    y = y.view(y.size(0), -1).t()
    return ts.softmax(y, 0)[1:] * y.mean(0)


def normed(x: ts.Tensor, w: ts.Tensor):
    y = nn.functional.layer_norm(x, [4], w.sin(), w)
    return nn.functional.gelu(y) - ts.logsumexp(y, 1, True)


def inputs(*shapes):
    ts.manual_seed(0)
    return [ts.randn(*shape, dtype=ts.float64).requires_grad_() for shape in shapes]


PROGRAMS = [
    (squashed, [(3, 4), (4,)]),
    (cell, [(2, 3), (2, 3), (2, 3), (3, 12), (12,)]),
    (loop, [(3, 4), (4,)]),
    (branches, [(3, 4), (3, 4)]),
    (shapes, [(3, 4), (4,)]),
    (normed, [(3, 4), (4,)]),
]


def total(results):
    results = results if isinstance(results, tuple) else (results,)
    return sum((y * (k + 1)).sum() for k, y in enumerate(results))


@pytest.mark.parametrize(("program", "sizes"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_gradients_equal_eager_mode(program, sizes):
    """Gradients of the first and later calls, for each set of inputs that require grad, equal eager mode;
    second derivatives too."""
    script = ts.jit.script(program)
    for wanted in (range(len(sizes)), [0], [len(sizes) - 1], range(len(sizes))):
        xs = inputs(*sizes)
        for i, x in enumerate(xs):
            x.requires_grad_(i in wanted)
        leaves = [xs[i] for i in wanted]
        for _ in range(2):
            assert_close(
                ts.autograd.grad(total(script(*xs)), leaves), ts.autograd.grad(total(program(*xs)), leaves)
            )
    twice = [
        ts.autograd.grad(
            sum(g.square().sum() for g in ts.autograd.grad(total(f(*xs)), xs, create_graph=True)),
            xs,
            allow_unused=True,
        )
        for f in (script, program)
    ]
    for a, b in zip(*twice, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert_close(a, b)


@pytest.mark.parametrize(("program", "sizes"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_one_backward_node_per_graph(program, sizes):
    """A differentiable graph has one backward node instead of one per operator."""
    xs = inputs(*sizes)
    result = ts.jit.script(program)(*xs)
    pending, names = [total(result).grad_fn], set()
    while pending:
        node = pending.pop()
        names.add(node.name())
        pending += [after for after, _ in node.next_functions if after is not None]
    assert "DifferentiableGraphBackward" in names


def test_graph_text_contains_differentiable_graphs():
    script = ts.jit.script(squashed)
    xs = inputs((3, 4), (4,))
    text = str(script.graph_for(*xs))
    assert text.index("prim::DifferentiableGraph") < text.index("prim::FusionGroup")
    script(*xs)
    assert "prim::DifferentiableGraph" in str(ts.jit.last_executed_optimized_graph())
    with ts.no_grad():
        script(*xs)
        assert "prim::DifferentiableGraph" not in str(ts.jit.last_executed_optimized_graph())


def test_gradient_of_one_of_two_results():
    script = ts.jit.script(cell)
    xs = inputs((2, 3), (2, 3), (2, 3), (3, 12), (12,))
    for k in (0, 1):
        found, wanted = (ts.autograd.grad(f(*xs)[k].sum(), xs, allow_unused=True) for f in (script, cell))
        assert_close(found, wanted)


def test_other_sizes():
    """Specializations exist for a limited number of sizes; further sizes run the operators one by one."""
    script = ts.jit.script(squashed)
    for n in range(1, 24):
        x, w = inputs((n, 4), (4,))
        assert_close(
            ts.autograd.grad(script(x, w).sum(), [x, w]), ts.autograd.grad(squashed(x, w).sum(), [x, w])
        )


def test_writes_to_saved_tensors_raise():
    """A write to a saved tensor of a differentiable graph raises an error as in eager mode; other writes do
    not."""

    @ts.jit.script
    def f(x, w):
        return (x * w).tanh() * x

    x, w = inputs((3, 4), (4,))
    y = f(x * 1, w)
    inner = x * 1
    y = f(inner, w)
    inner.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = f(x, w)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


def test_results_are_written_in_place():
    script = ts.jit.script(cell)
    xs = inputs((2, 3), (2, 3), (2, 3), (3, 12), (12,))

    def doubled(f):
        h, c = f(*xs)
        h.mul_(2)
        c[0].add_(h[1])
        return ts.autograd.grad((h * c).sum(), xs)

    assert_close(doubled(script), doubled(cell))


def test_results_may_be_views():
    """Results of a differentiable graph may be views of arguments or of other results, and share writes with
    them."""

    @ts.jit.script
    def f(x, w):
        y = x + w
        return y, y.view(-1), x.t()

    def g(x, w):
        y = x + w
        return y, y.view(-1), x.t()

    def run(h):
        x, w = inputs((3, 4), (4,))
        y, flat, transposed = h(x * 1, w)
        flat[0] = 7.0
        transposed.mul_(w[0])
        return [
            y,
            flat,
            transposed,
            *ts.autograd.grad((y.sin().sum() + flat.cos().sum() + transposed.exp().sum()), [x, w]),
        ]

    assert_close(run(f), run(g))


def test_scripted_modules_train_like_eager_modules():
    """A module and its scripted version have equal training steps."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 4, 3)
            self.norm = nn.BatchNorm2d(4)
            self.out = nn.Linear(4 * 9, 3)

        def forward(self, x):
            y = nn.functional.max_pool2d(self.norm(self.conv(x)).relu(), 2)
            return self.out(y.flatten(1))

    ts.manual_seed(0)
    x, target = ts.randn(5, 1, 8, 8), ts.tensor([0, 1, 2, 0, 1])
    losses = []
    for wrap in (lambda net: net, ts.jit.script):
        ts.manual_seed(1)
        net = wrap(Net())
        optimizer = ts.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        losses.append([])
        for _ in range(8):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), target)
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    assert losses[0][-1] < losses[0][0]


def test_no_gradients_no_node():
    script = ts.jit.script(squashed)
    x, w = inputs((3, 4), (4,))
    with ts.no_grad():
        assert script(x, w).grad_fn is None
    assert script(x.detach(), w.detach()).grad_fn is None
    assert script(x, w).grad_fn is not None


def test_hooks_see_what_a_part_saves():
    kept = []

    def pack(x):
        kept.append(x.shape)
        return x

    script = ts.jit.script(squashed)
    x, w = inputs((3, 4), (4,))
    push_hooks(pack, lambda x: x)
    try:
        y = script(x, w)
    finally:
        pop_hooks()
    assert kept
    assert_close(ts.autograd.grad(y.sum(), [x, w]), ts.autograd.grad(squashed(x, w).sum(), [x, w]))


def test_random_numbers_are_drawn_once():
    @ts.jit.script
    def f(x):
        return nn.functional.dropout(x.exp() * x, 0.5, True) * x

    x = ts.ones(100, dtype=ts.float64, requires_grad=True)
    y = f(x)
    (gradient,) = ts.autograd.grad(y.sum(), [x])
    dropped = y == 0
    assert 20 < int(dropped.sum()) < 80
    assert bool((gradient[dropped] == 0).all())
    assert bool((gradient[~dropped] != 0).all())


def test_graphs_are_freed():
    """The results of a differentiable graph do not keep each other alive."""
    script = ts.jit.script(cell)
    xs = inputs((2, 3), (2, 3), (2, 3), (3, 12), (12,))
    script(*xs)
    gc.collect()
    gc.disable()
    try:
        h, c = script(*xs)
        alive = weakref.ref(h.grad_fn)
        del h, c
        assert alive() is None
    finally:
        gc.enable()


def one_by_one(w: ts.Tensor, x: ts.Tensor):
    a = w * x
    b = ts.zeros([abs(int(a))])
    return a * b


def parts_of(function, *inputs):
    graph = ts.jit.script(function).graph_for(*inputs)
    return [node for node in graph.nodes() if node.kind() == "prim::DifferentiableGraph"]


def test_small_differentiable_graphs_are_inlined():
    x = ts.ones(1, requires_grad=True)
    assert not parts_of(one_by_one, x, x)
    ts._C._debug_set_autodiff_subgraph_inlining(False)
    try:
        assert len(parts_of(one_by_one, x, x)) == 2  # `b`'s length is read between the graphs
        ts.jit.script(one_by_one)(x, x).sum().backward()
    finally:
        ts._C._debug_set_autodiff_subgraph_inlining(True)
    assert x.grad.tolist() == [0]


def test_requires_grad_of_values_by_type():
    graph = ts.parse_ir(
        "graph(%x : Tensor, %y : Float(2, requires_grad=0), %i : int, %l : Tensor[], %n : (int, int[])):\n  return (%x)"
    )
    assert [value.requires_grad() for value in graph.inputs()] == [True, False, False, True, False]
    assert [value.requiresGrad() for value in graph.inputs()] == [None, False, None, None, None]


NEW_PROCESS = """
import ts
from ts import nn
net = ts.jit.script(nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 2)))
net(ts.rand(2, 1, 8, 8)).sum().backward()
print(all(p.grad is not None for p in net.parameters()))
"""


def test_compilation_is_not_recorded_for_gradients():
    """In a new process without cached code, compiling the derivative formula of a convolution is not
    recorded."""
    done = subprocess.run(
        [sys.executable, "-c", NEW_PROCESS],
        env={**os.environ, "TS_CACHE": "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.strip() == "True", done.stderr


def test_parameters_decide_what_graph_for_and_plans_show():
    class Layer(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = ts.nn.Linear(3, 3)

        def forward(self, x):
            return (self.linear(x) * 2).tanh() + 1

    layer = ts.jit.script(Layer())
    x = ts.ones(2, 3)
    assert "differentiable graphs" not in layer.plan
    layer(x)
    assert "prim::DifferentiableGraph" in str(layer.graph_for(x))
    assert "differentiable graphs" in layer.plan
    with ts.no_grad():
        assert "prim::DifferentiableGraph" not in str(layer.graph_for(x))


def detached_beside(x: ts.Tensor, w: ts.Tensor):
    y = x * w
    return y.detach(), x + w


def both(x: ts.Tensor, w: ts.Tensor):
    y = x * w
    return y, y.detach()


def argument_beside(x: ts.Tensor, w: ts.Tensor):
    return x.detach(), x.contiguous(), x * w


def converted(x: ts.Tensor, w: ts.Tensor):
    return x.to(ts.float32), x.detach() * w


def copied(x: ts.Tensor, w: ts.Tensor):
    y = (x * w).detach()
    return y, y.contiguous(), y * x


@pytest.mark.parametrize("function", [detached_beside, both, argument_beside, converted, copied])
def test_results_that_are_detached(function):
    scripted = ts.jit.script(function)
    for _ in range(3):
        x, w = ts.arange(3.0).requires_grad_(), ts.arange(3.0).add_(1).requires_grad_()
        found, expected = scripted(x, w), function(x, w)
        assert [y.requires_grad for y in found] == [y.requires_grad for y in expected]
        gradients = [
            ts.autograd.grad([y.sum() for y in results if y.requires_grad], [x, w], allow_unused=True)
            for results in (found, expected)
        ]
        for a, b in zip(*gradients, strict=True):
            assert (a is None) == (b is None) and (a is None or a.tolist() == b.tolist())


@pytest.mark.parametrize("write", ["relu_", "sigmoid_", "mul_", "exp_"])
def test_in_place_write_to_a_view_creates_no_reference_cycle(write):
    """An in-place write to a view creates no reference cycle through the saved result; later writes are still
    detected."""
    refs = []

    class Hook:
        def __call__(self, *gradients):
            return None

        def __del__(self):
            refs.append(True)

    def use(backward):
        base = ts.rand(3, 3, requires_grad=True).clone()
        base.grad_fn.register_hook(Hook())
        view, other = base.view(9), base.t()
        arguments = (2,) if write == "mul_" else ()
        getattr(view, write)(*arguments)
        assert (view._version, base._version, other._version, base.detach()._version) == (1, 1, 1, 1)
        if backward:
            base.sum().backward()
        return base.detach()

    gc.collect()
    gc.disable()
    try:
        for backward in (False, True):
            kept = use(backward)
            kept.zero_()
            assert kept._version == 2
        assert len(refs) == 2
    finally:
        gc.enable()


def test_writes_to_a_view_after_its_result_was_saved():
    """A write to a view after its base was saved raises an error in backward."""
    base = ts.rand(3, 3, requires_grad=True).clone()
    view, other = base.view(9), base[1:]
    view.sigmoid_()
    saved = base.sum()
    other.zero_()
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*is at version 2; expected version 1"):
        saved.backward()


@pytest.mark.parametrize("part", [lambda x: x.detach(), lambda x: x.data, lambda x: x.detach().view(9), lambda x: x.detach()[0]])
def test_detached_results_do_not_retain_the_graph(part):
    """Detached results and their views do not keep the autograd graph alive."""
    leaf = ts.rand(3, 3, requires_grad=True)

    def computed():
        y = leaf.exp()
        return part(y), weakref.ref(y.grad_fn)

    gc.collect()
    gc.disable()
    try:
        kept, node = computed()
        assert node() is None
        assert kept.numel() in (3, 9)
    finally:
        gc.enable()


def test_writes_to_detached_tensors_increase_versions():
    """Writes to a detached tensor increase the version counter of all tensors that share its memory."""
    x = ts.rand(3, 3, requires_grad=True).exp()
    view = x[0]
    detached = x.detach()
    again, of_detached = detached.detach(), detached[1]
    y = x * x
    of_detached.zero_()
    with ts.no_grad():
        later = x[2]
    assert {each._version for each in (x, view, detached, again, of_detached, later)} == {1}
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_packed_weights_of_detached_tensors():
    """Products with a weight whose detached alias was released observe in-place writes to the weight."""
    weight = ts.rand(256, 256, requires_grad=True)
    weight.detach()
    x = ts.rand(4, 256)
    with ts.no_grad():
        found = [x @ weight for _ in range(8)]
        weight.mul_(2)
        twice = x @ weight
    assert all(bool((each == found[0]).all()) for each in found)
    assert ts.allclose(twice, found[0] * 2)
