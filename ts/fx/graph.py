"""Graph IR (intermediate representation) of a traced function: the sequence of its operations.

The code on the left creates a graph and prints the text on the right:

    graph = Graph()                           graph():
    x = graph.placeholder("x")                  %x : [num_users=1] = placeholder[target=x]
    y = graph.call_function(ts.relu, (x,))      %relu : [num_users=1] = call_function[target=torch.relu](...)
    graph.output(y)                             return relu
    print(graph)

A `GraphModule` is a module that runs a graph. A `Tracer` creates the graph of a module.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final

import ts
from ts.fx import operator_formats
from ts.fx.code_generation import (
    CodeGen,
    PythonCode,
    TransformCodeFunc,
)

# imported because programs import these names from this module
from ts.fx.code_generation import _BoxedCodeGen as _BoxedCodeGen
from ts.fx.code_generation import _PyTreeCodeGen as _PyTreeCodeGen
from ts.fx.code_generation import _PyTreeInfo as _PyTreeInfo
from ts.fx.code_writer import Options, ParsedStackTrace, dotted, parse_stack_trace
from ts.fx.namespace import (
    CUSTOM_BUILTINS,
    Namespace,
    is_magic,
    register_custom_builtin,
    snake_case,
)
from ts.fx.node import Argument, Node, Target, map_arg
from ts.fx.torch_names import is_from_torch, simple_name
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter
from ts.unsupported import names_for

__all__ = ["CodeGen", "Graph", "PythonCode"]

# Aliases for programs that import these names from `torch.fx.graph`.
_Namespace = Namespace
magic_methods = operator_formats.magic_methods
inplace_methods = operator_formats.inplace_methods
reflectable_magic_methods = operator_formats.reflectable_magic_methods
_custom_builtins = CUSTOM_BUILTINS
_format_target = dotted
_is_from_torch = is_from_torch
_is_magic = is_magic
_ParsedStackTrace = ParsedStackTrace
_parse_stack_trace = parse_stack_trace
_register_custom_builtin = register_custom_builtin
_snake_case = snake_case

_LEGAL_OPS: Final = ("call_function", "call_method", "get_attr", "call_module", "placeholder", "output")
_NONE: Final = inspect.Signature.empty


class _InsertPoint:
    """Context manager that sets the insertion point of a graph, and restores the previous one at its end."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.before = graph._insert
        graph._insert = new_insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.graph._insert = self.before


class _NodeList:
    """Nodes of a graph in order. Nodes may be added and erased during iteration."""

    def __init__(self, graph: Graph, backwards: bool = False) -> None:
        self.graph = graph
        self.backwards = backwards

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        link = "_prev" if self.backwards else "_next"
        root = self.graph._root
        node = getattr(root, link)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, link)

    def __reversed__(self) -> Iterator[Node]:
        return iter(_NodeList(self.graph, not self.backwards))


_node_list = _NodeList


class _NodesByTarget:
    """Index of the nodes of a graph: by kind, or by kind and target for `call_function` nodes."""

    def __init__(self) -> None:
        self.table: dict[Any, dict[Node, None]] = {}

    def _key(self, node: Node) -> Any:
        return node.op, node.target if node.op == "call_function" else None

    def __contains__(self, node: Node) -> bool:
        return node in self.table.get(self._key(node), ())

    def insert(self, node: Node) -> None:
        self.table.setdefault(self._key(node), {})[node] = None

    def remove(self, node: Node) -> None:
        self.table[self._key(node)].pop(node)

    def find_nodes(self, *, op: str, target: Target | None = None) -> list[Node]:
        if op == "call_function":
            if target is None:
                raise AssertionError("target must not be None for call_function op")
            return [*self.table.get((op, target), ())]
        return [n for n in self.table.get((op, None), ()) if target is None or n.target == target]


class Graph:
    """Graph of a function: a list of nodes, as in the example of the module docstring.

    owning_module     GraphModule that executes the graph
    tracer_cls        class of the tracer that recorded the graph, stored in pickles
    tracer_extras     arguments that `trace` was called with
    """

    def __init__(
        self,
        owning_module: Any = None,
        tracer_cls: type[Any] | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._owning_module = owning_module
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = Namespace()
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen: CodeGen = CodeGen()
        self._co_fields: dict[str, Any] = {}
        self._find_nodes_lookup_table = _NodesByTarget()

    @property
    def owning_module(self) -> Any:
        """GraphModule that executes the graph, or None if the graph belongs to no module."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: Any) -> None:
        self._owning_module = mod

    # ---- queries of nodes ----------------------------------------------------------------------------

    @property
    def nodes(self) -> _NodeList:
        """Nodes in order. `reversed(graph.nodes)` iterates backwards."""
        return _NodeList(self)

    def output_node(self) -> Node:
        """Return the output node, which is the last node."""
        node = next(iter(reversed(self.nodes)))
        if node.op != "output":
            raise AssertionError(f"Expected output node, got op={node.op}")
        return node

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """Return the nodes of kind `op` with target `target`. If `target` is None, all targets match.

        With `sort`, the nodes are in the order of the graph. The kind `call_function` requires a target.
        """
        nodes = self._find_nodes_lookup_table.find_nodes(op=op, target=target)
        return sorted(nodes) if sort else nodes

    # ---- creation of nodes ---------------------------------------------------------------------------

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Create a node at the insertion point.

        op         kind of the node, see `ts.fx.node`
        name       preferred name, which is made unique (default: derived from the target)
        type_expr  type of the node's result, for annotations
        """
        args = args or ()
        kwargs = kwargs or {}
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        name = self._graph_namespace.create_name(self._target_to_str(target) if name is None else name, None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", None) or ():
            hook(node)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._find_nodes_lookup_table.insert(node)
        self._len += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = _NONE) -> Node:
        """Append a placeholder node, a parameter of the function."""
        args = () if default_value is _NONE else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Append a node that reads the tensor or module with a dotted name from the root module."""
        if self.owning_module is not None and not self._has_attribute(qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning "
                "GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                "GraphModule.add_parameter to add the necessary Parameter, or nn.Module.register_buffer "
                "to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def _has_attribute(self, qualified_name: str) -> bool:
        path, _, name = qualified_name.rpartition(".")
        try:
            module = self.owning_module.get_submodule(path)
        except AttributeError:
            warnings.warn(f"Failed to fetch module {path}!", stacklevel=4)
            return False
        return isinstance(getattr(module, name, None), Module | Parameter) or name in module._buffers

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Append a node that calls the submodule `module_name` of the root module."""
        if self.owning_module is not None and self.owning_module.get_submodule(module_name) is None:
            warnings.warn(
                "Attempted to insert a call_module Node with no underlying reference in the owning "
                "GraphModule! Call GraphModule.add_submodule to add the necessary submodule",
                stacklevel=2,
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Append a node that calls the method `method_name` of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Append a node that calls the function `the_function`."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """Append the output node, which returns `result`."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def _target_to_str(self, target: Target | None) -> str:
        if callable(target):
            name = simple_name(target)
        elif isinstance(target, str):
            name = target[2:-2] if is_magic(target) else target
        else:
            raise AssertionError(f"Expected target to be str, got {type(target)}")
        return snake_case(name)

    # ---- insertion point -----------------------------------------------------------------------------

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Insert new nodes before `n` (default: at the beginning).

        In a `with` statement, the previous insertion point is restored at the end.
        """
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Insert new nodes after `n` (default: at the end).

        In a `with` statement, the previous insertion point is restored at the end.
        """
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    # ---- copying and erasing of nodes ---------------------------------------------------------------------

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x) -> Node:
        """Copy a node of another graph, with each argument node n replaced by `arg_transform(n)`."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = copy.copy(node.meta)
        return copied

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Copy the nodes of the graph `g`. Return the copies of the nodes that `g` returns, or None.

        val_map              dict from nodes of `g` to the nodes that replace them in this graph. The keys are
                             not copied. The function adds the copied nodes
        return_output_node   return a tuple of the copies and the output node of `g`
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: dict[Any, Any] | None = None) -> Graph:
        memo = memo if memo else {}
        copied = Graph(tracer_cls=self._tracer_cls)
        output = copied.graph_copy(self, val_map=memo, return_output_node=True)
        copied._codegen = copy.deepcopy(self._codegen)
        if output is not None:
            result, old = output
            copied.output(result, type_expr=old.type).meta = copy.copy(old.meta)
        return copied

    def erase_node(self, to_erase: Node) -> None:
        """Erase a node. Raise RuntimeError if it has users."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} "
                f"users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", None) or ():
            hook(to_erase)
        self._find_nodes_lookup_table.remove(to_erase)
        to_erase._remove_from_list()
        to_erase.__dict__["_erased"] = True  # iterators skip erased nodes
        self._len -= 1
        to_erase._update_args_kwargs(
            map_arg(to_erase.args, lambda n: None), map_arg(to_erase.kwargs, lambda n: None)
        )

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.meta.clear()
            self.erase_node(node)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase nodes that have neither users nor side effects. Return True if the graph has changed.

        is_impure_node    function that returns True for a node with side effects (default: `Node.is_impure`)
        """
        self.lint()
        changed = False
        for node in reversed(self.nodes):
            stays = node.is_impure() if is_impure_node is None else is_impure_node(node)
            if not stays and not node.users:
                self.erase_node(node)
                changed = True
        if self.owning_module is not None:
            used = {n.target for n in self.find_nodes(op="get_attr")}
            for name, module in self.owning_module.named_children():
                if name in used and isinstance(getattr(module, "graph", None), Graph):
                    changed |= module.graph.eliminate_dead_code()
                    module.recompile()
        return changed

    # ---- generation of code and text -----------------------------------------------------------------

    def set_codegen(self, codegen: CodeGen) -> None:
        """Set the code generator, which writes the function's header and return statement."""
        self._codegen = codegen

    def on_generate_code(
        self, make_transformer: Callable[[TransformCodeFunc | None], TransformCodeFunc]
    ) -> contextlib.AbstractContextManager[None]:
        """Register a function that transforms the generated code.

        A transformer is a function that receives a list of code lines and returns a new list.
        `make_transformer` receives the current transformer, or None, and returns the new transformer. The
        result is a context manager that restores the previous transformer at its end.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def restoring_transformer() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return restoring_transformer()

    def process_inputs(self, *args: Any) -> Any:
        """Convert the arguments of a call to the values of the placeholders."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """Convert the result of the graph to the return value of the call."""
        return self._codegen.process_outputs(out)

    def python_code(
        self,
        root_module: str,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        record_func: bool = False,
        additional_meta: list[str] | None = None,
    ) -> PythonCode:
        """Generate the source of a Python function that computes the graph.

        root_module       name of the root module in the code, such as "self"
        verbose           add comments with source locations, and annotations with known dtypes and shapes
        colored           color the comments and annotations

        `GraphModule.print_readable` describes the other parameters.
        """
        if record_func:
            raise NotImplementedError("record_func is not supported: use `ts.profiler` to record calls")
        options = Options(verbose, include_stride, include_device, colored, expanded_def, additional_meta)
        names = Namespace()
        before = {node: node._repr_fn for node in self.nodes}
        try:
            for node in before:
                node.__dict__["_repr_fn"] = lambda n: names.create_name(n.name, n)
            return self._codegen._gen_python_code(self.nodes, root_module, names, options)
        finally:
            for node, repr_fn in before.items():
                node.__dict__["_repr_fn"] = repr_fn

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(node.format_node() or "" for node in self.nodes)])

    def print_tabular(self) -> None:
        """Print the nodes as a table, for which the package `tabulate` is required."""
        try:
            from tabulate import tabulate  # type: ignore[import-untyped]
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on this "
                "machine. Run `pip install tabulate` to install the library."
            )
            raise
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    # ---- validation of the graph ---------------------------------------------------------------------

    def lint(self) -> None:
        """Raise RuntimeError or ValueError if the graph is invalid.

        The order, owners, names and targets of nodes are checked.
        """
        names: set[str] = set()
        defined_nodes: set[Node] = set()
        for node in self.nodes:
            if node.op not in _LEGAL_OPS:
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            if node not in self._find_nodes_lookup_table:
                raise RuntimeError(f"Node '{node}' is not added to the side table")
            for argument in node._input_nodes:
                self._lint_argument(argument, node, defined_nodes)
            defined_nodes.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
        if self.owning_module is not None:
            for node in self.nodes:
                self._lint_target(node)

    def _lint_argument(self, argument: Node, node: Node, defined_nodes: set[Node]) -> None:
        if argument.graph is not self:
            raise RuntimeError(
                f"Argument '{argument}' of Node '{node}' does not belong to this Graph, but was used as an "
                "argument! "
                "If you are copying nodes from another graph, make sure to use ``arg_transform`` on "
                "node_copy() to "
                f"remap values\n{self}"
            )
        if argument not in defined_nodes:
            raise RuntimeError(
                f"Argument '{argument}' of Node '{node}' was used before it has been defined! Please check "
                "that Nodes "
                f"in the graph are topologically ordered\n{self}"
            )

    def _lint_target(self, node: Node) -> None:
        of_function = node.op == "call_function"
        if not (callable(node.target) if of_function else isinstance(node.target, str)):
            raise ValueError(
                f"Node {node} target {node.target} has type {ts.typename(node.target)} but "
                f"a {'Callable' if of_function else 'str'} is expected"
            )
        if node.op not in ("get_attr", "call_module"):
            return
        atoms = node.target.split(".")
        attribute = self.owning_module
        for i, atom in enumerate(atoms):
            attribute = getattr(attribute, atom, None)
            path = ".".join(atoms[:i])
            if attribute is None:
                raise RuntimeError(
                    f"Node {node} target {node.target} references nonexistent attribute {atom} of {path}"
                )
            if node.op == "call_module" and not isinstance(attribute, Module):
                raise RuntimeError(
                    f"Node {node} target {node.target} {atom} of {path} does not reference an nn.Module"
                )


__getattr__ = names_for(__name__)
