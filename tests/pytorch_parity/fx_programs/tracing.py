"""Traced functions, methods, operators, attributes, modules, control flow and wrapped functions."""

import math
from math import sqrt
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import fx, nn


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


@fx.wrap
def wrapped(x, scale):
    return x * scale


def wrapped_by_name(x):
    return x + 1


fx.wrap("wrapped_by_name")
fx.wrap("len")


def error_of(function, *args):
    try:
        return str(function(*args))
    except Exception as error:
        return type(error).__name__, str(error)


def code_and_graph(function, **options):
    """Return the code and graph of a function or module, or the error of an untraceable one."""
    try:
        traced = fx.symbolic_trace(function, **options)
        traced.graph.lint()
    except Exception as error:
        return type(error).__name__, str(error)
    return traced.code, str(traced.graph)


def show_operators():
    def f(x, y):
        return [
            x + 1, 1 + x, x - y, 2 - x, x * y, x / 2, 2 / x, x // 2, 7 // x, x % 3, x**2, 2**x, x @ y, -x, +x, ~x, x & y,
            x | y, x ^ y, x << 1, x >> 1, x == y, x != y, x < y, x <= 1, x > y, x >= 1, abs(x), x[0], x[1:2, ..., None],
        ]

    return code_and_graph(f)


def show_in_place_operators():
    def f(x):
        x += 1
        x *= x
        return x

    return code_and_graph(f)


def show_functions():
    def f(x):
        return (
            torch.relu(x), torch.add(x, 1, alpha=2), torch.cat([x, x], dim=1), torch.stack((x, x)), torch.linalg.norm(x),
            torch.fft.fft(x), torch.special.expit(x), torch.split(x, 2), torch.einsum("ij->ji", x), torch.norm(x),
            torch.unique(x), torch.meshgrid(x, x, indexing="ij"), torch.matmul(torch.ones(2, 2), x), torch.numel(x),
            torch.is_floating_point(x), torch.tensordot(x, x), torch.cdist(x, x), torch.where(x > 0, x, 0.0),
            torch.broadcast_tensors(x, x), torch.block_diag(x, x), torch.atleast_2d(x), torch.chain_matmul(x, x),
        )  # fmt: skip

    return code_and_graph(f)


def show_functional():
    def f(x):
        return (
            F.relu(x), F.relu(x, inplace=True), F.gelu(x), F.linear(x, x), F.conv2d(x, x, padding=1), F.softmax(x, -1),
            F.log_softmax(x, dim=0), F.dropout(x, 0.3, training=False), F.layer_norm(x, (3,)), F.pad(x, (1, 1)),
            F.max_pool2d(x, 2), F.max_pool1d(x, 3, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, (1, 1)),
            F.adaptive_max_pool2d(x, 3, return_indices=True), F.max_pool3d(x, 2, return_indices=True),
            F.interpolate(x, scale_factor=2.0), F.batch_norm(x, x, x, training=True), F.group_norm(x, 2),
            F.embedding(x, x), F.one_hot(x, 3), F.cross_entropy(x, x, reduction="sum"), F.mse_loss(x, x), F.glu(x),
            F.threshold(x, 0.1, 20), F.normalize(x), F.scaled_dot_product_attention(x, x, x), F.cosine_similarity(x, x),
            F.leaky_relu(x, 0.2), F.hardtanh(x), F.softplus(x), F.logsigmoid(x), F.unfold(x, 2), F.rms_norm(x, (3,)),
            F.grid_sample(x, x, align_corners=False), F.pixel_shuffle(x, 2), F.sigmoid(x), F.tanh(x), F.silu(x),
        )  # fmt: skip

    return code_and_graph(f)


def show_methods_and_attributes():
    def f(x):
        return x.relu(), x.sum(dim=1, keepdim=True), x.shape[0], x.T, x.size(0), x.foo.bar, x.view(-1, 2), x.data, x(3)

    return code_and_graph(f)


def show_constants():
    def f(x):
        zeros = torch.zeros(2)
        return torch.ones(2) + x, zeros.add(x), zeros * x, torch.ones(2) @ x, zeros[x], x + zeros

    return code_and_graph(f)


def show_arguments():
    def f(x: torch.Tensor, y: int = 3, *args, z: Optional[List[int]] = None, **kwargs) -> Dict[str, torch.Tensor]:
        return {"a": x + args[0] + y, "b": kwargs["k"] + z[0]}

    return code_and_graph(f)


def show_annotations():
    def f(x: "torch.Tensor", y: Tuple[torch.Tensor, int], z: list[int], w: torch.Tensor | None, v: "Unknown"):
        return x, y, z, w, v

    return code_and_graph(f)


def show_results():
    def f(x):
        return Pair(x, {"a": [x, (x,)], "b": slice(0, x)}), None, "text", 1.5, torch.float32, torch.device("cpu"), ...

    return code_and_graph(f)


def show_values_that_cannot_be_arguments():
    class Other:
        pass

    return [code_and_graph(lambda x: x.add(Other())), code_and_graph(lambda x: {x: 1}), code_and_graph(lambda x: x.add({(x, 1): 1}))]


def show_control_flow():
    def looped(x):
        for i in range(3):
            x = x + i
        return x

    def branched(x):
        return x if x.sum() > 0 else -x

    def iterated(x):
        return [y + 1 for y in x]

    def unpacked(x):
        a, (b, c) = x
        return a + b + c

    def long(x):
        return len(x)

    def starred(x):
        return torch.cat(*x)

    def named(x):
        return torch.cat(**x)

    def inside(x):
        return 1 in x

    def as_number(x):
        return range(x)

    return [code_and_graph(f) for f in (looped, branched, iterated, unpacked, long, starred, named, inside)], as_number is not None


def show_wrapped_functions():
    def f(x):
        return wrapped(x, 2), wrapped_by_name(x), sqrt(x), math.floor(x), len(x), wrapped(2, 3)

    traced = fx.symbolic_trace(f)
    return code_and_graph(f), error_of(traced, 4.0), [n.meta.get("is_wrapped") for n in traced.graph.nodes]


def show_wrap_in_a_function():
    return [error_of(fx.wrap, "wrapped"), error_of(fx.wrap, 3)]


def show_concrete_arguments():
    def f(x, flag, size=None, text="a"):
        return x + 1 if flag else (x - 1, size, text)

    first = fx.symbolic_trace(f, concrete_args={"flag": True})
    second = fx.symbolic_trace(f, concrete_args={"flag": False, "size": None, "text": "b"})
    x = torch.ones(2)
    return [
        first.code, str(first.graph), second.code, str(second.graph), first(x, True, None, "a"), second(x, False, None, "b"),
        error_of(first, x, False, None, "a"), error_of(second, x, False, 3, "b"),
    ]  # fmt: skip


def show_trees_of_arguments():
    def f(x, y):
        return {"sum": x["a"] + y[0], "parts": [x["b"], y[1][0]]}

    traced = fx.symbolic_trace(f, concrete_args={"x": {"a": fx.PH, "b": fx.PH}, "y": (fx.PH, [fx.PH])})
    one = torch.ones(2)
    results = traced({"a": one, "b": one * 2}, (one * 3, [one * 4]))
    return traced.code, str(traced.graph), results["sum"], results["parts"], fx.PH


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.layers = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(torch.full((2,), 2.0))
        self.register_buffer("shift", torch.ones(2))
        self.constant = torch.full((2,), 3.0)
        self.count = 2

    def forward(self, x):
        y = self.layers(self.linear(x))
        for _ in range(self.count):
            y = y * self.scale + self.shift
        return y + self.constant + torch.ones(2)


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.by_name = nn.ModuleDict({"last": nn.Linear(3, 3)})

    def forward(self, x):
        return [block(x) for block in self.blocks], self.by_name["last"](self.by_name["last"](x))


def show_modules():
    traced = fx.symbolic_trace(Outer())
    stacks = [(n.name, [str(k) for k in n.meta.get("nn_module_stack", {})]) for n in traced.graph.nodes]
    return code_and_graph(Block()), code_and_graph(Outer()), [n for n, _ in traced.named_parameters()], [n for n, _ in traced.named_buffers()], stacks


def show_leaf_modules():
    class Leaves(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, Block) or super().is_leaf_module(m, module_qualified_name)

    tracer = Leaves()
    graph = tracer.trace(Outer())
    return str(graph), tracer.root_module_name, graph._tracer_cls is Leaves


def show_modules_that_are_not_there():
    other = nn.Linear(2, 2)
    parameter = nn.Parameter(torch.ones(2))

    class Uses(nn.Module):
        def forward(self, x):
            return other(x)

    class UsesParameter(nn.Module):
        def forward(self, x):
            return torch.add(x, parameter)

    return code_and_graph(Uses()), code_and_graph(UsesParameter()), code_and_graph(torch.relu) if False else error_of(fx.symbolic_trace, Uses().forward)


def show_tracers_of_programs():
    class Doubling(fx.Tracer):
        def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
            if kind == "call_function" and target is torch.relu:
                target = torch.sigmoid
            return super().create_proxy(kind, target, args, kwargs, name, type_expr, proxy_factory_fn)

        def to_bool(self, obj):
            return True

        def iter(self, obj):
            return iter([obj[0], obj[1]])

        def keys(self, obj):
            return ["k"]

    def f(x):
        a, b = (each for each in x)
        return torch.relu(a) if b > 0 else dict(**x)

    return str(Doubling().trace(f))


def show_parameter_shapes():
    class Shaped(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2, 3))

        def forward(self, x):
            if self.weight.shape[0] == 2 and self.weight.dim() == 2 and self.weight.numel() == 6:
                return x + self.weight
            return x

    return code_and_graph(Shaped()), str(fx.Tracer(param_shapes_constant=True).trace(Shaped()))


def show_autowrapped_functions():
    def helper(x):
        return x + 1

    globals()["helper"] = helper
    namespace = {}
    exec("def f(x):\n    return helper(x)\n", globals(), namespace)
    return str(fx.Tracer(autowrap_functions=(helper,)).trace(namespace["f"]))


def show_mutable_operations():
    class Pure(fx.Tracer):
        check_mutable_operations = True

    def f(x):
        return torch.relu_(x)

    def g(x):
        return torch.add(x, 1)

    return error_of(Pure().trace, f), error_of(Pure().trace, g)


def show_tracing_is_over():
    tracer = fx.Tracer()
    error_of(tracer.trace, lambda x: x if x else 1)
    return nn.Linear(2, 2)(torch.ones(1, 2)).shape, code_and_graph(lambda x: x + 1)


class Scaled(metaclass=fx.ProxyableClassMeta):
    def __init__(self, x, scale):
        self.x, self.scale = x, scale

    def value(self):
        return self.x * self.scale


def show_classes_made_of_proxies():
    def f(x):
        return Scaled(x, 2).value()

    traced = fx.symbolic_trace(f)
    return traced.code.replace(__name__.replace(".", "_"), "here"), traced(torch.ones(2))
