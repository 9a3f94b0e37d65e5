"""Graph interpreter: runs a graph node by node. Graph transformation: `Transformer` creates a new graph.

This example runs a module with `sigmoid` in place of `neg`:

    class Swapped(Interpreter):
        def call_function(self, target, args, kwargs):
            return super().call_function(ts.sigmoid if target is ts.neg else target, args, kwargs)

    Swapped(module).run(x)
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from ts.fx import traceback as fx_traceback
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node, Target, map_aggregate, map_arg
from ts.fx.proxy import Proxy
from ts.fx.tracer import Tracer
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs the graph of a module node by node. Subclasses may override the method for a kind of node.

    garbage_collect_values   delete each value from `env` after its last use. If False, keep all values
    graph                    graph to run (default: the graph of the module)
    extra_traceback          add a description of the failing node to the messages of errors
    """

    def __init__(
        self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        seen: set[Node] = set()
        for node in reversed(self.graph.nodes) if garbage_collect_values else ():
            for each in node.all_input_nodes:
                if each not in seen:
                    seen.add(each)
                    self.user_to_last_uses.setdefault(node, []).append(each)

    def run(
        self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True
    ) -> Any:
        """Run the graph on the arguments and return its result.

        initial_env            node -> value. The nodes in this dictionary do not run
        enable_io_processing   convert the arguments and the result by the code generator of the graph
        """
        self.env = {} if initial_env is None else initial_env
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter: Iterator[Any] = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    _add_node_location(error, node)
                    # KeyError would print the `repr` of the message, without line breaks
                    if isinstance(error, KeyError):
                        raise RuntimeError(*error.args) from error
                raise
            for unused in self.user_to_last_uses.get(node, ()) if self.garbage_collect_values else ():
                del self.env[unused]
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Run the graph on a list of arguments. The list is cleared, so that used arguments can be freed."""
        placeholders = self.graph.find_nodes(op="placeholder")
        if len(args_list) != len(placeholders):
            kind = "extra" if len(args_list) > len(placeholders) else "missing"
            raise RuntimeError(
                f"Interpreter.boxed_run expected {len(placeholders)} arguments for placeholders but received "
                f"{len(args_list)} ({kind} arguments)"
            )
        env = dict(zip(placeholders, args_list, strict=True))
        args_list.clear()
        return self.run(initial_env=env)

    def _set_current_node(self, node: Node) -> AbstractContextManager[None]:
        return fx_traceback.set_current_meta(node, f"Interpreter_{type(self).__name__}")

    def run_node(self, n: Node) -> Any:
        """Run a node by the method for its kind, and return its value."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    # ---- one method for each kind of node ------------------------------------------------------------

    def placeholder(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the next argument of `run`, or the default value of the parameter."""
        _check_string(target)
        if str(target).startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration as stop:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from stop

    def get_attr(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the attribute `target` of the module."""
        return self.fetch_attr(_check_string(target))

    def call_function(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function `target`."""
        if isinstance(target, str):
            raise AssertionError("target should not be a string for call_function")
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the method `target` of the first argument."""
        owner, *rest = args
        return getattr(owner, _check_string(target))(*rest, **kwargs)

    def call_module(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the submodule with the dotted name `target`."""
        return self.fetch_attr(_check_string(target))(*args, **kwargs)

    def output(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of the graph."""
        return args[0]

    # ---- values of nodes and attributes --------------------------------------------------------------

    def fetch_attr(self, target: str) -> Any:
        """Return the attribute with a dotted name of the module."""
        attribute: Any = self.module
        atoms = target.split(".")
        for i, atom in enumerate(atoms):
            if not hasattr(attribute, atom):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(atoms[: i + 1])}")
            attribute = getattr(attribute, atom)
        return attribute

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the (args, kwargs) of a node, with nodes replaced by their values."""
        args, kwargs = self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)
        if not isinstance(args, tuple):
            raise AssertionError(f"Expected args to be tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"Expected kwargs to be dict, got {type(kwargs)}")
        return args, kwargs

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Return `args`, the arguments of node `n`, with the value of each node in place of the node."""

        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[node]

        return map_arg(args, value)


def _check_string(target: Target) -> str:
    if not isinstance(target, str):
        raise AssertionError(f"Expected target to be str, got {type(target)}")
    return target


def _add_node_location(error: Exception, node: Node) -> None:
    """Add the node that was executed to the message of an error."""
    where = f"While executing {node.format_node()}"
    message = f"{error.args[0]}\n\n{where}" if error.args else where
    message += (
        f"\nOriginal traceback:\n{node.stack_trace}\nUse tlparse to see full graph. "
        "(https://github.com/pytorch/tlparse?tab=readme-ov-file#tlparse-parse-structured-pt2-logs)"
    )
    error.args = (message, *error.args[1:])


class _TransformerTracer(Tracer):
    """Tracer that creates the nodes of a Transformer's new graph."""

    def __init__(self, graph: Graph, root: Module) -> None:
        super().__init__()
        self.graph = graph
        self.root = root
        self.tensor_attrs = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Interpreter that runs a graph on proxies and so records a new graph.

    class Swapped(Transformer): ...         overrides methods of Interpreter
    Swapped(module).transform()             a GraphModule
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph, module)

    def placeholder(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Create a placeholder in the new graph."""
        default = args[0] if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(_check_string(target), default_value=default), self.tracer)

    def get_attr(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Create a node in the new graph that reads an attribute."""
        return self.tracer.create_proxy("get_attr", _check_string(target), args, kwargs)

    def call_module(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Create a node in the new graph that calls a submodule."""
        module = self.fetch_attr(_check_string(target))
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Create a node in the new graph that calls a function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Return a module with the new graph."""
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:
            output = self.new_graph.output(
                map_aggregate(result, lambda x: x.node if isinstance(x, Proxy) else x)
            )
            output.meta.update(self.graph.output_node().meta)
        return GraphModule(self.module, self.new_graph)


__getattr__ = names_for(__name__)
