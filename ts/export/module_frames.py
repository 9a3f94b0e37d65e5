"""Construction of a module hierarchy from a flat graph, with one frame for each module call.

Example: `Unflattening(program, module).run()`.

The metadata `nn_module_stack` of a node names the module calls that contain the node. A change of this
metadata between two nodes opens or closes frames. A frame gets inputs for the values of outer frames that it
reads. Values that outer frames read become its results.

If the signature of a call is preserved, its graph flattens the inputs and unflattens the result. The calling
graph does the inverse.

Calls of a module with equal graphs share one module. A call with another graph gets a separate module, such
as `encoder@1`. If signatures are preserved, one module runs the graphs of its calls in turn.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.sym_types import SymNumber
from ts.export.interpreter_modules import InterpreterModule, InterpreterModuleDispatcher
from ts.export.module_calls import ModuleCallSignature
from ts.export.program import ExportedProgram
from ts.export.signature import ConstantArgument, InputKind, OutputKind
from ts.export.unlifted_module import set_state
from ts.fx import _pytree as fx_pytree
from ts.fx.graph import Graph
from ts.fx.node import Node, map_arg
from ts.nn.modules.module import Module
from ts.utils import _pytree as pytree

_CALL_KEY = "L__self__"  # prefix of keys in `nn_module_stack`
_COPY = ts.ops.aten.copy_.default


class Frame:
    """Graph of one module call under construction.

    The outermost frame belongs to the root module.
    """

    def __init__(self, work: Unflattening, path: str, call: str, parent: Frame | None) -> None:
        self.work = work
        self.path = path  # path of the module in the exported module
        # path with the number of the call as a suffix, such as `encoder@1` for the second call
        self.call = call
        self.parent = parent
        self.graph = Graph()
        self.values: dict[Node, Any] = {}  # node of the program -> node of this frame's graph with its value
        # nodes of outer frames whose values are inputs of this frame's graph, in the order of the inputs
        self.needs: list[Node] = []
        self.nodes: list[Node] = []  # program nodes that this frame contains
        self.last_state: Node | None = None
        self.signature = work.signatures.get(call)
        self.module: InterpreterModule = (
            work.module if parent is None else work.module_for(parent.module, self.name)
        )

    @property
    def name(self) -> str:
        """Name of the frame's module relative to the module of the parent frame: `b.c` for `a.b.c` in `a`.

        If the frame's module is not inside of the parent's module, the name is the full path with underscores
        instead of dots: `x_y`.
        """
        around = self.parent.path if self.parent is not None else ""
        if not around:
            return self.path
        inside = self.path.removeprefix(f"{around}.")
        return inside if inside != self.path else self.path.replace(".", "_")

    # ---- values of program nodes in this frame

    def value(self, node: Node) -> Any:
        """Return the node of this frame's graph that has the value of the program node `node`."""
        if node not in self.values:
            self.values[node] = self._outer_value(node)
        return self.values[node]

    def _outer_value(self, node: Node) -> Node:
        state = self.work.state.get(node)
        prefix = f"{self.path}." if self.path else ""
        if state is not None and state.startswith(prefix):
            return self._attribute(state[len(prefix) :], self.work.of_state[state])
        if node.op == "get_attr":  # the node reads the subgraph of a control-flow operator
            name = str(node.target)
            return self._attribute(name, getattr(self.work.program.graph_module, name))
        if self.signature is not None:
            # Additional inputs would change the preserved signature. A tensor of another module, or a
            # constant, becomes an attribute of the frame's module instead.
            if state is not None:
                return self._attribute(
                    f"_{state.replace('.', '_')}", self.work.of_state[state], registered=False
                )
            if _is_number(node):
                return self.graph.node_copy(node, self.value)
            raise RuntimeError(
                f"the signature of {self.call} cannot be preserved: it uses {node.name}, which is not among "
                "its arguments"
            )
        with self.graph.inserting_before(next(iter(self.graph.nodes), None)):
            placeholder = self.graph.placeholder(node.name)
        placeholder.meta = dict(node.meta)
        self.needs.insert(0, node)
        return placeholder

    def _attribute(self, name: str, value: Any, registered: bool = True) -> Node:
        """Add `value` (tensor or module) to the frame's module as `name`, and return a `get_attr` node.

        If `registered` is False, a tensor becomes a plain attribute instead of a parameter or buffer.
        """
        inputs = [n for n in self.graph.nodes if n.op == "placeholder"]
        behind = self.last_state or (inputs[-1] if inputs else None)
        first = next(iter(self.graph.nodes), None)
        with self.graph.inserting_after(behind) if behind else self.graph.inserting_before(first):
            attribute_node = self.graph.get_attr(name)
        self.last_state = attribute_node
        if not registered:
            self.module.__dict__[name] = value
        elif not _has(self.module, name):
            if isinstance(value, Module):
                self.module.add_module(name, value)
            else:
                set_state(self.module, name, value)
        return attribute_node

    def run(self, node: Node) -> Node:
        """Copy a program node into this frame's graph."""
        copied_node = self.graph.node_copy(node, self.value)
        self.values[node] = copied_node
        self.nodes.append(node)
        return copied_node

    # ---- pytrees of calls with a preserved signature

    def open(self) -> None:
        """Create the inputs of a call whose signature is preserved, and the nodes that flatten them."""
        if self.signature is None:
            return
        args_spec, kwargs_spec = self.signature.in_spec.children()
        args = tuple(self.graph.placeholder(f"_positional_arg_{i}") for i in range(args_spec.num_children))
        kwargs = {name: self.graph.placeholder(name) for name in kwargs_spec.context}
        leaf = self._flatten_call((args, kwargs), self._constant(self.signature.in_spec))
        for k, argument in enumerate(self.signature.inputs):
            if not isinstance(argument, ConstantArgument):
                self.values[self.work.node(argument.name)] = leaf(k, argument.name)

    def _flatten_call(self, tree: Any, spec: Node) -> Callable[..., Node]:
        """Emit a call that flattens `tree`. Return a function that creates the node of the k-th leaf."""
        flat = self.graph.call_function(fx_pytree.tree_flatten_spec, (tree, spec))
        return lambda k, name=None: self._item(flat, k, name)

    def _item(self, node: Node, key: Any, name: str | None = None) -> Node:
        return self.graph.create_node("call_function", operator.getitem, (node, key), name=name)

    def _constant(self, spec: Any) -> Node:
        """Register a pytree spec as an attribute of the module and return its `get_attr` node."""
        name = f"_spec_{sum(str(n.target).startswith('_spec_') for n in self.graph.nodes)}"
        setattr(self.module, name, spec)
        return self.graph.get_attr(name)

    def _leaf(self, argument: Any) -> Any:
        if isinstance(argument, ConstantArgument):
            return argument.value
        return self.value(self.work.node(argument.name))

    # ---- call of the frame's module

    def close(self) -> None:
        """Finish the frame: create its module and the call node in the parent frame."""
        parent = self.parent
        assert parent is not None
        inside = set(self.nodes)
        results = [n for n in self.nodes if self.work.is_used_outside(n, inside)]
        parent.nodes += self.nodes
        if self.signature is not None:
            self._close_preserved(parent, self.signature, results)
            return
        outputs = [self.values[n] for n in results]
        self.graph.output(outputs[0] if len(outputs) == 1 else outputs)
        self.graph.eliminate_dead_code(lambda n: n.op == "call_module" or n.is_impure())
        call = parent.graph.call_module(self._register_module(parent), tuple(map(parent.value, self.needs)))
        for k, node in enumerate(results):
            one = call if len(results) == 1 else parent._item(call, k)
            one.meta = dict(node.meta)
            parent.values[node] = one

    def _close_preserved(self, parent: Frame, signature: ModuleCallSignature, results: list[Node]) -> None:
        leaves = tuple(map(self._leaf, signature.outputs))
        spec = self._constant(signature.out_spec)
        self.graph.output(self.graph.call_function(pytree.tree_unflatten, (leaves, spec)))
        input_leaves = list(map(parent._leaf, signature.inputs))
        graph = parent.graph
        both = graph.call_function(pytree.tree_unflatten, (input_leaves, parent._constant(signature.in_spec)))
        args, kwargs = parent._item(both, 0), parent._item(both, 1)
        args_spec, kwargs_spec = signature.in_spec.children()
        positional = tuple(parent._item(args, k) for k in range(args_spec.num_children))
        named = {key: parent._item(kwargs, key) for key in kwargs_spec.context}
        call = graph.call_module(self._register_module(parent), positional, named)
        output_index: dict[Node, int] = {}
        for k, argument in enumerate(signature.outputs):
            if not isinstance(argument, ConstantArgument):
                output_index.setdefault(self.work.node(argument.name), k)
        if hidden := [n for n in results if n not in output_index]:
            raise RuntimeError(
                f"the signature of {self.call} cannot be preserved: {hidden[0].name} is used outside of it, "
                "and is not among its results"
            )
        leaf = parent._flatten_call(call, parent._constant(signature.out_spec))
        for node in sorted(results, key=output_index.__getitem__):
            parent.values[node] = leaf(output_index[node])

    def _register_module(self, parent: Frame) -> str:
        """Register the module of this finished frame in the parent's module, and return its name.

        If an earlier call of the module has an equal graph, return the name of the module of the earlier call
        instead.
        """
        self.module.graph = self.graph
        before = self.work.closed.setdefault((id(parent.module), self.name), [])
        before.append(self.module)
        if len(before) == 1:
            return self.name
        if self.signature is not None:
            now = parent.module.get_submodule(self.name)
            if not isinstance(now, InterpreterModuleDispatcher) and not _same(before[0], self.module):
                put_module(parent.module, self.name, InterpreterModuleDispatcher(before))
            return self.name
        for k, module in enumerate(before[:-1]):
            if _same(module, self.module):
                return f"{self.name}@{k}" if k else self.name
        name = f"{self.name}@{len(before) - 1}"
        put_module(parent.module, name, self.module)
        return name


class Unflattening:
    """Conversion of a program to a module hierarchy."""

    def __init__(self, program: ExportedProgram, module: InterpreterModule) -> None:
        self.program = program
        self.module = module
        self.signatures = {e.fqn: e.signature for e in program.module_call_graph if e.fqn and e.signature}
        # input node of the program -> name of the parameter, buffer or constant that it reads
        self.state: dict[Node, str] = {}
        self.of_state: dict[str, Any] = {}
        # nodes of the values that the program returns, and of new values that are written to inputs at the
        # end of the graph
        self.returned_nodes: set[Any] = set()
        # (id of the parent module, name of the submodule) -> modules of its finished calls, in order
        self.closed: dict[tuple[int, str], list[InterpreterModule]] = {}
        self._nodes: dict[str, Node] = {n.name: n for n in program.graph.nodes}

    def is_used_outside(self, node: Node, inside: set[Node]) -> bool:
        """Return True if a node outside of a frame uses `node`. `inside` contains the frame's nodes."""
        output = self.program.graph.output_node()
        return any(
            user not in inside if user is not output else node in self.returned_nodes for user in node.users
        )

    def node(self, name: str) -> Node:
        """Return the program node with this name."""
        node = self._nodes.get(name)
        if node is None:
            raise RuntimeError(f"the signature of a call names {name}, which does not exist in the program")
        return node

    def module_for(self, owner: Module, name: str) -> InterpreterModule:
        """Return the module that will run the graph of one call of the submodule `name` of `owner`.

        If the call is the first one, return the registered submodule. Otherwise, return a new module.
        """
        registered_module = _submodule(owner, name)
        if isinstance(registered_module, InterpreterModule) and (id(owner), name) not in self.closed:
            return registered_module
        new_module = InterpreterModule(Graph())
        if registered_module is None:
            put_module(owner, name, new_module)
        return new_module

    def run(self) -> None:
        """Create the submodules and their graphs."""
        program = self.program
        for entry in program.module_call_graph:
            if entry.fqn and "@" not in entry.fqn:
                put_module(self.module, entry.fqn, InterpreterModule(Graph()))
        self._add_state()
        root = frame = Frame(self, "", "", None)
        written, late = self._writes_by_value()
        results = self._results()
        self.returned_nodes = {*(x for x in results if isinstance(x, Node)), *late}
        at_head = True
        # module calls that contain the previous node, outermost first, without the root module
        running: list[str] = []
        for node in program.graph.nodes:
            if node.op == "placeholder" and node not in self.state:
                root.values[node] = root.graph.node_copy(node)
            if node.op != "call_function":
                continue
            calls = _calls(node)
            at_head = at_head and _is_number(node)
            enclosing_calls = [] if at_head else running if calls is None else [call for call, _ in calls]
            frame = self._switch_frame(frame, running, enclosing_calls, dict(calls or ()))
            running = enclosing_calls
            copied_node = frame.run(node)
            for target in written.pop(node, ()):
                frame.graph.call_function(_COPY, (frame.value(target), copied_node))
        self._switch_frame(frame, running, [], {})
        for node, targets in late.items():
            for target in targets:
                root.graph.call_function(_COPY, (root.value(target), root.value(node)))
        root.graph.output(map_arg(results, root.value))
        self.module.graph = root.graph

    def _results(self) -> tuple[Any, ...]:
        """Return the outputs of the program's graph that are results of the user's program.

        The other outputs of the graph are new values of inputs or buffers that the user's program modifies.
        """
        outputs = self.program.graph.output_node().args[0]
        specs = self.program.graph_signature.output_specs
        returned_kinds = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)
        return tuple(x for x, spec in zip(outputs, specs, strict=True) if spec.kind in returned_kinds)

    def _add_state(self) -> None:
        program = self.program
        placeholders = [n for n in program.graph.nodes if n.op == "placeholder"]
        for node, spec in zip(placeholders, program.graph_signature.input_specs, strict=True):
            if spec.kind is InputKind.USER_INPUT:
                continue
            name = str(spec.target)
            saved = name in program.state_dict
            self.state[node] = name
            self.of_state[name] = (program.state_dict if saved else program.constants)[name]
            set_state(self.module, name, self.of_state[name], saved)

    def _writes_by_value(self) -> tuple[dict[Node, list[Node]], dict[Node, list[Node]]]:
        """Return (immediate writes, late writes): dictionaries from node of a new value to inputs to write.

        An immediate write directly follows the node. A late write is at the end of the graph. It is necessary
        if a later node reads the old value of the input, or if the new value is itself an input of the
        program.
        """
        program = self.program
        inputs = {name: node for node, name in self.state.items()} | self._nodes
        order = {node: k for k, node in enumerate(program.graph.nodes)}
        output = program.graph.output_node()
        immediate_writes: dict[Node, list[Node]] = {}
        late: dict[Node, list[Node]] = {}
        for value, spec in zip(output.args[0], program.graph_signature.output_specs, strict=True):
            if spec.target is None or not isinstance(value, Node):
                continue
            target = inputs[str(spec.target)]
            is_late = value.op == "placeholder" or any(
                order[user] > order[value] for user in target.users if user is not output
            )
            (late if is_late else immediate_writes).setdefault(value, []).append(target)
        return immediate_writes, late

    def _switch_frame(
        self, frame: Frame, running: list[str], enclosing_calls: list[str], paths: dict[str, str]
    ) -> Frame:
        """Close the frames of ended calls, and open frames for `enclosing_calls`.

        Return the innermost frame.
        """
        common = 0
        while common < min(len(running), len(enclosing_calls)) and running[common] == enclosing_calls[common]:
            common += 1
        for _ in running[common:]:
            frame.close()
            assert frame.parent is not None
            frame = frame.parent
        for call in enclosing_calls[common:]:
            frame = Frame(self, paths[call], call, frame)
            frame.open()
        return frame


def put_module(root: Module, path: str, module: Module) -> None:
    """Register a submodule at a dotted path. Missing parent modules are created."""
    *around, name = path.split(".")
    for atom in around:
        submodule = root._modules.get(atom)
        if submodule is None:
            submodule = InterpreterModule(Graph())
            root.add_module(atom, submodule)
        root = submodule
    root._modules[name] = module


def _submodule(root: Module, path: str) -> Module | None:
    module: Module | None = root
    for atom in path.split("."):
        module = module._modules.get(atom) if module is not None else None
    return module


def _has(module: Module, path: str) -> bool:
    *around, name = path.split(".")
    owner = _submodule(module, ".".join(around)) if around else module
    return owner is not None and any(name in t for t in (owner._parameters, owner._buffers, owner._modules))


def _calls(node: Node) -> list[tuple[str, str]] | None:
    """Return (call such as `encoder@1`, module path) for each module call that encloses a node.

    The outermost call is first. Return None if the node has no metadata about calls.
    """
    stack = node.meta.get("nn_module_stack")
    if not stack:
        return None
    calls = [
        (key.removeprefix(_CALL_KEY), path) for key, (path, _) in stack.items() if key.startswith(_CALL_KEY)
    ]
    return [(call, path) for call, path in calls if path]


def _is_number(node: Node) -> bool:
    """Return True if a node computes a symbolic number."""
    return node.op == "call_function" and isinstance(node.meta.get("val"), SymNumber)


def _same(first: InterpreterModule, second: InterpreterModule) -> bool:
    """Return True if the graphs of two modules have the same structure and equal arguments."""
    nodes, others = list(first.graph.nodes), list(second.graph.nodes)
    if len(nodes) != len(others):
        return False
    position = {n: k for k, n in enumerate(nodes)} | {n: k for k, n in enumerate(others)}
    for a, b in zip(nodes, others, strict=True):
        if a.op != b.op or (a.op != "placeholder" and a.target != b.target):
            return False
        if map_arg((a.args, a.kwargs), position.__getitem__) != map_arg(
            (b.args, b.kwargs), position.__getitem__
        ):
            return False
        if a.op == "call_module":
            one, other = (_submodule(m, str(a.target)) for m in (first, second))
            if not isinstance(one, InterpreterModule) or not isinstance(other, InterpreterModule):
                return False
            if not _same(one, other):
                return False
        if str(a.target).startswith("_spec_") and getattr(first, str(a.target)) != getattr(
            second, str(a.target)
        ):
            return False
    return True
