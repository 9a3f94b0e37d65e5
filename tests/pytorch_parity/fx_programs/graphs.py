"""Graphs: nodes are created, moved, changed and erased; names, code, texts and errors."""

import copy
import operator
import sys
import types
import warnings

import torch
from torch import fx, nn


def error_of(function, *args, **options):
    try:
        return "no error", str(function(*args, **options))
    except Exception as error:
        return type(error).__name__, str(error)


def small():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y", default_value=2)
    added = graph.call_function(torch.add, (x, y))
    halved = graph.call_method("div", (added, 2), {"rounding_mode": "floor"})
    graph.output([halved, (added, x)])
    return graph, x, y, added, halved


def show_small():
    graph, *nodes = small()
    graph.lint()
    users = [(n.name, [u.name for u in n.users], [i.name for i in n.all_input_nodes]) for n in graph.nodes]
    order = [n.name for n in reversed(graph.nodes)], graph.output_node().name, len(graph.nodes)
    return str(graph), graph.python_code("self").src, users, order, nodes[0].next.name, nodes[1].prev.name, nodes[0] < nodes[1]


def show_names():
    graph = fx.Graph()
    names = ["x", "x", "x_1", "x_7", "x_7", "if", "class", "abs", "torch", "device", "inf", "1a", "a.b.c", "layers.0", "", "a b", "max", "X"]
    nodes = [graph.create_node("placeholder", name) if name else graph.create_node("placeholder", "p", name="") for name in names]
    more = [
        graph.call_function(operator.add, (nodes[0], 1)), graph.call_function(operator.add, (nodes[0], 1)),
        graph.call_method("__getitem__", (nodes[0], 0)), graph.call_function(torch.nn.functional.max_pool2d, (nodes[0], 2)),
        graph.call_module("maxPool2d"), graph.call_function(getattr, (nodes[0], "shape")), graph.call_function(torch.sum, (nodes[0],)),
        graph.call_function(operator.and_, (nodes[0], 1)), graph.call_function(torch.ops.aten.add.Tensor, (nodes[0], nodes[0])),
    ]  # fmt: skip
    return [n.name for n in [*nodes, *more]], graph.python_code("self").src, str(graph)


def show_renaming():
    graph, _x, y, added, halved = small()
    added._rename("sum")
    halved._rename("x")
    y.name = "other"
    return str(graph), graph.python_code("self").src


def show_insertion():
    graph, x, y, added, halved = small()
    with graph.inserting_before(added):
        first = graph.call_function(torch.relu, (x,))
    with graph.inserting_after(added):
        second = graph.call_function(torch.relu, (first,))
    with graph.inserting_before():
        graph.placeholder("begin")
    with graph.inserting_after():
        graph.call_function(print, (second,))
    halved.prepend(y)
    x.append(halved)
    other = fx.Graph()
    return str(graph), [error_of(graph.inserting_before(other.placeholder("z")).__enter__)] if False else error_of(
        graph.inserting_before, other.placeholder("z")
    ), error_of(graph.inserting_after, other.placeholder("z")), error_of(x.prepend, other.placeholder("z")), error_of(graph.lint)


def show_changes_of_arguments():
    graph, x, y, added, halved = small()
    added.args = (x, x)
    halved.update_arg(1, y)
    halved.update_kwarg("rounding_mode", None)
    added.insert_arg(1, y)
    halved.kwargs = {"other": {"a": [x, slice(y, None)]}}
    users = {n.name: [u.name for u in n.users] for n in graph.nodes}
    replaced = [n.name for n in y.replace_all_uses_with(x, delete_user_cb=lambda n: n is not halved)]
    halved.replace_input_with(y, added)
    return str(graph), users, replaced, {n.name: [u.name for u in n.users] for n in graph.nodes}, error_of(added.insert_arg, 9, x)


def show_immutable_arguments():
    graph, x, *_ = small()
    node = graph.call_function(torch.cat, ([x, x],), {"k": {"a": 1}})
    items, table = node.args[0], node.kwargs["k"]
    return [
        type(items).__name__, type(table).__name__, error_of(items.append, x), error_of(table.update, {}), hash(items) == hash(tuple(items)),
        error_of(lambda: items.__setitem__(0, x)), error_of(lambda: table.pop("a")), items == [x, x], error_of(items.sort),
    ]  # fmt: skip


def show_erasing():
    graph, x, _y, added, _halved = small()
    found = [error_of(graph.erase_node, added)]
    extra = graph.call_function(torch.relu, (x,))
    graph.erase_node(extra)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        graph.erase_node(extra)
    other = fx.Graph().placeholder("z")
    found += [error_of(graph.erase_node, other), str(said[0].message), len(graph.nodes)]
    for node in graph.nodes:
        if node.op == "output":
            graph.erase_node(node)
    return found, str(graph), error_of(graph.output_node)


def show_lint():
    def foreign():
        graph, _x, *_ = small()
        graph.call_function(torch.relu, (fx.Graph().placeholder("z"),))
        graph.lint()

    def too_early():
        graph, _x, _y, added, halved = small()
        added.args = (halved, 1)
        graph.lint()

    def missing(target, op):
        graph = fx.Graph()
        graph.create_node(op, target)
        module = fx.GraphModule(nn.Module(), fx.Graph())
        graph.owning_module = module
        graph.lint()

    def twice():
        graph, _x, _y, added, _halved = small()
        added.name = "x"
        graph.lint()

    return [error_of(f) for f in (foreign, too_early, twice)], [error_of(missing, "a.b", op) for op in ("get_attr", "call_module")]


def show_errors_of_making():
    graph = fx.Graph()
    return [
        error_of(graph.create_node, "foo", "x"), error_of(graph.call_function, "relu"), error_of(graph.create_node, "call_method", "x", [1]),
        error_of(graph.create_node, "call_method", "x", (), [1]), error_of(fx.map_arg, (), 3), error_of(fx.GraphModule, 3, graph),
        error_of(graph.find_nodes, op="call_function"),
    ]  # fmt: skip


def show_copies():
    graph, x, _y, added, halved = small()
    added.meta["note"] = [1]
    halved.type = torch.Tensor
    other = fx.Graph()
    values = {}
    result = other.graph_copy(graph, values)
    other.output(result)
    third = fx.Graph()
    node = third.node_copy(x)
    third.output(third.node_copy(added, lambda n: node))
    deep = copy.deepcopy(graph)
    return str(other), [(a.name, b.name, b.meta) for a, b in values.items()], str(third), str(deep), [n.meta for n in deep.nodes]


def show_finding():
    graph, x, _y, added, halved = small()
    first = graph.call_function(torch.relu, (x,))
    added.prepend(first)
    second = graph.call_function(torch.relu, (first,))
    second.target = torch.sigmoid
    return [
        [n.name for n in graph.find_nodes(op="placeholder")], [n.name for n in graph.find_nodes(op="call_function", target=torch.relu)],
        [n.name for n in graph.find_nodes(op="call_function", target=torch.sigmoid)], [n.name for n in graph.find_nodes(op="call_method", target="div")],
        [n.name for n in sorted([halved, second, first, x])],
    ]  # fmt: skip


def show_dead_code():
    def f(x):
        unused = x + 1
        again = unused * 2
        y = torch.relu(x)
        torch.rand(2)
        torch._assert(x.sum() > 0, "text")
        x[0].add_(1)
        return y

    traced = fx.symbolic_trace(f)
    changed = traced.graph.eliminate_dead_code()
    first = str(traced.graph)
    again = traced.graph.eliminate_dead_code()
    kept = fx.symbolic_trace(f)
    kept.graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output") or node.target == "add_")
    traced.recompile()
    return changed, first, again, str(kept.graph), traced.code


def show_impure_nodes():
    graph, x, *_ = small()
    functions = (
        torch.rand, torch.dropout, torch.relu_, torch.rand_like, torch.bernoulli, torch.add, operator.setitem, operator.iadd, torch._assert,
        torch.ops.aten.add_.Tensor, torch.ops.aten.relu_, torch.ops.aten.rand_like.default, torch.ops.aten.relu.default, print,
    )  # fmt: skip

    def marked(x):
        return x

    fx.node.has_side_effect(marked)
    nodes = [graph.call_function(f, (x,)) for f in (*functions, marked)]
    return [(n.name, n.is_impure(), n.is_impure(False)) for n in nodes], x.is_impure()


def show_code_of_values():
    graph = fx.Graph()
    x = graph.placeholder("x")
    values = [
        1, -1.5, float("inf"), float("nan"), None, True, "a'b", 1 + 2j, ..., torch.float16, torch.device("cpu"), torch.strided,
        torch.channels_last, slice(1, x, None), (x,), (), [x, [1]], {"a": x}, torch.Size([1, 2]), torch.ops.aten.add.Tensor, range(3),
    ]  # fmt: skip
    nodes = [graph.call_function(torch.add, (v,), {"k": v}) for v in values]
    graph.output(nodes)
    return graph.python_code("self").src, str(graph)


def show_code_of_in_place_operators():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(operator.iadd, (x, 1))
    graph.call_function(operator.setitem, (x, 0, 2))
    graph.output(graph.call_function(operator.imul, (y, 2)))
    module = fx.GraphModule(nn.Module(), graph)
    return module.code, module(torch.ones(2))


def show_types():
    graph = fx.Graph()
    import typing

    kinds = [
        torch.Tensor, int, list[int], typing.List[torch.Tensor], typing.Optional[torch.Tensor], typing.Dict[str, torch.Tensor], tuple[int, ...],
        typing.Tuple[()], typing.Union[int, str], int | None, torch.dtype, nn.Linear, "Text", typing.Any, type(None),
    ]  # fmt: skip
    nodes = [graph.placeholder(f"p{i}", type_expr=kind) for i, kind in enumerate(kinds)]
    graph.output(nodes[0], type_expr=typing.List[torch.Tensor])
    return graph.python_code("self").src, str(graph), sorted(graph.python_code("self").globals)


def show_code_generators():
    class Listed(fx.CodeGen):
        def gen_fn_def(self, free_vars, maybe_return_annotation):
            return f"def forward(self, args_list){maybe_return_annotation}:\n    {', '.join(free_vars)} = args_list"

        def additional_globals(self):
            return [("List", list)]

        def process_inputs(self, *inputs):
            return inputs[0]

        def generate_output(self, output_args):
            return f"return [{output_args!r}]"

    traced = fx.symbolic_trace(lambda x, y: x + y)
    traced.graph.set_codegen(Listed())
    traced.recompile()
    one = torch.ones(2)
    inputs = traced.graph.process_inputs([one, one])
    return traced.code, traced([one, one]), fx.Interpreter(traced).run([one, one]), len(inputs), copy.deepcopy(traced).code


def show_transformed_code():
    traced = fx.symbolic_trace(lambda x: torch.relu(x))
    with traced.graph.on_generate_code(lambda before: lambda body: ["print('called')\n", *(before(body) if before else body)]):
        traced.recompile()
        changed = traced.code
        traced(torch.ones(1))
    traced.recompile()
    return changed, traced.code


def show_table():
    shown = []
    stub = types.ModuleType("tabulate")
    stub.tabulate = lambda rows, headers: shown.append(([[str(c) for c in row] for row in rows], headers)) or "table"
    before = sys.modules.get("tabulate")
    sys.modules["tabulate"] = stub
    try:
        graph = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU())).graph
        graph.print_tabular()
    finally:
        sys.modules.pop("tabulate") if before is None else sys.modules.update(tabulate=before)
    return shown


def show_format_of_nodes():
    graph, x, y, added, halved = small()
    added.type = torch.Tensor
    added.meta["val"] = torch.ones(2, 3)
    with graph.inserting_before(halved):
        long = graph.call_function(torch.cat, ([x] * 3,))
    return [
        x.format_node(), y.format_node(), added.format_node(), added.format_node(include_tensor_metadata=True), halved.format_node(),
        graph.output_node().format_node(), repr(x), fx.node._format_arg(long.args, 2), fx.node._format_arg({"a": (x,)}),
    ]  # fmt: skip


def show_mapping():
    _graph, x, *_ = small()
    seen = []
    mapped = fx.map_arg(([x, {"a": (x, 1)}], slice(x, 2)), lambda n: seen.append(n.name) or 5)
    every = fx.node.map_aggregate({"a": [1, (2,)], "b": slice(1, 2)}, lambda v: v if v is None else v + 1)
    return str(mapped), seen, str(every), type(mapped[0]).__name__


def show_appended_proxies():
    graph, _x, _y, added, halved = small()
    with graph.inserting_before(halved):
        proxy = fx.Proxy(added)
        new = torch.relu(proxy) + 3
        halved.update_arg(0, new.node)
    graph.lint()
    two = fx.Proxy(fx.Graph().placeholder("z"))
    return str(graph), repr(proxy), error_of(lambda: torch.add(proxy, two)).__len__(), error_of(len, proxy), error_of(lambda: list(proxy))


def show_normalized_arguments():
    graph = fx.Graph()
    x = graph.placeholder("x")
    calls = [
        graph.call_function(torch.nn.functional.relu, (x,)), graph.call_function(torch.nn.functional.max_pool2d, (x, 2)),
        graph.call_function(torch.relu, (x,)), graph.call_function(torch.ops.aten.add.Tensor, (x, 1)), graph.call_module("linear", (x,)),
        graph.call_method("relu", (x,)), graph.call_function(torch.nn.functional.linear, (x, x)),
    ]  # fmt: skip
    root = nn.Module()
    root.linear = nn.Linear(2, 2)
    first = [error_of(n.normalized_arguments, root, normalize_to_only_use_kwargs=True) for n in calls]
    second = [error_of(n.normalized_arguments, root) for n in calls]
    typed = calls[2].normalized_arguments(root, (torch.Tensor,), {}, True)
    missing = graph.call_module("none", (x,))
    return first, second, str(typed), error_of(missing.normalized_arguments, root)


def show_type_hints():
    from torch.fx.operator_schemas import create_type_hint, type_matches
    from typing import List, Tuple, Union

    class A:
        pass

    class B(A):
        pass

    pairs = [
        (int, int), (List[int], list[int]), (List[int], int), (int, torch.dtype), (Union[int, float], float), (List[int], Tuple[int, ...]),
        (A, B), (B, A), (List[A], list[B]), (float, int), (str, torch.Tensor),
    ]  # fmt: skip
    return [str(create_type_hint(x)) for x in ([int, int], (int,), [], [int, str], [A, B], int)], [type_matches(*p) for p in pairs]
