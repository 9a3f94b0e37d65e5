"""Rules by the gradient itself, or by its sign: SGD, ASGD, Rprop.

SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True).step()
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.optim.optimizer import Group, Optimizer, check_range, decayed, next_step


class SGD(Optimizer):
    """Steps against the gradient, with momentum where it is asked for."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_range("learning rate", lr, lr >= 0)
        check_range("momentum value", momentum, momentum >= 0)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        given = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
            "fused": fused,
        }  # fmt: skip
        super().__init__(params, given)

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        grad = decayed(x, grad, group)
        momentum = group["momentum"]
        if momentum != 0:
            before = state.get("momentum_buffer")
            if before is None:
                before = state["momentum_buffer"] = grad.detach().clone()
            else:
                before.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(before, alpha=momentum) if group["nesterov"] else before
        x.add_(grad, alpha=-float(group["lr"]))


class ASGD(Optimizer):
    """Steps that become shorter, and the mean of all places (`state[x]["ax"]`)."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_range("learning rate", lr, lr >= 0)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        given = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, given)

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        lr = float(group["lr"])
        if not state:
            state.update(eta=ts.tensor(lr), mu=ts.tensor(1.0))
        step = next_step(state, ax=x)
        grad = decayed(x, grad, group)
        eta, share = state["eta"].item(), state["mu"].item()
        x.mul_(1 - group["lambd"] * eta).add_(grad, alpha=-eta)
        if share == 1:
            state["ax"].copy_(x)
        else:
            state["ax"].add_(x.sub(state["ax"]).mul_(share))
        state["eta"] = ts.tensor(lr / (1 + group["lambd"] * lr * step) ** group["alpha"])
        state["mu"] = ts.tensor(1 / max(1, step - group["t0"]))


class Rprop(Optimizer):
    """Steps of each number's own length, which grows while the gradient keeps its sign."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_range("learning rate", lr, lr >= 0)
        check_range("eta values", f"{etas[0]}, {etas[1]}", 0 < etas[0] < 1 < etas[1])
        given = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, given)

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        if not state:
            state.update(step=ts.tensor(0.0), prev=ts.zeros_like(x), step_size=ts.full_like(x, group["lr"]))
        next_step(state)
        shorter, longer = group["etas"]
        turn = grad.mul(state["prev"]).sign_()
        factor = ts.where(turn > 0, longer, ts.where(turn < 0, shorter, 1.0)).to(x.dtype)
        state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(turn < 0, 0)  # where it turned, the next step is the first again
        x.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)
