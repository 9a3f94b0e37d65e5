"""Rules by running means of gradients and of their squares: Adam and its kin.

Adam(model.parameters(), lr=1e-3).step()
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.optim.optimizer import Group, Optimizer, check_range, decayed, next_step

Betas = tuple[float, float]


class _ByMoments(Optimizer):
    """Means of gradients and of their squares, which forget at the rates `betas`."""

    def __init__(
        self, params: Any, lr: Any, betas: Betas, eps: float, weight_decay: float, **options: Any
    ) -> None:
        check_range("learning rate", lr, lr >= 0)
        check_range("epsilon value", eps, eps >= 0)
        for i, beta in enumerate(betas):
            check_range(f"beta parameter at index {i}", beta, 0 <= beta < 1)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        given = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, given | options)

    def _moments(
        self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group
    ) -> tuple[Tensor, Tensor, int]:
        """Both means with this gradient in them, and the number of the step."""
        step = next_step(state, exp_avg=x, exp_avg_sq=x)
        first, second = group["betas"]
        mean: Tensor = state["exp_avg"].lerp_(grad, 1 - float(first))
        squares: Tensor = (
            state["exp_avg_sq"].mul_(float(second)).addcmul_(grad, grad, value=1 - float(second))
        )
        return mean, squares, step


class Adam(_ByMoments):
    """Steps of the mean gradient over the root of the mean square."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad=amsgrad, maximize=maximize, foreach=foreach,
            capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=decoupled_weight_decay,
        )  # fmt: skip

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        grad = decayed(x, grad, group)
        mean, squares, step = self._moments(x, grad, state, group)
        if group["amsgrad"]:
            if "max_exp_avg_sq" not in state:
                state["max_exp_avg_sq"] = ts.zeros_like(x)
            largest = state["max_exp_avg_sq"]
            squares = ts.maximum(largest, squares, out=largest)
        first, second = group["betas"]
        root = (squares.sqrt() / (1 - float(second) ** step) ** 0.5).add_(group["eps"])
        x.addcdiv_(mean, root, value=-float(group["lr"]) / (1 - float(first) ** step))


class AdamW(Adam):
    """Adam, with parameters that decay by themselves, not through their gradients."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
            capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip


class NAdam(_ByMoments):
    """Adam with Nesterov's momentum, which grows with the steps."""

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_range("momentum_decay value", momentum_decay, momentum_decay >= 0)
        super().__init__(
            params, lr, betas, eps, weight_decay, momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach,
            capturable=capturable, differentiable=differentiable,
        )  # fmt: skip

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        grad = decayed(x, grad, group)
        product = state.setdefault("mu_product", ts.tensor(1.0))
        mean, squares, step = self._moments(x, grad, state, group)
        first, second = group["betas"]
        now, after = (first * (1 - 0.5 * 0.96 ** (n * group["momentum_decay"])) for n in (step, step + 1))
        product *= now
        root = squares.div(1 - second**step).sqrt().add_(group["eps"])
        lr = float(group["lr"])
        x.addcdiv_(grad, root, value=-lr * (1 - now) / (1 - product.item()))
        x.addcdiv_(mean, root, value=-lr * after / (1 - product.item() * after))


class RAdam(_ByMoments):
    """Adam that goes by the mean gradient alone until the mean square can be trusted."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, maximize=maximize, foreach=foreach, capturable=capturable,
            decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable,
        )  # fmt: skip

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        grad = decayed(x, grad, group)
        mean, squares, step = self._moments(x, grad, state, group)
        first, second = group["betas"]
        left = 1 - second**step
        limit = 2 / (1 - second) - 1  # of the length of the mean square's memory
        length = limit - 2 * step * second**step / left
        change = mean / (1 - first**step)
        if length > 5.0:
            trust = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
            change = change * (left**0.5 / squares.sqrt().add_(group["eps"])) * trust**0.5
        x.add_(change, alpha=-float(group["lr"]))


class Adamax(_ByMoments):
    """Adam by the largest gradient that is remembered, in the place of the mean square."""

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable,
        )  # fmt: skip

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        grad = decayed(x, grad, group)
        step = next_step(state, exp_avg=x, exp_inf=x)
        first, second = group["betas"]
        mean = state["exp_avg"].lerp_(grad, 1 - first)
        largest = state["exp_inf"].mul_(second)
        ts.maximum(largest, grad.abs().add_(group["eps"]), out=largest)
        x.addcdiv_(mean, largest, value=-float(group["lr"]) / (1 - first**step))
