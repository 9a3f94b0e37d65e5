"""PyTorch's names for the values that branch and body functions capture.

A subgraph has one input for each captured value, and its inputs are sorted by these names. Example:

    sources = Sources([("l_args_1", true_fn), ("l_args_3", operands)])
    sources.tensor(w)        "l_args_1_closure_0_cell_contents_modules_linear_parameters_weight_"
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.side_effect_detection import walk


class Sources:
    """Attribute paths of the tensors and symbols that are reachable from given objects.

    If several paths lead to the same object, the path that is found first is stored.
    """

    def __init__(self, roots: Iterable[tuple[str, Any]]) -> None:
        # id of a captured tensor -> path of the tensor, such as `self.weight`
        self._tensors: dict[int, str] = {}
        # sympy expression of a captured symbolic number -> path of the number
        self.names_by_expression: dict[Any, str] = {}
        self._seen: dict[int, Any] = {}
        for name, root in roots:
            for path, x in walk(name, root, _join_path, 0, self._seen):
                if isinstance(x, Tensor):
                    self._tensors[id(x)] = path
                elif isinstance(x, SymNumber):
                    self.names_by_expression.setdefault(x.node.expr, path)

    def tensor(self, *tensors: Tensor | None) -> str | None:
        """Return the stored path of the first item in `tensors` with a stored path.

        Return None if no item has one.
        """
        return next((self._tensors[id(x)] for x in tensors if id(x) in self._tensors), None)


def _join_path(name: str, step: str) -> str:
    return step if step.startswith("g_") else re.sub(r"[^a-zA-Z0-9]+", "_", name + step).lower()
