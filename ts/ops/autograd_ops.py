"""Autograd operators for scripts: backward, grad and gradient access.

Each line shows a call in a script and the operator of the call:

    loss.backward()                               aten::backward
    torch.autograd.backward([a, b])               aten::backward.TensorList
    torch.autograd.grad([loss], [x])              aten::grad
    x.grad                                        prim::grad

The function `backward` adds gradients to the attribute `grad` of leaf tensors. In Python, these functions and
methods have more parameters (`ts._core.autograd`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.autograd import backward as passes
from ts._core.tensor.tensor import Tensor
from ts.ops.registry import op

_SCRIPT: dict[str, Any] = {"where": "", "tensor_kernel": True, "reads_history": True}
_PASS = {**_SCRIPT, "side_effect": True, "calls_programs": True}
_RETAIN_ARGS = "bool? retain_graph=None, bool create_graph=False"


@op(f"aten::backward(Tensor self, Tensor? gradient=None, {_RETAIN_ARGS}) -> ()", **_PASS)
def _backward(self: Tensor, gradient: Tensor | None, retain_graph: bool | None, create_graph: bool) -> None:
    passes.backward(self, gradient, retain_graph, create_graph)


@op(
    f"aten::backward.TensorList(Tensor[] tensors, Tensor?[]? grad_tensors=None, {_RETAIN_ARGS}) -> ()",
    **_PASS,
)  # fmt: skip
def _backward_of_several(
    tensors: Sequence[Tensor],
    grad_tensors: Sequence[Tensor | None] | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> None:
    passes.backward(tensors, grad_tensors, retain_graph, create_graph)


@op(
    f"aten::grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None, {_RETAIN_ARGS}, "
    "bool allow_unused=False) -> Tensor?[]", **_SCRIPT,
)  # fmt: skip
def _grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None] | None,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool,
) -> list[Tensor | None]:
    return list(
        passes.grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused=allow_unused)
    )


@op("prim::grad(Tensor a) -> Tensor(*)", **_SCRIPT)
def _gradient(a: Tensor) -> Tensor | None:
    return a.grad  # type: ignore[no-any-return]  # the script type Tensor includes None (an undefined tensor)


@op("aten::retain_grad(Tensor(a!) self) -> ()", **_SCRIPT)
def _retain_grad(self: Tensor) -> None:
    self.retain_grad()
