"""Execution of a program's module. The first call runs Python code, later calls run a compiled graph.

The arguments must have the pytree structure of the example arguments. Guards check the flattened arguments.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts._functorch.predispatch import pop_levels_on_error
from ts.errors import ScriptRuntimeError
from ts.export.input_guards import GuardsFn
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.nn.modules.module import Module
from ts.utils import _pytree as pytree

if TYPE_CHECKING:
    from ts.export.unlifted_module import UnliftedModule


class Input(NamedTuple):
    """Input of a program. It is an argument, or a parameter, buffer or constant of the module.

    `name` is the name of the argument's node, or the qualified name in the module.
    """

    is_argument: bool
    name: str


class Runner:
    """Runner of a module's graph. After a change of the graph, the module creates a new runner."""

    def __init__(self, module: UnliftedModule) -> None:
        self.calls = 0
        self.compiled: Callable[[UnliftedModule, list[Any]], list[Any]] | None = None
        self.contents = _contents(module)
        self.in_spec, self.out_spec = module._in_spec, module._out_spec
        self.flat = _count_if_flat(self.in_spec)
        inside = {name for name, m in module.named_children() if isinstance(m, GraphModule)}
        self.state = [n for n in module.graph.nodes if n.op == "get_attr" and n.target not in inside]
        self.leaves = [n for n in module.graph.nodes if n.op == "placeholder"]
        self.inputs = [Input(False, str(n.target)) for n in self.state]
        self.inputs += [Input(True, str(n.target)) for n in self.leaves]
        self.state_slots: _StateSlots | None = None

    def __call__(
        self,
        module: UnliftedModule,
        generated: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run the program for the arguments of a call.

        The first call runs `generated`, the Python code of `module`. Later calls run the compiled graph, if
        the graph can be compiled and no tracer records the operators.
        """
        if len(args) == self.flat and not kwargs and all(isinstance(x, Tensor) for x in args):
            leaves = list(args)
        else:
            leaves = flattened(args, kwargs, self.in_spec)
            args, kwargs = pytree.tree_unflatten(leaves, self.in_spec)
        self.calls += 1
        if self.calls == 2:
            self.compiled = self._compiled(module)
        # A tracer can record only the Python code.
        if self.compiled is not None and current_tracer() is None:
            try:
                return pytree.tree_unflatten(self.compiled(module, leaves), self.out_spec)
            except ScriptRuntimeError as error:
                from ts.export.lowering import OVERFLOW_ERROR

                if error.class_name != OVERFLOW_ERROR:
                    raise
        self._check_no_shared_memory(module, leaves)
        with pop_levels_on_error():
            return generated(module, *args, *kwargs.values())

    def _check_no_shared_memory(self, module: UnliftedModule, leaves: list[Any]) -> None:
        """Raise RuntimeError if an input that the graph mutates shares memory with another input."""
        if module._mutated_inputs:
            values = self._state_of(module) + leaves
            check_no_shared_memory(dict(zip(self.inputs, values, strict=True)), module._mutated_inputs)

    def _state_of(self, module: UnliftedModule) -> list[Any]:
        if self.state_slots is None:
            self.state_slots = _StateSlots(module, [str(n.target) for n in self.state])
        return self.state_slots.values()

    def _compiled(self, module: UnliftedModule) -> Callable[[UnliftedModule, list[Any]], list[Any]] | None:
        """Compile the graph to a function of the flattened arguments.

        Return None if the graph cannot be compiled, or was changed since this runner was created.
        """
        from ts.errors import CompilationError
        from ts.export.lowering import UnsupportedNodeError, lower_graph_module

        # If the graph was changed without `recompile`, the Python code is still that of the old graph.
        if not _same(_contents(module), self.contents):
            return None
        guards = [n for n in module.graph.nodes if self._is_guard(module, n)]
        try:
            function = lower_graph_module(module, self.state, guards)
        except (UnsupportedNodeError, CompilationError):
            return None
        names = [str(n.target) for n in guards]

        def run(module: UnliftedModule, leaves: list[Any]) -> list[Any]:
            for name in names:
                module._modules[name](*leaves)  # type: ignore[misc]
            self._check_no_shared_memory(module, leaves)
            outputs: list[Any] = function(*self._state_of(module), *leaves)
            return outputs

        return run

    def _is_guard(self, module: UnliftedModule, node: Node) -> bool:
        """Return True if `node` evaluates guards (`GuardsFn`) on the inputs of the graph."""
        if node.op != "call_module" or node.users or node.kwargs or list(node.args) != self.leaves:
            return False
        return isinstance(module._modules.get(str(node.target)), GuardsFn)


class _StateSlots:
    """Locations (module and name) of a program's parameters, buffers and constants.

    Each run reads the current tensors from these locations, because users may replace the tensors.
    """

    def __init__(self, root: Module, names: list[str]) -> None:
        self.root = root
        self.names = names
        self._find()

    def values(self) -> list[Any]:
        """Return the current parameters, buffers and constants. Raise AttributeError if one is missing."""
        if list(map(dict.get, *self.around)) != self.modules:
            self._find()
        try:
            return list(map(operator.getitem, *self.tables))
        except KeyError:
            self._find()
            return list(map(operator.getitem, *self.tables))

    def _find(self) -> None:
        modules: dict[str, Module] = {"": self.root}  # dotted name -> module
        around: list[tuple[dict[str, Any], str]] = []
        tables: list[tuple[dict[str, Any], str]] = []
        for path in self.names:
            *atoms, name = path.split(".")
            owner, at = self.root, ""
            for atom in atoms:
                at = f"{at}.{atom}"
                if at not in modules:
                    modules[at] = getattr(owner, atom)
                    around.append((owner._modules, atom))
                owner = modules[at]
            getattr(owner, name)
            state_slots = (owner._parameters, owner._buffers, owner.__dict__)
            tables.append((next(t for t in state_slots if name in t), name))
        self.modules = list(modules.values())[1:]
        self.around, self.tables = _unzip(around), _unzip(tables)


def _unzip(pairs: list[tuple[dict[str, Any], str]]) -> tuple[list[dict[str, Any]], list[str]]:
    return [table for table, _ in pairs], [name for _, name in pairs]


def _contents(module: GraphModule) -> list[Any]:
    """Return the fields of all nodes of a graph and its subgraphs.

    Their comparison detects changes of the graph.
    """
    fields: list[Any] = []
    for node in module.graph.nodes:
        fields += (node, node.op, node.target, node.args, node.kwargs)
    for inner in module.children():
        if isinstance(inner, GraphModule):
            fields += _contents(inner)
    return fields


def _same(fields: list[Any], others: list[Any]) -> bool:
    return len(fields) == len(others) and all(map(operator.is_, fields, others))


def check_no_shared_memory(values: Mapping[Input, Any], written: Collection[Input]) -> None:
    """Raise RuntimeError if an input in `written` shares memory with another input."""
    # address of a storage -> True if the graph writes to an input with this storage
    mutated_by_pointer: dict[int, bool] = {}
    for source, x in values.items():
        if not isinstance(x, Tensor) or x.numel() == 0:
            continue
        at, writes = x.untyped_storage().data_ptr(), source in written
        if at in mutated_by_pointer and (writes or mutated_by_pointer[at]):
            raise RuntimeError(
                f"the program writes to an input whose memory {source.name} shares, and run_decompositions "
                "removed this write. Run the program as it was before run_decompositions"
            )
        mutated_by_pointer[at] = mutated_by_pointer.get(at, False) or writes


def _count_if_flat(in_spec: Any) -> int:
    """Return the number of arguments, or -1 if an argument is a container or is passed by keyword."""
    args, kwargs = in_spec.children()
    flat = args.type is tuple and all(child.is_leaf() for child in args.children())
    return args.num_children if flat and kwargs.num_children == 0 else -1


def flattened(args: tuple[Any, ...], kwargs: dict[str, Any], in_spec: Any) -> list[Any]:
    """Flatten arguments by `in_spec`. Raise ValueError if the arguments have another tree structure."""
    names = in_spec.child(1).context if in_spec.num_children > 1 else []
    if set(names) != set(kwargs):
        raise ValueError(
            f"Ran into a kwarg keyword mismatch: Got the following keywords {[*kwargs]} but expected {names}"
        )
    kwargs = {name: kwargs[name] for name in names}
    leaves, spec = pytree.tree_flatten((args, kwargs))
    if spec != in_spec:
        args, kwargs = reorder_keys((args, kwargs), in_spec)
        leaves, spec = pytree.tree_flatten((args, kwargs))
    if spec != in_spec:
        raise ValueError(
            "Trying to flatten user inputs with exported input tree spec: \n"
            f"{in_spec}\nbut actually got inputs with tree spec of: \n{spec}.\n"
            "Please check that the inputs have the same number and type of args and kwargs as the ones you "
            "used when tracing."
        )
    return leaves


def reorder_keys(tree: Any, spec: Any) -> Any:
    """Return the pytree `tree` with dictionary keys in the order of `spec`."""
    children = [spec.child(i) for i in range(spec.num_children)]
    if spec.type is dict and isinstance(tree, dict) and set(tree) == set(spec.context):
        return {k: reorder_keys(tree[k], child) for k, child in zip(spec.context, children, strict=True)}
    if spec.type in (list, tuple) and type(tree) is spec.type and len(tree) == len(children):
        return spec.type(reorder_keys(x, child) for x, child in zip(tree, children, strict=True))
    return tree
