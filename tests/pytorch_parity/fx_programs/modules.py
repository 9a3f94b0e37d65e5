"""GraphModules: creation, copies, pickles, printing, changes and scripting; interpreters and transformers."""

import copy
import io
import os
import pickle
import sys

import torch
from torch import fx, nn


def error_of(function, *args, **options):
    try:
        return "no error", str(function(*args, **options))
    except Exception as error:
        return type(error).__name__, str(error)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(torch.full((2,), 2.0))
        self.register_buffer("shift", torch.ones(2))
        self.unused = nn.Linear(1, 1)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape) / 10)

    def forward(self, x, bias: float = 0.5):
        return self.rest(self.first(x)) * self.scale + self.shift + bias


INPUT = torch.arange(6.0).reshape(2, 3)


def show_parts():
    traced = fx.symbolic_trace(Net())
    return [
        str(traced), repr(traced), type(traced).__name__, traced._get_name(), [n for n, _ in traced.named_modules()],
        [n for n, _ in traced.named_parameters()], [n for n, _ in traced.named_buffers()], traced(INPUT), traced(INPUT, 1.5),
        traced.graph.owning_module is traced, sorted(traced.meta), isinstance(traced, fx.GraphModule),
    ]  # fmt: skip


def show_dictionary_as_root():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_module("a.b", (x,))
    graph.output(graph.call_function(torch.add, (y, graph.get_attr("a.c"))))
    module = fx.GraphModule({"a.c": torch.ones(2), "a.b": nn.ReLU()}, graph, class_name="Made")
    return str(module), module(torch.tensor([-1.0, 2.0])), [n for n, _ in module.named_buffers()], error_of(fx.GraphModule, {"a.c": 1}, graph)


def show_training():
    net = Net().eval()
    return fx.symbolic_trace(net).training, fx.symbolic_trace(Net()).training, fx.symbolic_trace(lambda x: x).training


def show_changes():
    traced = fx.symbolic_trace(Net())
    for node in traced.graph.nodes:
        if node.op == "call_module" and node.target == "rest.0":
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(torch.sigmoid, (node.args[0],))
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    before = traced(INPUT)
    traced.recompile()
    return before, traced(INPUT), traced.code, [n for n, _ in traced.named_modules()]


def show_submodules():
    traced = fx.symbolic_trace(Net())
    added = [traced.add_submodule("deep.er.layer", nn.ReLU()), traced.add_submodule("scale.x", nn.ReLU()), traced.add_submodule("new", nn.Tanh())]
    names = [n for n, _ in traced.named_modules()]
    deleted = [traced.delete_submodule(n) for n in ("deep.er.layer", "nothing", "scale", "a.b", "new")]
    traced.add_submodule("other", nn.ReLU())
    traced.delete_all_unused_submodules()
    return added, names, deleted, [n for n, _ in traced.named_modules()]


def show_warnings():
    import warnings

    traced = fx.symbolic_trace(Net())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        traced.graph.get_attr("nothing")
        traced.graph.get_attr("no.thing")
    return [str(w.message) for w in said], error_of(traced.graph.call_module, "nothing")


def show_copies():
    traced = fx.symbolic_trace(Net())
    traced.meta["note"] = [1]
    deep, shallow = copy.deepcopy(traced), copy.copy(traced)
    with torch.no_grad():
        deep.scale.fill_(0.0)
    deep.extra = 3
    again = copy.deepcopy(deep)
    return [
        deep.code, type(deep).__name__, deep(INPUT), traced(INPUT), deep.meta, shallow(INPUT), str(shallow), shallow.graph is traced.graph,
        deep.graph is traced.graph, hasattr(again, "extra"), again.graph.owning_module is again,
    ]  # fmt: skip


def show_pickles():
    traced = fx.symbolic_trace(Net())
    loaded = pickle.loads(pickle.dumps(traced))
    file = io.BytesIO()
    torch.save(traced, file)
    file.seek(0)
    saved = torch.load(file, weights_only=False)
    return loaded.code, str(loaded.graph), loaded(INPUT), saved.code, saved(INPUT), type(loaded).__name__, [n for n, _ in loaded.named_modules()]


def show_folder():
    import warnings

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fx.symbolic_trace(Net()).to_folder("written_net", "Written")
    sys.path.insert(0, os.getcwd())
    try:
        sys.modules.pop("written_net", None)
        sys.modules.pop("written_net.module", None)
        from written_net import Written

        return Written()(INPUT), [str(w.message) for w in said if "Was not able" in str(w.message)]
    finally:
        sys.path.pop(0)
        sys.modules.pop("written_net", None)
        sys.modules.pop("written_net.module", None)


def show_readable():
    traced = fx.symbolic_trace(Net())
    for node in traced.graph.nodes:
        if node.op.startswith("call"):
            node.meta["val"] = torch.ones(2, 3)
            node.meta["seq_nr"] = 7
            node.meta["custom"] = {"stage": 1}
    inner = fx.symbolic_trace(nn.Sequential(nn.ReLU()))
    traced.add_submodule("inner", inner)
    return [
        traced.print_readable(print_output=False), traced.print_readable(False, include_stride=True, include_device=True),
        traced.print_readable(False, colored=True), traced.print_readable(False, expanded_def=True), traced.print_readable(False, additional_meta=["seq_nr"]),
        traced.print_readable(),
    ]  # fmt: skip


def show_stack_traces():
    class Recording(fx.Tracer):
        record_stack_traces = True

    net = Net()
    tracer = Recording()
    graph = tracer.trace(net)
    lines = [line.strip() for n in graph.nodes if n.stack_trace for line in n.stack_trace.split("\n")]
    return lines.count("return self.rest(self.first(x)) * self.scale + self.shift + bias"), [bool(n.stack_trace) for n in graph.nodes]


def show_errors_in_generated_code():
    traced = fx.symbolic_trace(lambda x, y: (x + y) * 2)
    return error_of(traced, 1, "a"), error_of(traced, 1), error_of(fx.symbolic_trace(lambda x: x.foo), 1)


def show_scripts():
    traced = fx.symbolic_trace(Net())
    scripted = torch.jit.script(traced)
    file = io.BytesIO()
    torch.jit.save(scripted, file)
    file.seek(0)
    loaded = torch.jit.load(file)
    return scripted(INPUT, 0.5), loaded(INPUT, 1.5), scripted.code.replace("__torch__.", "")


def show_interpreters():
    class Swapped(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.sub if target is torch.add else target, args, kwargs)

        def call_method(self, target, args, kwargs):
            return super().call_method("relu" if target == "neg" else target, args, kwargs)

    def f(x, y=2.0):
        return {"a": torch.add(x, y), "b": [x.neg()]}

    traced = fx.symbolic_trace(f)
    net = fx.symbolic_trace(Net())
    kept = fx.Interpreter(net, garbage_collect_values=False)
    collected = fx.Interpreter(net)
    args = [INPUT, 0.5]
    results = [Swapped(traced).run(INPUT), fx.Interpreter(traced).run(INPUT), kept.run(INPUT), collected.run(INPUT), kept.boxed_run(args), args]
    partial = {n: torch.zeros(2, 2) for n in net.graph.nodes if n.name == "rest_1"}
    return [
        results, len(kept.env), len(collected.env), fx.Interpreter(net).run(INPUT, 0.5, initial_env=partial), error_of(kept.boxed_run, [1]),
        error_of(fx.Interpreter(net).run), error_of(fx.Interpreter(net).run, torch.ones(5, 5)),
    ]  # fmt: skip


def show_interpreters_of_star_arguments():
    def f(x, *args):
        return x + args[0] + args[1]

    return fx.Interpreter(fx.symbolic_trace(f)).run(INPUT, 1, 2)


def show_transformers():
    class Swapped(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return torch.sigmoid(args[0]) if target is torch.relu else super().call_function(target, args, kwargs)

        def call_module(self, target, args, kwargs):
            return args[0] if target == "rest.0" else super().call_module(target, args, kwargs)

    net = fx.symbolic_trace(Net())
    same = fx.Transformer(net).transform()
    changed = Swapped(net).transform()
    other = Swapped(fx.symbolic_trace(lambda x: torch.relu(x) + 1)).transform()
    return same.code, str(same.graph), changed.code, changed(INPUT), other.code, str(other.graph)


def show_hooks_of_changes():
    traced = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    seen = []
    traced._register_create_node_hook(lambda node: seen.append(("create", node.name)))
    traced._register_erase_node_hook(lambda node: seen.append(("erase", node.name)))
    with traced._set_replace_hook(lambda old, new, user: seen.append((old.name, new, user.name))):
        relu = next(n for n in traced.graph.nodes if n.target is torch.relu)
        with traced.graph.inserting_after(relu):
            new = traced.graph.call_function(torch.sigmoid, relu.args)
        relu.replace_all_uses_with(new)
        traced.graph.erase_node(relu)
        new.name = "other"
    return seen


def show_annotations_of_nodes():
    from torch.fx import traceback

    with traceback.preserve_node_meta(), traceback.annotate({"stage": 1}):
        graph = fx.Tracer().trace(lambda x: x + 1)
    source = traceback.NodeSource(None, "a pass", traceback.NodeSourceAction.CREATE)
    return [n.meta["custom"] for n in graph.nodes], repr(source), source.to_dict(), traceback.has_preserved_node_meta()


def show_retracing():
    net = fx.symbolic_trace(Net())
    again = fx.symbolic_trace(net)

    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            return self.net(x) + 1

    held = fx.symbolic_trace(Holder())
    return again.code == net.code, held.code, held(INPUT)
