"""PassBase: a pass over a GraphModule, with what it needs before and guarantees behind it.

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
    """A module, and whether the pass changed anything."""

    graph_module: Module
    modified: bool


class PassBase(abc.ABC):
    """A pass; a class of a program says what it does in `call`."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Run the pass."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027 -- may be left out
        """Raise where a module is not as the pass needs it."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027 -- may be left out
        """Raise where a module is not as the pass should leave it."""


__getattr__ = names_for(__name__)
