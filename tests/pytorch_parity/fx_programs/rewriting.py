"""Pattern matching and replacement; passes: shapes, splitting, partitions, pass managers, fused layers."""

import operator

import torch
from torch import fx, nn
from torch.fx import subgraph_rewriter
from torch.fx.experimental import optimization
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper, this_before_that_pass_constraint
from torch.fx.passes.operator_support import OperatorSupport, OpSupports, any_chain, chain, create_op_support
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.split_module import split_module
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions, topo_sort, validate_partition
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.fx.passes.utils.source_matcher_utils import check_subgraphs_connected, get_source_partitions


def error_of(function, *args, **options):
    try:
        return "no error", str(function(*args, **options))
    except Exception as error:
        return type(error).__name__, str(error)


X = torch.arange(4.0).reshape(2, 2) - 1


def matched(matches):
    return [(m.anchor.name, [(str(a), str(b)) for a, b in m.nodes_map.items()]) for m in matches]


def show_replaced_patterns():
    def f(x, w1, w2):
        m1 = torch.cat([w1, w2]).sum()
        m2 = torch.cat([w2, w1]).sum()
        return x + torch.max(m1) + torch.max(m2)

    traced = fx.symbolic_trace(f)
    found = subgraph_rewriter.replace_pattern(traced, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]))
    traced.graph.lint()
    return matched(found), traced.code


def show_chains_of_patterns():
    def f(x):
        return torch.relu(torch.relu(torch.relu(torch.relu(x)))) + 1

    traced = fx.symbolic_trace(f)
    found = subgraph_rewriter.replace_pattern(traced, lambda x: torch.relu(torch.relu(x)), lambda x: torch.sigmoid(x))
    return len(found), traced.code, traced(X)


def show_patterns_with_several_results():
    def f(x, y):
        return (x + y) * (x - y), x

    def pattern(x, y):
        return x + y, x - y

    def replacement(x, y):
        return x * 2, y * 3

    traced = fx.symbolic_trace(f)
    found = subgraph_rewriter.replace_pattern(traced, pattern, replacement)
    return len(found), traced.code


def show_patterns_with_modules():
    class Pattern(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x):
            return self.linear(x)

    class Replacement(nn.Module):
        def __init__(self):
            super().__init__()
            self.tanh = nn.Tanh()

        def forward(self, x):
            return self.tanh(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x):
            return self.linear(x) + 1

    traced = fx.symbolic_trace(Net())
    subgraph_rewriter.replace_pattern(traced, fx.symbolic_trace(Pattern()), fx.symbolic_trace(Replacement()))
    return traced.code, [n for n, _ in traced.named_modules()], traced(X)


def show_filtered_patterns():
    def f(x):
        return torch.add(x, 1) * torch.add(x, 2)

    first, second = fx.symbolic_trace(f), fx.symbolic_trace(f)
    one = subgraph_rewriter.replace_pattern_with_filters(
        first, lambda x: torch.add(x, 2), lambda x: torch.sub(x, 2), [lambda match, graph, pattern: True]
    )
    all_of_them = subgraph_rewriter.replace_pattern_with_filters(
        second, lambda x: torch.add(x, 5), lambda x: torch.sub(x, 2), ignore_literals=True
    )
    none = subgraph_rewriter.replace_pattern_with_filters(
        second, lambda x: torch.sub(x, 2), lambda x: x, [lambda match, graph, pattern: False]
    )
    made = fx.symbolic_trace(f)
    by_callback = subgraph_rewriter.replace_pattern_with_filters(
        made, lambda x: torch.add(x, 1), replacement_callback=lambda match, graph, pattern: fx.symbolic_trace(lambda x: x * len(match.nodes_map)).graph
    )
    return len(one), first.code, len(all_of_them), second.code, none, len(by_callback), made.code, [str(n) for n in one[0].replacements]


def show_matcher():
    def f(x, y):
        a = torch.relu(x + y)
        b = torch.relu(x - y)
        return torch.relu(a + b), a

    graph = fx.symbolic_trace(f).graph
    pattern = fx.symbolic_trace(lambda x, y: torch.relu(x + y)).graph
    dead = fx.Graph()
    dead.output(dead.placeholder("x"))
    found = SubgraphMatcher(pattern).match(graph)
    return [
        [[str(n) for n in m.returning_nodes] + [str(n) for n in m.placeholder_nodes] for m in found],
        len(SubgraphMatcher(pattern, remove_overlapping_matches=False).match(graph)), error_of(SubgraphMatcher, fx.Graph()),
        len(SubgraphMatcher(pattern, match_output=True, match_placeholder=True).match(pattern)),
    ]  # fmt: skip


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.other = nn.Linear(2, 2)
        self.scale = nn.Parameter(torch.ones(2))
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape) / 4)

    def forward(self, x, y):
        a = self.linear(x)
        b = torch.relu(a) + y
        c = self.other(b) * self.scale
        return c - a, b


def show_shapes():
    traced = fx.symbolic_trace(Net())
    result = ShapeProp(traced).propagate(X, X)
    shapes = [(n.name, str(n.meta.get("tensor_meta")), n.meta["type"].__name__) for n in traced.graph.nodes]
    images = fx.symbolic_trace(lambda x: (x.relu(), x.sum((2, 3))))
    ShapeProp(images).propagate(torch.ones(2, 3, 4, 4).contiguous(memory_format=torch.channels_last))
    formats = [str(n.meta["tensor_meta"].memory_format) for n in images.graph.nodes if n.op == "call_method"]
    return result, shapes, formats, traced.print_readable(False), error_of(ShapeProp(traced).propagate, torch.ones(7), X)


def show_split_modules():
    traced = fx.symbolic_trace(Net())
    numbers = {}

    def part(node):
        return numbers.setdefault(node.name, len(numbers) // 2)

    texts = []
    for options in (
        {}, {"keep_original_order": True}, {"partition_affix": "p"}, {"tuple_return": True}, {"keep_original_node_name": True},
        {"keep_original_input_name": False},
    ):  # fmt: skip
        names = {}
        split = split_module(traced, traced, part, names, **options)
        texts += [split.code, *(m.code for _, m in split.named_children() if hasattr(m, "code")), names, split(X, X), sorted(split.meta["partition_names"])]
    return texts


def show_split_in_a_circle():
    traced = fx.symbolic_trace(lambda x: torch.relu(torch.sigmoid(torch.relu(x))))
    return error_of(split_module, traced, traced, lambda node: 0 if node.target is torch.relu else 1)


def show_partitions():
    def f(x, y):
        a = torch.relu(x) + y
        b = torch.sigmoid(a)
        c = torch.relu(b) * b
        return c + a, torch.relu(y)

    texts = []
    for names in ({"torch.relu": None, "_operator.add": None}, {"torch.relu": None, "_operator.mul": None, "torch.sigmoid": None}):
        for single in (False, True):
            traced = fx.symbolic_trace(f)
            calls = create_op_support(lambda submodules, node: node.op.startswith("call"))
            partitioner = CapabilityBasedPartitioner(traced, chain(calls, OperatorSupport(names)), allows_single_node_partition=single)
            parts = partitioner.propose_partitions()
            texts.append([sorted(str(n) for n in p.nodes) for p in parts])
            fused = partitioner.fuse_partitions(parts)
            texts += [fused.code, [m.code for _, m in fused.named_children()], fused(X, X)]
    return texts


def show_fused_nodes():
    traced = fx.symbolic_trace(lambda x: torch.relu(x + 1) * torch.sigmoid(x))
    by_name = {n.name: n for n in traced.graph.nodes}
    good, bad = [by_name["add"], by_name["relu"]], [by_name["add"], by_name["mul"]]
    valid = validate_partition(good), validate_partition(bad), [n.name for n in topo_sort([by_name["relu"], by_name["add"]])]
    fused = fuse_by_partitions(traced, [dict.fromkeys(good)])
    return valid, fused.code, fused.fused_0.code, fused(X)


def show_operator_support():
    traced = fx.symbolic_trace(Net())
    ShapeProp(traced).propagate(X, X)
    modules = dict(traced.named_modules())
    supports = [
        OperatorSupport({"torch.relu": None, "torch.nn.modules.linear.Linear": None}), OperatorSupport({"torch.relu": (((torch.float32,),), {})}),
        OpSupports.decline_if_input_dtype(torch.float32), OpSupports.decline_if_node_in_names({"add"}),
        create_op_support(lambda submodules, node: node.op == "call_module"),
    ]  # fmt: skip
    supports += [chain(supports[0], supports[3]), any_chain(supports[0], supports[4])]
    return [[s.is_node_supported(modules, n) for n in traced.graph.nodes] for s in supports]


def show_pass_managers():
    class Swap(PassBase):
        def __init__(self, old, new):
            self.old, self.new = old, new

        def call(self, graph_module):
            changed = False
            for node in graph_module.graph.nodes:
                if node.target is self.old:
                    node.target, changed = self.new, True
            return PassResult(graph_module, changed)

    def broken(module):
        raise ValueError("no")

    traced = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    manager = PassManager([Swap(torch.relu, torch.sigmoid), Swap(torch.sigmoid, torch.tanh)], steps=3)
    result = manager(traced)
    first, second = Swap(torch.tanh, torch.relu), pass_result_wrapper(lambda module: None)
    ordered = PassManager([second, first], [this_before_that_pass_constraint(first, second)])
    ordered.solve_constraints()
    wrong = PassManager([second, first], [this_before_that_pass_constraint(first, second)])
    circle = PassManager([first, second], [this_before_that_pass_constraint(first, second), this_before_that_pass_constraint(second, first)])
    return [
        result.graph_module.code, result.modified, ordered.passes[0] is first, error_of(wrong.validate_constraints)[0], error_of(circle.solve_constraints)[0],
        error_of(PassManager([broken]), traced), error_of(PassManager([lambda m: m]), traced), error_of(PassManager().add_checks, lambda: 0),
        error_of(PassBase),
    ]  # fmt: skip


def show_sources():
    traced = fx.symbolic_trace(Net())
    for node in traced.graph.nodes:
        if node.op == "call_module":
            node.meta["source_fn_stack"] = [(node.name, nn.Linear)]
        elif node.target is operator.add:
            node.meta["source_fn_stack"] = [(node.name, operator.add)]
    found = get_source_partitions(traced.graph, [nn.Linear, operator.add])
    parts = [[[str(n) for n in p.nodes], sorted(str(n) for n in p.input_nodes), [str(n) for n in p.output_nodes]] for ps in found.values() for p in ps]
    filtered = get_source_partitions(traced.graph, [nn.Linear], lambda node: node.name == "other")
    linear, add = found[nn.Linear], found[operator.add]
    return parts, len(filtered[nn.Linear]), check_subgraphs_connected(add[0], linear[1]), check_subgraphs_connected(linear[1], add[0])


def show_fused_layers():
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3), nn.BatchNorm1d(3), nn.Dropout())
    with torch.no_grad():
        for i, tensor in enumerate([*model.parameters(), *(b for b in model.buffers() if b.is_floating_point())]):
            tensor.copy_((torch.arange(tensor.numel()).reshape(tensor.shape) % 5 + i + 1) / 7)
    model.eval()
    x = torch.arange(8.0).reshape(2, 1, 2, 2)
    fused = optimization.fuse(model)
    bare = optimization.remove_dropout(fused)
    difference = float((fused(x) - model(x)).abs().max()) < 1e-4
    nodes = [n for n in fused.graph.nodes if n.op == "call_module"]
    part = optimization.extract_subgraph(fused, nodes[:2], [nodes[0].args[0]], [nodes[1]])
    return fused.code, bare.code, difference, part.code, [type(m).__name__ for m in fused.modules()]
