"""`TorchDispatchMode`, `FlopCounterMode` and `make_fx` intercept the operators of PyTorch 2.13 below autograd."""

import threading

import pytest

import ts
from ts import nn
from ts.fx.experimental.proxy_tensor import make_fx
from ts.nn import functional as F
from ts.utils import _python_dispatch as dispatch
from ts.utils._python_dispatch import TorchDispatchMode
from ts.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula

X, W, LAYER = ts.ones(2, 3), ts.ones(4, 3), nn.Linear(3, 2)


class Seen(TorchDispatchMode):
    """Dispatch mode that records the operators that run."""

    def __init__(self):
        super().__init__()
        self.names, self.calls = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        self.calls.append((func, types, args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def seen(function):
    with Seen() as mode:
        function()
    return [name.removeprefix("aten.") for name in mode.names]


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda: F.linear(X, W).relu(), ["t.default", "mm.default", "relu.default"]),
        (lambda: LAYER(X), ["t.default", "addmm.default"]),
        (lambda: X + 1, ["add.Tensor"]),
        (lambda: X[0], ["select.int"]),
        (lambda: X[:, 1:], ["slice.Tensor"]),
        (lambda: X[X > 0], ["gt.Scalar", "index.Tensor"]),
        (lambda: X.softmax(-1), ["_softmax.default"]),
        (lambda: F.layer_norm(X, (3,)), ["native_layer_norm.default"]),
        (lambda: X.double(), ["_to_copy.default"]),
        (lambda: X.sum().item(), ["sum.default", "_local_scalar_dense.default"]),
        (lambda: float(X.sum()), ["sum.default", "_local_scalar_dense.default"]),
        (lambda: ts.tensor([1.0]), ["lift_fresh.default"]),
        (lambda: ts.vmap(lambda row: row.sin())(X), ["sin.default"]),
        (lambda: (X.reshape(-1), X.flatten()), ["view.default", "view.default"]),
        (lambda: ts.stack([X, X]), ["stack.default"]),
    ],
)
def test_operators(function, names):
    assert seen(function) == names


def test_arguments():
    """Python numbers select the Tensor overload; factory calls contain the device."""
    with Seen() as mode:
        ts.zeros(2)
        X.new_ones(3)
        X * 2
        ts.full((2,), 3.0, dtype=ts.float64)
    (zeros, ones, product, full) = mode.calls
    assert zeros[2:] == (([2],), {"device": ts.device("cpu"), "pin_memory": False})
    assert ones[3] == {"pin_memory": False}
    assert product[0] is ts.ops.aten.mul.Tensor and product[2][1] == 2 and product[1] == ()
    assert full[3]["dtype"] is ts.float64


def test_gradients():
    """Forward operators are intercepted below autograd, backward operators during `backward`."""
    p = ts.ones(2, 3, requires_grad=True)
    with Seen() as mode:
        loss = (p * 2).sum()
        assert loss.requires_grad
        assert mode.names == ["aten.mul.Tensor", "aten.sum.default"]
        loss.backward()
    assert mode.names[2:5] == ["aten.ones_like.default", "aten.expand.default", "aten.mul.Tensor"]
    assert p.grad.tolist() == [[2.0] * 3] * 2


def test_results_of_handlers():
    class Zeros(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            assert not ts.is_grad_enabled()
            return ts.zeros(1) if func is ts.ops.aten.add.Tensor else func(*args, **(kwargs or {}))

    p = ts.ones(2, requires_grad=True)
    with Zeros():
        assert (X + 1).tolist() == [0.0]
        assert (p * 2).requires_grad and (p * 2).tolist() == [2.0, 2.0]
    assert (X + 1).tolist() == [[2.0] * 3] * 2


def test_nesting():
    with Seen() as outer, Seen() as inner:
        assert dispatch._get_current_dispatch_mode() is inner
        X + 1
        with dispatch._disable_current_modes() as modes:
            assert modes == [outer, inner] and dispatch._get_current_dispatch_mode() is None
            X * 2
        with dispatch._pop_mode_temporarily() as mode:
            assert mode is inner
            X - 1
    assert inner.names == ["aten.add.Tensor"]
    assert outer.names == ["aten.add.Tensor", "aten.sub.Tensor"]
    assert dispatch._get_current_dispatch_mode() is None


def test_after_an_error():
    with pytest.raises(NotImplementedError), TorchDispatchMode():
        X + 1
    assert dispatch._len_torch_dispatch_stack() == 0
    assert (X + 1)[0, 0] == 2


def test_modes_are_thread_local():
    with Seen() as mode:
        thread = threading.Thread(target=lambda: X + 1)
        thread.start()
        thread.join()
    assert mode.names == []


# ---------------------------------------------------------------- operations


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 16)
        self.b = nn.Sequential(nn.Linear(16, 4), nn.ReLU(), nn.Linear(4, 2))
        self.c = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x, y):
        return self.b(self.a(x)).sum() + self.c(y).sum()


def test_counts_of_modules(capsys):
    with FlopCounterMode() as counter:
        Net()(ts.ones(5, 8), ts.ones(2, 3, 6, 6))
    assert counter.get_total_flops() == 17552
    counts = {k: {str(op): n for op, n in v.items()} for k, v in counter.get_flop_counts().items()}
    assert counts == {
        "Global": {"aten.addmm": 2000, "aten.convolution": 15552},
        "Net": {"aten.addmm": 2000, "aten.convolution": 15552},
        "Net.a": {"aten.addmm": 1280},
        "Net.b": {"aten.addmm": 720},
        "Net.b.0": {"aten.addmm": 640},
        "Net.b.2": {"aten.addmm": 80},
        "Net.c": {"aten.convolution": 15552},
    }
    assert capsys.readouterr().out.splitlines() == [
        "Module                 FLOP    % Total",
        "------------------  -------  ---------",
        "Net                 17.552K    100.00%",
        "- aten.addmm         2.000K     11.39%",
        "- aten.convolution  15.552K     88.61%",
        "Net.a                1.280K      7.29%",
        "- aten.addmm         1.280K      7.29%",
        "Net.b                0.720K      4.10%",
        "- aten.addmm         0.720K      4.10%",
        "Net.c               15.552K     88.61%",
        "- aten.convolution  15.552K     88.61%",
    ]


def test_counts_of_gradients():
    module = Net()
    with FlopCounterMode(display=False) as counter:
        module(ts.ones(5, 8), ts.ones(2, 3, 6, 6)).backward()
    counts = {str(op): n for op, n in counter.get_flop_counts()["Global"].items()}
    assert counts == {
        "aten.addmm": 2000, "aten.convolution": 15552, "aten.convolution_backward": 15552, "aten.mm": 2720
    }  # fmt: skip


def test_formulas_of_programs():
    with FlopCounterMode(
        display=False, custom_mapping={ts.ops.aten.add: lambda *shapes, **options: 7}
    ) as counter:
        X + X
    assert counter.get_total_flops() == 7
    register_flop_formula(ts.ops.aten.sin)(lambda shape, *rest, out_shape=None, **options: shape[0])
    try:
        with FlopCounterMode(display=False) as counter:
            X.sin()
        assert counter.get_total_flops() == 2
        with pytest.raises(RuntimeError, match=r"duplicate registrations for aten\.sin"):
            register_flop_formula(ts.ops.aten.sin)(lambda *shapes, **options: 0)
    finally:
        del flop_registry[ts.ops.aten.sin]
    with FlopCounterMode(display=False) as counter:
        pass
    assert counter.get_table().splitlines()[-1] == "Global         0         0%"


# ---------------------------------------------------------------- make_fx


def code(function, *args, **options):
    return [line.strip() for line in make_fx(function, **options)(*args).code.strip().splitlines()[1:]]


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_graph(mode):
    graph = make_fx(lambda x, w: F.linear(x, w).relu().sum(), tracing_mode=mode)(X, W)
    assert graph.code.strip().splitlines() == [
        "def forward(self, x_1, w_1):",
        "    t = torch.ops.aten.t.default(w_1);  w_1 = None",
        "    mm = torch.ops.aten.mm.default(x_1, t);  x_1 = t = None",
        "    relu = torch.ops.aten.relu.default(mm);  mm = None",
        "    sum_1 = torch.ops.aten.sum.default(relu);  relu = None",
        "    return sum_1",
    ]
    assert graph(X, W) == 24
    assert [sorted(n.meta) for n in graph.graph.nodes][:3] == [["tensor_meta", "val"]] * 3


def test_constants_and_state():
    graph = make_fx(lambda x: x + ts.tensor([1.0, 2.0, 3.0]) + W[0])(X)
    targets = [str(n.target) for n in graph.graph.nodes if n.op != "output"]
    assert targets == [
        "x_1", "_tensor_constant0", "aten.lift_fresh_copy.default", "aten.add.Tensor", "_tensor_constant1",
        "aten.select.int", "aten.add.Tensor",
    ]  # fmt: skip
    assert graph(X)[0].tolist() == [3.0, 4.0, 5.0]
    layer = nn.Linear(3, 2)
    graph = make_fx(layer)(X)
    assert [n.name for n in graph.graph.nodes][:2] == ["arg0_1", "_param_constant0"]
    assert ts.equal(graph(X), layer(X))


def test_transforms():
    assert code(lambda x: ts.vmap(lambda a: a.sin() + 1)(x), X) == [
        "sin = torch.ops.aten.sin.default(x_1);  x_1 = None",
        "add = torch.ops.aten.add.Tensor(sin, 1);  sin = None",
        "return add",
    ]
    graph = make_fx(ts.func.grad(lambda a: a.sin().sum()))(X)
    assert "aten.cos.default" in [str(n.target) for n in graph.graph.nodes]
    assert all(n.op != "get_attr" for n in graph.graph.nodes)
    assert ts.equal(graph(X * 2), (X * 2).cos())


def test_containers_and_several_results():
    graph = make_fx(lambda a, b: (a["x"] * 2 + b[0], b[1]))({"x": X}, [W[0], W])
    assert "fx_pytree.tree_flatten_spec([a, b], self._in_spec)" in graph.code
    result = graph({"x": X}, [W[0], W])
    assert result[0][0].tolist() == [3.0] * 3 and ts.equal(result[1], W)
    assert code(lambda x: x.max(1)[0], X)[1:3] == [
        "getitem = max_1[0]",
        "getitem_1 = max_1[1];  max_1 = getitem_1 = None",
    ]


def test_decompositions_and_refusals():
    table = {ts.ops.aten.silu.default: lambda x: x * ts.sigmoid(x)}
    assert "sigmoid" in code(lambda x: F.silu(x), X, decomposition_table=table)[0]
    with pytest.raises(
        RuntimeError, match="trying to get value out of a tracing tensor"
    ):
        make_fx(lambda x: x * x.sum().item())(X)
    with pytest.raises(NotImplementedError, match="tracing_mode='symbolic' is not supported"):
        make_fx(lambda x: x, tracing_mode="symbolic")
    with pytest.raises(AssertionError):
        make_fx(lambda x: x, tracing_mode="none")
