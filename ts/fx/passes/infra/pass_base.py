"""PassBase: base class of passes over GraphModules, which may check pre- and postconditions.

A subclass implements `call`:

    class Inlined(PassBase):
        def call(self, graph_module):
            ...
            return PassResult(graph_module, modified=True)
"""

from __future__ import annotations

import abc
from typing import NamedTuple

from ts.fx.graph_module import GraphModule
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """Result of a pass: the module, and whether the pass modified the module."""

    graph_module: Module
    modified: bool


class PassBase(abc.ABC):
    """Base class of passes. Subclasses implement `call`."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        """Run `requires`, `call` and `ensures`, and return the result of `call`."""
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Run the pass on a module. Subclasses implement this method."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027 -- may be left out
        """Raise an exception if the module violates the precondition of the pass."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027 -- may be left out
        """Raise an exception if the module violates the postcondition of the pass."""


__getattr__ = names_for(__name__)
