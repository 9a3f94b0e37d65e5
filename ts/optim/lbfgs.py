"""LBFGS (limited-memory BFGS), a quasi-Newton method with a limited history of gradients and steps.

Input: a closure that computes the gradients and returns the loss. A step calls the closure several times. The
method works on vectors that concatenate the elements of all parameters. The state of the first parameter
contains the history.

Example:

    optimizer = LBFGS(model.parameters(), line_search_fn="strong_wolfe")
    optimizer.step(closure)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.optim.line_search import Slope, _cubic_interpolate, _strong_wolfe, strong_wolfe  # noqa: F401
from ts.optim.optimizer import Optimizer
from ts.optim.optimizer_utils import State, check_rate

__all__ = ["LBFGS"]
# a pair (step, gradient change) enters the history only if its dot product is greater than this number
MIN_CURVATURE_PRODUCT = 1e-10


class LBFGS(Optimizer):
    """L-BFGS: quasi-Newton steps from a limited history of gradients and steps."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_rate(lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    # ---- parameters as one vector

    def _gradient(self) -> Tensor:
        gradients = []
        for x in self._params:
            grad = x.new_zeros(x.numel()) if x.grad is None else x.grad
            gradients.append((ts.view_as_real(grad) if grad.is_complex() else grad).reshape(-1))
        flat: Tensor = ts.cat(gradients, 0)
        return flat

    def _add_step(self, length: Any, direction: Tensor) -> None:
        offset = 0
        for x in self._params:
            parameter = ts.view_as_real(x) if x.is_complex() else x
            parameter.add_(direction[offset : offset + parameter.numel()].view_as(parameter), alpha=length)
            offset += parameter.numel()

    def _line_function(self, closure: Callable[[], Any], before: list[Tensor], direction: Tensor) -> Slope:
        """Return a function that computes loss and gradient after a step of a given length.

        The step starts at the parameters `before` and has the direction `direction`.
        """

        def slope(length: float) -> tuple[float, Tensor]:
            self._add_step(length, direction)
            loss, grad = float(closure()), self._gradient()
            for x, saved in zip(self._params, before, strict=True):
                x.copy_(saved)
            return loss, grad

        return slope

    # ---- a step

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # the closure is required
        """Run `max_iter` iterations at most, and return the loss of the first call of `closure`."""
        with ts.no_grad():
            return self._run_iterations(ts.enable_grad()(closure))

    def _run_iterations(self, closure: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        lr = float(group["lr"])
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss = float(first)
        evaluations = 1
        state["func_evals"] += 1
        grad = self._gradient()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first
        direction: Any = state.get("d")
        length = state.get("t")
        before: Any = state.get("prev_flat_grad")
        loss_before = state.get("prev_loss")
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction = grad.neg()
                state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            else:
                direction = _direction(
                    state, grad, grad.sub(before), direction.mul(length), group["history_size"]
                )
            before = grad.clone() if before is None else before.copy_(grad)
            loss_before = loss
            total: Any = grad.abs().sum()
            length = min(1.0, 1.0 / total) * lr if state["n_iter"] == 1 else lr
            descent = grad.dot(direction)
            if descent > -group["tolerance_change"]:
                break
            new_evaluations = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                saved = [x.clone() for x in self._params]
                slope = self._line_function(closure, saved, direction)
                loss, grad, length, new_evaluations = strong_wolfe(
                    slope, length, direction, loss, grad, descent
                )
                self._add_step(length, direction)
            else:
                self._add_step(length, direction)
                if iteration != group["max_iter"]:
                    loss = float(closure())
                    grad = self._gradient()
                    new_evaluations = 1
            evaluations += new_evaluations
            state["func_evals"] += new_evaluations
            if (
                iteration == group["max_iter"]
                or evaluations >= group["max_eval"]
                or grad.abs().max() <= group["tolerance_grad"]
                or direction.mul(length).abs().max() <= group["tolerance_change"]
                or abs(loss - loss_before) < group["tolerance_change"]
            ):
                break
        state.update(d=direction, t=length, prev_flat_grad=before, prev_loss=loss_before)
        return first


def _direction(state: State, grad: Tensor, grad_change: Tensor, step: Tensor, history_size: int) -> Tensor:
    """Update the curvature history, and return the search direction, computed by two-loop recursion."""
    changes, steps, curvatures = state["old_dirs"], state["old_stps"], state["ro"]
    product = grad_change.dot(step)
    if product > MIN_CURVATURE_PRODUCT:
        if len(changes) == history_size:
            for history in (changes, steps, curvatures):
                history.pop(0)
        changes.append(grad_change)
        steps.append(step)
        curvatures.append(1.0 / product)
        state["H_diag"] = product / grad_change.dot(grad_change)
    coefficients = state.setdefault("al", [None] * history_size)
    q = grad.neg()
    for i in reversed(range(len(changes))):
        coefficients[i] = steps[i].dot(q) * curvatures[i]
        q.add_(changes[i], alpha=-coefficients[i])
    direction: Tensor = ts.mul(q, state["H_diag"])
    for i in range(len(changes)):
        direction.add_(steps[i], alpha=coefficients[i] - changes[i].dot(direction) * curvatures[i])
    return direction
