"""Rules by the squares of gradients alone: Adagrad, Adadelta, RMSprop.

RMSprop(model.parameters(), momentum=0.9).step()
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.optim.optimizer import Group, Optimizer, check_range, decayed, next_step


class Adagrad(Optimizer):
    """Steps over the root of the sum of all squares."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_range("learning rate", lr, lr >= 0)
        check_range("lr_decay value", lr_decay, lr_decay >= 0)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        check_range(
            "initial_accumulator_value value", initial_accumulator_value, initial_accumulator_value >= 0
        )
        check_range("epsilon value", eps, eps >= 0)
        given = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, given)
        for group in self.param_groups:
            for x in group["params"]:
                first = group["initial_accumulator_value"]
                first = complex(first, first) if x.is_complex() else first
                self.state[x] = {"step": ts.tensor(0.0), "sum": ts.full_like(x, first)}

    def share_memory(self) -> None:
        """Put the sums into memory that other processes see."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        step = next_step(state)
        grad = decayed(x, grad, group)
        lr = float(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        squares = state["sum"].addcmul_(grad, grad, value=1)
        x.addcdiv_(grad, squares.sqrt().add_(group["eps"]), value=-lr)


class Adadelta(Optimizer):
    """Steps as long as those before, over the root of the mean square."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_range("learning rate", lr, lr >= 0)
        check_range("rho value", rho, 0 <= rho <= 1)
        check_range("epsilon value", eps, eps >= 0)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        given = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, given)

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        next_step(state, square_avg=x, acc_delta=x)
        grad = decayed(x, grad, group)
        rho, eps = group["rho"], group["eps"]
        squares = state["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
        change = state["acc_delta"].add(eps).sqrt_().div_(squares.add(eps).sqrt_()).mul_(grad)
        state["acc_delta"].mul_(rho).addcmul_(change, change, value=1 - rho)
        x.add_(change, alpha=-float(group["lr"]))


class RMSprop(Optimizer):
    """Steps over the root of the mean square, or of the variance where it is `centered`."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_range("learning rate", lr, lr >= 0)
        check_range("epsilon value", eps, eps >= 0)
        check_range("momentum value", momentum, momentum >= 0)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        check_range("alpha value", alpha, alpha >= 0)
        given = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, given)

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        alpha, momentum, lr = group["alpha"], group["momentum"], float(group["lr"])
        memory = {"square_avg": x}
        memory |= {"momentum_buffer": x} if momentum > 0 else {}
        memory |= {"grad_avg": x} if group["centered"] else {}
        next_step(state, **memory)
        grad = decayed(x, grad, group)
        squares = state["square_avg"].mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].lerp_(grad, 1 - alpha)
            squares = squares.addcmul(mean, mean, value=-1)
        root = squares.sqrt().add_(group["eps"])
        if momentum > 0:
            x.add_(state["momentum_buffer"].mul_(momentum).addcdiv_(grad, root), alpha=-lr)
        else:
            x.addcdiv_(grad, root, value=-lr)
