"""Control flow operators without PyTorch: eager mode, analysis of branches, and exported graphs."""

import copy
import pickle
import subprocess
import sys
from collections import deque

import pytest

import ts
from ts._higher_order_ops import associative_scan, cond, map, scan, while_loop
from ts._higher_order_ops.aliases import Aliases
from ts.errors import TorchRuntimeError, UncapturedHigherOrderOpError, UnsupportedNodeError
from ts.ops.namespace import overload_named

X = ts.arange(6.0).reshape(2, 3)
YES, NO = ts.tensor(True), ts.tensor(False)


@pytest.mark.parametrize("pred", [YES, NO, True, False, ts.tensor([1.0]), ts.tensor(0)])
def test_cond_takes_one_branch(pred):
    """`cond` runs one branch, selected by a one-element tensor or a Python bool."""
    result = cond(pred, lambda x: x + 1, lambda x: x - 1, (X,))
    assert result.equal(X + 1 if bool(pred) else X - 1)


def test_branches_are_analyzed_once():
    """The first call runs both branches on meta tensors; later calls with equal input types run one branch."""
    seen = deque()  # a `deque` is not checked for mutations

    def yes(x):
        seen.append(("yes", x.device.type))
        return x + 1

    def no(x):
        seen.append(("no", x.device.type))
        return x - 1

    cond(YES, yes, no, (X,))
    assert list(seen) == [("yes", "meta"), ("no", "meta"), ("yes", "cpu")]
    cond(YES, yes, no, (X * 2,))
    assert list(seen)[3:] == [("yes", "cpu")]
    cond(YES, yes, no, (X[0],))  # another shape
    assert list(seen)[4:] == [("yes", "meta"), ("no", "meta"), ("yes", "cpu")]


class StatefulModule(ts.nn.Module):
    """A module whose attributes of each kind are modified by control flow functions."""

    def __init__(self):
        super().__init__()
        self.number, self.tensor, self.items, self.table = 0, X, [1], {"a": [2]}
        self.inside = ts.nn.Linear(3, 3)

    def state(self):
        """Return the state of all attributes for a comparison."""
        return (
            self.number,
            id(self.tensor),
            [*self.items],
            {k: [*v] for k, v in self.table.items()},
            self.inside.bias,
        )


def append(net, x):
    """Append to a list attribute."""
    net.items.append(x)


def put(net, x):
    """Change a list in a dictionary, and the dictionary itself."""
    net.table["a"].append(x)
    net.table["b"] = [x]


def count(net, x):
    """Change a number attribute."""
    net.number += 1


def assign(net, x):
    """Assign a tensor, and a parameter of a submodule."""
    net.tensor = x + 1
    net.inside.bias = None


@pytest.mark.parametrize("change", [append, put, count, assign])
def test_side_effects_are_rejected_and_undone(change):
    """Side effects of branches on reachable state raise an error and are undone, in eager mode and export."""
    net = StatefulModule()
    before = net.state()

    def changing(x):
        change(net, x)
        return x + 1

    def program(x, flag):
        return cond(flag, changing, lambda x: x - 1, (x,))

    with pytest.raises(UncapturedHigherOrderOpError, match="Unsafe side effect"):
        program(X, NO)
    assert net.state() == before
    pytest.importorskip("sympy")
    net.forward = program
    with pytest.raises(UncapturedHigherOrderOpError, match="Unsafe side effect"):
        ts.export.export(net, (X, NO))
    assert net.state() == before


def test_closure_variables_are_restored():
    """`nonlocal` variables are restored after the analysis of a body."""
    total = 0

    def body(i):
        nonlocal total
        total += 1
        return (i + 1,)

    with pytest.raises(UncapturedHigherOrderOpError, match="Unsafe side effect"):
        while_loop(lambda i: i < 3, body, (ts.tensor(0),))
    assert total == 0


def test_branch_analysis_has_no_side_effects():
    """The analysis of branches changes neither operands nor the random state, even for rejected branches."""
    x = X.clone()
    ts.manual_seed(3)
    with pytest.raises(UncapturedHigherOrderOpError, match="Encountered input mutation"):
        cond(NO, lambda x: x.add_(ts.rand(3)) + 1, lambda x: x - 1, (x,))
    random_numbers = ts.rand(2)
    ts.manual_seed(3)
    assert x.equal(X)
    assert random_numbers.equal(ts.rand(2))


def test_operands_may_be_written_without_gradients():
    """Branches may write to operands while gradients are disabled, as in PyTorch's inference mode."""
    x = X.clone()
    with ts.no_grad():
        assert cond(YES, lambda x: x.add_(1) + 1, lambda x: x - 1, (x,)).equal(X + 2)
    assert x.equal(X + 1)


def test_data_dependent_results_are_not_checked():
    """A function that reads elements runs without analysis, and its results may have any size."""
    result = cond(YES, lambda x: x[x > 2] * float(x.sum()), lambda x: x.nonzero().float(), (X,))
    assert result.tolist() == [45.0, 60.0, 75.0]


@pytest.mark.parametrize(
    ("first", "second", "error", "message"),
    [
        (lambda x: x + 1, lambda x: x.int(), TorchRuntimeError, "expected same dtype but got torch.float32"),
        (lambda x: x + 1, lambda x: x.sum(), TorchRuntimeError, "expected same dim but got 2 and 0"),
        (lambda x: (x + 1,), lambda x: [x + 1], UncapturedHigherOrderOpError, "the same pytree structure"),
        (lambda x: x[0], lambda x: x[0] + 1, UncapturedHigherOrderOpError, "do not support aliasing"),
        (lambda x: x + 1, lambda x: "x", UncapturedHigherOrderOpError, "but got <class 'str'>"),
        (lambda x: x + 1, lambda x, y: x + 1, UncapturedHigherOrderOpError, "Argument mismatch"),
    ],
)
def test_mismatched_branches(first, second, error, message):
    """Mismatched branches raise an error for both values of the predicate."""
    for pred in (YES, NO):
        with pytest.raises(error, match=message):
            cond(pred, first, second, (X,))


def test_gradients_of_the_executed_branch():
    """Gradients flow through the executed branch, all loop iterations and all slices."""
    x = ts.tensor([1.0, 2.0, 3.0], requires_grad=True)
    cond(NO, lambda x: x * 2, lambda x: x**3, (x * 1,)).sum().backward()
    assert x.grad.tolist() == [3.0, 12.0, 27.0]
    x.grad = None
    while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (ts.tensor(0), ts.ones(3)))[
        1
    ].sum().backward()
    assert x.grad.tolist() == [3.0, 12.0, 27.0]
    x.grad = None
    map(lambda r: r * x, X).sum().backward()
    assert x.grad.tolist() == X.sum(0).tolist()
    x.grad = None
    carry, _ = scan(lambda c, r: (c * r, c + r), ts.ones(()), x)
    carry.backward()
    assert x.grad.tolist() == [6.0, 3.0, 2.0]
    x.grad = None
    associative_scan(lambda a, b: a * b, x, 0, combine_mode="generic")[2].backward()
    assert x.grad.tolist() == [6.0, 3.0, 2.0]


@pytest.mark.parametrize("n", range(1, 10))
def test_associative_scan_is_a_scan(n):
    """`associative_scan` equals a sequential scan for any length and direction and a noncommutative
    function."""
    x = ts.arange(float(4 * n)).reshape(n, 2, 2) / 10
    actual = associative_scan(lambda a, b: a @ b, x, 0, combine_mode="generic")
    expected = [x[0]]
    for i in range(1, n):
        expected.append(expected[-1] @ x[i])
    ts.testing.assert_close(actual, ts.stack(expected))
    reverse_scan = associative_scan(lambda a, b: a + b, x, 0, reverse=True, combine_mode="generic")
    ts.testing.assert_close(reverse_scan, x.flip([0]).cumsum(0).flip([0]))


def test_numbers_may_be_carried():
    """`while_loop` accepts numbers as loop variables, and returns copies if the body does not run."""
    assert while_loop(lambda i, x: i < 4, lambda i, x: (i + 2, x), (0, X))[0] == 4
    (same,) = while_loop(lambda x: x.sum() < 0, lambda x: (x + 1,), (X,))
    assert same.equal(X)
    assert same is not X


def test_scripts_reject_clearly():
    """Scripting a `cond` call raises `UnsupportedNodeError` at the call, with the replacement."""

    def yes(x):
        return x + 1

    def f(x):
        return ts.cond(x.sum() > 0, yes, yes, (x,))

    with pytest.raises(UnsupportedNodeError, match=r"cond requires functions as arguments(.|\n)*ts.cond(.|\n)*write `if`"):
        ts.jit.script(f)


def test_aliases_follow_schemas():
    """Alias tracking follows the schemas: views share the root of their base, new results do not, writes mark
    the root."""
    x = ts.ones(2, 3)
    shared = Aliases()
    view, total = x.view(6), x + 1
    shared.record_operator(overload_named("aten::view", "").operator, [x, [6]], view)
    shared.record_operator(overload_named("aten::add", "Tensor").operator, [x, x, 1], total)
    assert (shared.root(view) == shared.root(x), shared.root(total) == shared.root(x)) == (True, False)
    assert shared.written == []
    shared.record_operator(overload_named("aten::add_", "Tensor").operator, [view, view, 1], view)
    assert shared.written == [shared.root(x)]
    copied = x.t().reshape(6)
    shared.record_operator(overload_named("aten::reshape", "").operator, [x.t(), [6]], copied)
    assert shared.root(copied) == id(copied)


def test_names_that_programs_import():
    """The module paths of PyTorch's control flow operators and of `functorch` can be imported."""
    code = """
import ts; ts.install_as_torch()
import torch
from torch._higher_order_ops.while_loop import while_loop
from torch._higher_order_ops.map import map
from torch._higher_order_ops import scan, map as again
from torch._dynamo.exc import UncapturedHigherOrderOpError
from functorch.experimental.control_flow import cond, map as third
from functorch.experimental import control_flow
assert torch.cond is cond and torch.while_loop is while_loop and map is again is third is control_flow.map
assert callable(torch.ops.higher_order.cond) and repr(torch.ops.higher_order.cond)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- exported


class Net(ts.nn.Module):
    """A branch with weights and values captured from the enclosing function."""

    def __init__(self):
        super().__init__()
        self.yes, self.no = ts.nn.Linear(3, 3), ts.nn.Linear(3, 3, bias=False)

    def forward(self, x, flag):
        """Run a nested `cond`: a branch of the outer contains the inner."""
        y = x * 2

        def no(x):
            return ts.cond(x.sum() > 0, lambda x: self.no(x), lambda x: x + y, (x,))

        return ts.cond(flag, lambda x: self.yes(x) + y, no, (x,))


GRAPH = """\
graph():
    %p_yes_weight : [num_users=1] = placeholder[target=p_yes_weight]
    %p_yes_bias : [num_users=1] = placeholder[target=p_yes_bias]
    %p_no_weight : [num_users=1] = placeholder[target=p_no_weight]
    %x : [num_users=2] = placeholder[target=x]
    %flag : [num_users=1] = placeholder[target=flag]
    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, 2), kwargs = {})
    %true_graph_0 : [num_users=1] = get_attr[target=true_graph_0]
    %false_graph_0 : [num_users=1] = get_attr[target=false_graph_0]
    %cond : [num_users=1] = call_function[target=torch.ops.higher_order.cond](\
args = (%flag, %true_graph_0, %false_graph_0, (%mul, %x, %p_yes_bias, %p_yes_weight, %p_no_weight)), kwargs = {})
    %getitem : [num_users=1] = call_function[target=operator.getitem](args = (%cond, 0), kwargs = {})
    return (getitem,)"""


def test_exported_cond():
    """Captured values become inputs; the exported program can run, be copied, pickled and exported again."""
    pytest.importorskip("sympy")
    net = Net()
    program = ts.export.export(net, (X, YES))
    assert str(program.graph).strip() == GRAPH
    module = program.module()
    cases = [(x, flag) for x in (X, -X) for flag in (YES, NO)]
    for x, flag in cases:
        ts.testing.assert_close(module(x, flag), net(x, flag))
    state = program._lifted()
    for copied in (copy.deepcopy(program.graph_module), pickle.loads(pickle.dumps(program.graph_module))):
        for x, flag in cases:
            ts.testing.assert_close(copied(*state, x, flag)[0], net(x, flag))
    again = ts.export.export(module, (X, YES))
    assert [n.target.name for n in again.graph.nodes if hasattr(n.target, "evaluate_meta")] == ["cond"]
    for x, flag in cases:
        ts.testing.assert_close(again.module()(x, flag), net(x, flag))


def test_exported_at_other_sizes():
    """Loops and maps have a dynamic length; branches of unequal sizes return a new symbolic size."""
    pytest.importorskip("sympy")

    class Loops(ts.nn.Module):
        def forward(self, x, flag):
            n = x.shape[0]
            a = map(lambda r: r * n, x)
            c, ys = scan(lambda c, r: (c + r, c * r), x[0] * 0, x)
            i, w = while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + c), (0, x))
            return a, c, ys, i, w, ts.cond(flag, lambda x: x[1:] * 1, lambda x: x * 2, (x,))

    n = ts.export.Dim("n", min=3)
    program = ts.export.export(Loops(), (ts.rand(4, 3), YES), dynamic_shapes=({0: n}, None))
    for size in (3, 4, 7):
        for flag in (YES, NO):
            x = ts.rand(size, 3)
            ts.testing.assert_close(program.module()(x, flag), Loops()(x, flag))


def test_exported_vmap():
    """An exported `vmap` consists of nodes that begin and end a batch dimension."""
    pytest.importorskip("sympy")

    class Mapped(ts.nn.Module):
        def forward(self, x, w):
            return ts.vmap(
                ts.vmap(lambda a, b: a.sum() * b, in_dims=(0, None)), in_dims=(1, None), out_dims=1
            )(x, w)

    x, w = ts.rand(4, 2, 3), ts.rand(5)
    program = ts.export.export(Mapped(), (x, w))
    ts.testing.assert_close(program.module()(x, w), Mapped()(x, w))


def test_export_rejects_what_eager_rejects():
    """Export raises the errors of eager mode and leaves the module unchanged."""
    pytest.importorskip("sympy")

    class Wrong(ts.nn.Module):
        def forward(self, x, flag):
            return ts.cond(flag, lambda x: x, lambda x: x + 1, (x,))

    with pytest.raises(UncapturedHigherOrderOpError, match="do not support aliasing"):
        ts.export.export(Wrong(), (X, YES))

    class Constant(ts.nn.Module):
        def forward(self, x):
            return ts.cond(x.dim() == 2, lambda x: x + 1, lambda x: x - 1, (x,))

    with pytest.warns(UserWarning, match="Pred is a Python constant"):
        program = ts.export.export(Constant(), (X,))
    assert "cond" not in str(program.graph)
