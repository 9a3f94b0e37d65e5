"""Modules of an unflattened program, each of which runs the graph of one module call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.fx.code_writer import check_parameters
from ts.fx.generated_source import forward_from_src
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.nn.modules.module import Module


class InterpreterModule(Module):
    """Module whose `forward` runs a graph."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self._function: Callable[..., Any] | None = None

    @property
    def arg_names(self) -> list[str]:
        """Names of the graph's inputs."""
        return [str(n.target) for n in self.graph.nodes if n.op == "placeholder"]

    @property
    def graph_module(self) -> GraphModule:
        """Return a GraphModule with the graph and state of this module."""
        return GraphModule(self, self.graph)

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """Return the module's code with comments, and print it if `print_output`."""
        return self.graph_module.print_readable(print_output, **options)

    def finalize(self) -> None:
        """Generate the Python code of the current graph."""
        code = self.graph.python_code(root_module="self")
        check_parameters(self.graph.nodes)
        self._function = forward_from_src(code.src, code.globals, None)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph.

        Keyword arguments are matched with `arg_names`, and unknown names raise TypeError.
        """
        if self._function is None:
            self.finalize()
        assert self._function is not None
        if not kwargs:
            return self._function(self, *args)
        names = self.arg_names
        if unknown := [name for name in kwargs if name not in names]:
            raise TypeError(
                f"unexpected arguments {', '.join(unknown)}; the module has the parameters {', '.join(names)}"
            )
        arguments = dict(zip(names, args, strict=False)) | kwargs
        if missing := [name for name in names if name not in arguments]:
            raise TypeError(
                f"missing arguments {', '.join(missing)}; the module has the parameters {', '.join(names)}"
            )
        return self._function(self, *(arguments[name] for name in names))


class InterpreterModuleDispatcher(Module):
    """Module for a submodule that the program calls several times, with one graph for each call.

    The k-th call of `forward` runs the k-th graph. The call after the run of the last graph runs the first
    graph again.
    """

    def __init__(self, calls: list[InterpreterModule]) -> None:
        super().__init__()
        self._calls = calls
        self._next = 0
        first = calls[0]
        self._parameters.update(first._parameters)
        self._buffers.update(first._buffers)
        self._non_persistent_buffers_set.update(first._non_persistent_buffers_set)
        self._modules.update(first._modules)

    def call_modules(self) -> list[InterpreterModule]:
        """Return one module for each call, in the order of the calls."""
        return list(self._calls)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph of the next call."""
        module = self._calls[self._next]
        self._next = (self._next + 1) % len(self._calls)
        return module(*args, **kwargs)
