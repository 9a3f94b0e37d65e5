from collections.abc import Callable
from typing import Any

class FunctionNode:
    materialize_grads: bool
    to_save: Any
    dirty_tensors: Any
    non_differentiable: Any
    saved_for_forward: Any
    needs_input_grad: Any
    @property
    def saved_tensors(self) -> tuple[Any, ...]: ...
    def name(self) -> str: ...

def run_function(
    node: FunctionNode,
    forward: Callable[..., Any],
    setup_context: Callable[..., Any] | None,
    args: tuple[Any, ...],
) -> Any: ...
