"""Higher-order operators, which take functions as arguments, such as `torch.ops.higher_order.cond`.

Nodes of exported graphs call these operators. In the example, two arguments are graphs:

    operators.cond(pred, true_graph, false_graph, (x,))       returns the result of one graph, a tuple

If the current thread has a tracer that records higher-order operators, a call is passed to the tracer.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from ts._core.tensor.sym_types import SymInt
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts.errors import missing_attribute
from ts.overrides import handle_torch_function, has_torch_function
from ts.utils import _pytree as pytree


def recorder() -> Any:
    """Return the current tracer if it records higher-order operators, else None."""
    tracer = current_tracer()
    return tracer if tracer is not None and tracer.records_higher_order else None


class HigherOrderOperator:
    """Base class of operators with function arguments. Subclasses define `run`."""

    name: str

    def __init__(self) -> None:
        self.__name__ = self.__qualname__ = self._name = self.name
        self.__module__ = "torch.ops.higher_order"
        self.namespace = "higher_order"
        setattr(operators, self.name, self)

    def __call__(self, *args: Any) -> Any:
        leaves = tuple(pytree.tree_leaves(args))
        # True for a proxy of `ts.fx`, for example
        if has_torch_function(leaves):
            return handle_torch_function(self, leaves, *args)
        self.check(*args)
        tracer = recorder()
        return self.run(*args) if tracer is None else tracer.higher_order(self, args)

    def check(self, *args: Any) -> None:
        """Raise AssertionError or RuntimeError if the arguments are not supported."""

    def run(self, *args: Any) -> Any:
        """Return the result on real tensors."""
        raise NotImplementedError(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<torch.ops.higher_order.{self.name}>"

    def __copy__(self) -> HigherOrderOperator:
        return self

    def __deepcopy__(self, memo: Any) -> HigherOrderOperator:
        return self

    def __reduce__(self) -> Any:
        return getattr, (operators, self.name)


# Name of an operator -> name of the module that defines it. The first access to the operator imports the
# module.
_OPERATOR_TO_MODULE: Final = {
    "associative_scan": "associative_scan", "auto_functionalized_v2": "auto_functionalize", "cond": "cond",
    "map_impl": "map", "scan": "scan",
    "while_loop": "while_loop", "wrap_with_autocast": "wrap_ops", "wrap_with_set_grad_enabled": "wrap_ops",
}  # fmt: skip


class _Operators:
    """Namespace `torch.ops.higher_order`."""

    name = "higher_order"

    def __getattr__(self, name: str) -> Any:
        if (submodule := _OPERATOR_TO_MODULE.get(name)) is not None:
            # Importing the module defines its operators. Each operator registers itself as an attribute of
            # this namespace.
            import_module(f"ts._higher_order_ops.{submodule}")
            return vars(self)[name]
        raise missing_attribute("'_OpNamespace' 'higher_order' object", name, lambda: list(vars(self)))

    def __reduce__(self) -> Any:
        return _get_operators, ()


operators = _Operators()


def _get_operators() -> _Operators:
    return operators


def check_types(operands: Any) -> None:
    """Raise AssertionError if operands are not tensors or ints."""
    if not all(isinstance(x, Tensor | int | SymInt) for x in operands):
        raise AssertionError(
            f"{operands} can only be of {(Tensor, int, SymInt)} but got {tuple(type(x) for x in operands)}"
        )
